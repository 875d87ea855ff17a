"""The choice among fitted models, each of which has chosen its own field or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .tasks import Fitted


class Results(NamedTuple):
    """What a fitted model knows of its candidates."""

    gamma: float
    """The gamma of its machine; NaN if the kernel has none."""
    n_anchors: int | str
    degree: int
    cv_results: dict[str, Any]
    best_index: int


def results_of(fitted: Fitted) -> Results:
    """Return what a fitted model knows of its candidates, without its rows and nodes."""
    model = fitted.model
    gamma = getattr(model.estimator_, "gamma_", None)
    about = (model.graph.n_anchors, int(model.degree), model.cv_results_, model.best_index_)
    return Results(np.nan if gamma is None else gamma, *about)


class Found(NamedTuple):
    """The results of a search."""

    best: int
    """Which model was chosen."""
    attributes: dict[str, Any]


class Candidate(NamedTuple):
    """One row of the table."""

    params: dict[str, Any]
    score: float
    loss: float


def merged(every: Sequence[Results], *, by_score: bool) -> Found:
    """Return the choice among all models, and one table of their candidates.

    Every model has a candidate without a graph, and leaves it only for one that surely wins. The
    model whose choice has the least criterion is taken, or the best score if `by_score`.

    Parameters
    ----------
    every : list of Results
        Models in order of preference.
    by_score : bool
        Whether a `scoring` decides.
    """
    table: dict[tuple[Any, ...], Candidate] = {}
    chosen = []
    for each in every:
        own = list(_candidates(each, by_score))
        for key, candidate in own:
            table.setdefault(key, candidate)
        chosen.append(own[each.best_index][0])
    candidates, keys = list(table.values()), list(table)
    ranked = np.array([np.inf if np.isnan(own.loss) else own.loss for own in candidates])
    places = [keys.index(key) for key in chosen]
    model = int(np.argmin(ranked[places]))
    best = candidates[places[model]]
    plain = [i for i, own in enumerate(candidates) if np.isnan(own.params["C"])]
    rival = candidates[min(plain, key=lambda i: ranked[i])].score if plain else np.nan
    attributes = {
        "best_index_": places[model],
        "best_params_": best.params,
        "best_score_": best.score,
        "unlabeled_gain_": best.score - rival,
        "cv_results_": _table(candidates, ranked),
    }
    return Found(model, attributes)


def _candidates(model: Results, by_score: bool) -> Iterator[tuple[tuple[Any, ...], Candidate]]:
    """Yield a model's candidates. Those without a graph are the same on any anchors."""
    found, gamma = model.cv_results, float(model.gamma)
    losses = -found["mean_test_score"] if by_score else found["criterion"]
    for params, score, loss in zip(found["params"], found["mean_test_score"], losses, strict=True):
        graph = (model.n_anchors, model.degree) if np.isfinite(params["C"]) else (np.nan, np.nan)
        about = {"gamma": gamma, "n_anchors": graph[0], "degree": graph[1]} | params
        key = tuple("none" if value != value else value for value in about.values())
        yield key, Candidate(about, float(score), float(loss))


def _table(candidates: Sequence[Candidate], ranked: NDArray[np.float64]) -> dict[str, Any]:
    params = [own.params for own in candidates]
    columns: dict[str, Any] = {}
    for name in params[0]:
        values = [about[name] for about in params]
        kind = object if any(isinstance(value, str) for value in values) else float
        missing = [value != value for value in values]
        columns[f"param_{name}"] = np.ma.array(values, mask=missing, dtype=kind)
    return columns | {
        "params": params,
        "mean_test_score": np.array([own.score for own in candidates]),
        "criterion": np.array([own.loss for own in candidates]),
        "rank_test_score": 1 + np.argsort(np.argsort(ranked, kind="stable"), kind="stable"),
    }
