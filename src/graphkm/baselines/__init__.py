"""Methods that others have published, to compare with.

===================  ==============================================================
laplacian_svc        `LaplacianSVC`
laplacian_regressor  `LaplacianRegressor`
laplacian_base       their parameters, graph and fit
laplacian_objective  what they minimise, and products with the kernel matrix
laplacian_losses     the squared losses
laplacian_newton     the minimum, from one factorisation and the labelled rows
laplacian_cg         preconditioned conjugate gradients
early_stopping       when decisions have settled
transductive_svc     `TransductiveSVC`
ramp                 its concave-convex procedure
smo                  `DualSolver`: dual problems of support vector machines, exactly
===================  ==============================================================
"""

from .laplacian_regressor import LaplacianRegressor
from .laplacian_svc import LaplacianSVC
from .transductive_svc import TransductiveSVC

__all__ = ["LaplacianRegressor", "LaplacianSVC", "TransductiveSVC"]
