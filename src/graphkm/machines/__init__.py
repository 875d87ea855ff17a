"""What kernel machines share, and the methods that GKM is measured against.

===================  ==============================================================
machine              `KernelMachine`: validation, the fitted f, predictions
params               `Composed`: parameters that are parts
labels, classes      which rows are labelled; classes as outputs
calibration          `Calibration`: scores as probabilities
calibration_folds    which labels are held out for it
targets              quantities in units of their spread
checks               looks at the data before the work begins; `GraphWarning`
laplacian_svc        `LaplacianSVC`
laplacian_regressor  `LaplacianRegressor`
laplacian_base       their parameters, graph and fit
laplacian_objective  what they minimise, and products with the kernel matrix
laplacian_losses     the squared losses
laplacian_newton     the minimum, from one factorisation and the labelled rows
laplacian_cg         preconditioned conjugate gradients
early_stopping       when decisions have settled
monotone             the zero of a growing function
kernel_ridge         `KernelRidgeClassifierCV`, `KernelRidgeCV`
ridge_base           their parameters, f and fit
ridge_search         the choice of their gamma and alpha
ridge_solvers        their fits, and leave-one-out in closed form
transductive_svc     `TransductiveSVC`
ramp                 its concave-convex procedure
===================  ==============================================================
"""

from .calibration import Calibration
from .checks import GraphWarning, UnderflowError
from .kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from .laplacian_regressor import LaplacianRegressor
from .laplacian_svc import LaplacianSVC
from .transductive_svc import TransductiveSVC

__all__ = [
    "Calibration",
    "GraphWarning",
    "KernelRidgeCV",
    "KernelRidgeClassifierCV",
    "LaplacianRegressor",
    "LaplacianSVC",
    "TransductiveSVC",
    "UnderflowError",
]
