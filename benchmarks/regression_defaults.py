"""Regression with few targets: `GKMRegressor()` as it comes, against machines without a graph.

R^2 on the rows without a target, mean over seeds, which draw the known targets and the rows of the
synthetic sets. Columns of X are standardised over all rows, targets over the known ones. SVR,
kernel ridge and nearest neighbours see the known targets only, and have the same gamma; the sets
need no network. With ``--grid`` also other constants than the defaults: C in units of the smoothed
kernel, C_graph times the number of known targets.

    python benchmarks/regression_defaults.py [--quick] [--grid]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.datasets import (
    load_diabetes,
    make_friedman1,
    make_friedman2,
    make_s_curve,
    make_swiss_roll,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR

from _common import Figure, script, table
from graphkm import GKMRegressor

ROWS = 600
COSTS, STRENGTHS = (1.0, 10.0, 100.0), (1e1, 1e2, 1e3, 1e4, 1e5)
Maker = Callable[[], Any]


def sets(seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names, rows and targets."""
    yield "friedman1", *make_friedman1(ROWS, noise=1.0, random_state=seed)
    yield "friedman2", *make_friedman2(ROWS, noise=50.0, random_state=seed)
    yield "swiss roll", *make_swiss_roll(ROWS, noise=0.5, random_state=seed)
    yield "s curve", *make_s_curve(ROWS, noise=0.1, random_state=seed)
    yield "diabetes", *load_diabetes(return_X_y=True)


def models() -> dict[str, Maker]:
    """Return the models compared; gamma is one over the number of columns for all of them."""
    return {
        "GKMRegressor": lambda: GKMRegressor(random_state=0),
        "no graph": lambda: GKMRegressor(C_graph=0, random_state=0),
        "SVR": lambda: SVR(gamma="scale"),
        "SVR, C=10": lambda: SVR(gamma="scale", C=10.0),
        "kernel ridge": lambda: KernelRidge(kernel="rbf", alpha=0.1),
        "5 neighbours": lambda: KNeighborsRegressor(5, weights="distance"),
    }


def variants() -> dict[str, Maker]:
    """Return `GKMRegressor` with other constants in the place of its defaults."""

    def variant(C: float, strength: float) -> Any:
        def costs(smoothed: bool, rows: bool, sizes: Any) -> tuple[float, float]:
            return C, strength / sizes.n_labeled

        class Variant(GKMRegressor):
            def fit(self, *given: Any) -> Any:
                with patch("graphkm.gkm.plan.default_costs", costs):
                    return super().fit(*given)

        return Variant(random_state=0)

    return {
        f"C={C:g}, C_graph l={strength:.0e}": lambda C=C, strength=strength: variant(C, strength)
        for C in COSTS
        for strength in STRENGTHS
    }


def score(model: Any, X: np.ndarray, truth: np.ndarray, known: np.ndarray) -> float:
    """Return R^2 on the rows whose targets are hidden."""
    y = np.full(len(truth), np.nan)
    y[known] = (truth[known] - truth[known].mean()) / truth[known].std()
    hidden = np.isnan(y)
    if isinstance(model, GKMRegressor):
        model.fit(X, y)
    else:
        model.fit(X[known], y[known])
    found = truth[known].mean() + truth[known].std() * model.predict(X[hidden])
    return float(r2_score(truth[hidden], found))


def run(arguments: argparse.Namespace) -> list[Figure]:
    warnings.simplefilter("ignore")
    compared = models() | (variants() if arguments.grid else {})
    found: dict[tuple[str, str, int], list[float]] = {}
    for seed in range(1 if arguments.quick else 5):
        for name, X, truth in sets(seed):
            X = (X - X.mean(axis=0)) / X.std(axis=0)
            for n_known in (50,) if arguments.quick else (50, 100, 200):
                known = np.random.default_rng(seed).permutation(len(truth))[:n_known]
                for what, make in compared.items():
                    r2 = score(make(), X, truth, known)
                    found.setdefault((what, name, n_known), []).append(r2)
    cases = list(dict.fromkeys((name, n_known) for _, name, n_known in found))
    means = {w: [float(np.mean(found[w, *case])) for case in cases] for w in compared}
    best = np.max(list(means.values()), axis=0)
    print(
        table(
            ["model", *(f"{name} {n_known}" for name, n_known in cases), "mean", "behind the best"],
            [
                [
                    w,
                    *(f"{r2:.3f}" for r2 in row),
                    f"{np.mean(row):.3f}",
                    f"{np.mean(best - row):.3f}",
                ]
                for w, row in means.items()
            ],
        )
    )
    return [Figure(f"mean R^2, {w}", float(np.mean(row))) for w, row in means.items()]


if __name__ == "__main__":
    script(run, grid={"action": "store_true", "help": "constants around the defaults too"})
