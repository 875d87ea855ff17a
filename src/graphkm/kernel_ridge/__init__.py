"""Kernel ridge regression on the labelled rows alone.

==========  ==============================================================
estimators  `KernelRidgeClassifierCV`, `KernelRidgeCV`
base        their parameters, f and fit
search      the choice of their gamma and alpha
solvers     fits on all rows, and leave-one-out in closed form
==========  ==============================================================
"""

from .estimators import KernelRidgeClassifierCV, KernelRidgeCV

__all__ = ["KernelRidgeCV", "KernelRidgeClassifierCV"]
