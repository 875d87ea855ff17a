"""Ways to minimise an objective.

=================  ================================================================
base               `solve`: the one loop that iterates, reports and stops; `Solution`
descent            the stochastic step, in exact blocks; W and its average
sgd                `SGD`: the paper's Algorithm 1 on a data set
sums_solver        `Sums`: least squares on landmarks in one pass
centres            centres with the two sums of the stochastic step
budget             a limit on their number: further ones are projected
refits             scores of labelled rows by fits without their labels
newton             `Newton`: the minimum of J over the span of landmarks
row_newton         `RowNewton`: a field fitted to the labels with any loss
damped_newton      Newton's method with line search, smoothing and a certified gap
terms              what it minimises: losses, and for a p other than 2 the edges
graph_kernel       for p = 2, the kernel that has the graph inside
landmark_features  features of the landmarks' span, and their sums over all rows
landmarks          which rows become landmarks
=================  ================================================================
"""

from .base import DivergenceError, Progress, Resources, Solution, Solver, solve
from .newton import Newton
from .row_newton import RowNewton
from .sgd import SGD
from .sums_solver import Sums

__all__ = [
    "SGD",
    "DivergenceError",
    "Newton",
    "Progress",
    "Resources",
    "RowNewton",
    "Solution",
    "Solver",
    "Sums",
    "solve",
]
