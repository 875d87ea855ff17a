"""Ways to minimise an objective.

=============  ================================================================
base           `solve`: the one loop that iterates, reports and stops; `Solution`
sgd            `StochasticSolver`: the paper's Algorithm 1, in exact blocks
stream         `StreamSolver`: the same steps on rows that come in pieces
stream_edges   the edges of those steps
reservoir      which rows of a stream are kept, at every moment of it
schedule       how many steps a stream takes
centres        centres that come from anywhere
budget         at most so many of them: the others are projected
budgeted       `BudgetedSolver`: the stochastic solver within a budget
newton         `NewtonSolver`: J to its minimum over the span of landmarks
rows           `RowSolver`: the rows' own scores smoothed, landmarks fitted to them
damped_newton  Newton's method with line search, smoothing and a certified gap
label_terms    what it minimises: the losses of the labelled points
edge_terms     and for a p other than 2 the graph's term
smoothed       for p = 2, features that have the graph inside
features       features of the landmarks' span, and sums over all rows of them
landmarks      which rows become landmarks
smo            `DualSolver`: dual problems of support vector machines, exactly
=============  ================================================================
"""

from .base import DivergenceError, Progress, Solution, solve
from .budgeted import BudgetedSolver
from .newton import NewtonSolver
from .rows import RowSolver
from .sgd import StochasticSolver

__all__ = [
    "BudgetedSolver",
    "DivergenceError",
    "NewtonSolver",
    "Progress",
    "RowSolver",
    "Solution",
    "StochasticSolver",
    "solve",
]
