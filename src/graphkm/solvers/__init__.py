"""Ways to minimise an objective.

=======  ======================================================================
base     `solve`: the one loop that iterates, reports and stops; `Solution`
sgd      `StochasticSolver`: the paper's Algorithm 1, in exact blocks
=======  ======================================================================
"""

from .base import DivergenceError, Progress, Solution, solve
from .sgd import StochasticSolver

__all__ = ["DivergenceError", "Progress", "Solution", "StochasticSolver", "solve"]
