"""Boosted trees of other packages, on the labelled rows alone.

xgboost   hist trees: 4 candidates
lightgbm  4 candidates, with leaves small enough for few labels
catboost  100 trees, not tuned: a fit takes seconds

Rows become dense for catboost alone. Where columns x scores of a model are more than 2,000, the
first candidate is taken: all of them would take minutes there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scipy import sparse

from .problem import Problem
from .row_methods import is_wide, tuned
from .tuning import Answer, Parameters, grid

XGBOOST_GRID = grid(min_child_weight=(1, 0.1), learning_rate=(0.3, 0.1))
LIGHTGBM_GRID = grid(min_child_samples=(5, 2), learning_rate=(0.1, 0.03))
CATBOOST_GRID = grid(depth=(6,))


def _boosted(
    make: Callable[..., Any], candidates: Sequence[Parameters], problem: Problem, dense: bool
) -> Answer:
    X, y = problem.X, problem.y
    X = X.toarray() if dense and sparse.issparse(X) else X
    return tuned(make, candidates[:1] if is_wide(X, y) else candidates, X, y, problem.seed)


def xgboost(problem: Problem) -> Answer:
    """Return predictions and parameters of XGBoost."""
    from xgboost import XGBClassifier

    def make(**candidate: Any) -> Any:
        return XGBClassifier(random_state=problem.seed, n_jobs=1, verbosity=0, **candidate)

    return _boosted(make, XGBOOST_GRID, problem, dense=False)


def lightgbm(problem: Problem) -> Answer:
    """Return predictions and parameters of LightGBM."""
    from lightgbm import LGBMClassifier

    def make(**candidate: Any) -> Any:
        return LGBMClassifier(random_state=problem.seed, n_jobs=1, verbose=-1, **candidate)

    return _boosted(make, LIGHTGBM_GRID, problem, dense=False)


def catboost(problem: Problem) -> Answer:
    """Return predictions and parameters of CatBoost."""
    from catboost import CatBoostClassifier

    def make(**candidate: Any) -> Any:
        return CatBoostClassifier(
            iterations=100,
            random_state=problem.seed,
            thread_count=1,
            verbose=False,
            allow_writing_files=False,
            **candidate,
        )

    return _boosted(make, CATBOOST_GRID, problem, dense=True)
