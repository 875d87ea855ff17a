"""Why a row has its answer: which members, which labels, and by which way they reach it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..judge.sizes import tilted
from ..members.models import model_scores
from ..semi.evidence import Evidence, Witness
from ..semi.held import require_answering
from .column_shares import column_shares
from .drawing import draw
from .explanation import Explanation, Explanations, Vote
from .shares import Told, told_by_models, told_on_nodes
from .ways import Ways

Array = NDArray[np.float64]

SIZES = "sizes of the classes"
NAMES = "names of the labels"


def explain(model: Any, X: Any, *, of: Any = None, plot: bool = False) -> Explanations:
    """Say for each row which members vote how, and which labelled rows speak for its answer.

    The answer is a sum,

        base + what every label adds + what is no sum over labels ,

    which is the probability of `predict_proba`, or the quantity of `predict`. Ridge regressions,
    fields, kernel ridge, forests and logistic regressions are sums over labels, so every label has
    its exact share of them. Boosting, cuts to given sizes and models of your own are not; what they
    add stands beside their names, and so does what the sizes of the classes change.

    Parameters
    ----------
    model : SemiSupervisedClassifier or SemiSupervisedRegressor
        A fitted model with one class or quantity per row. It must be the fitted object itself:
        copies and files do not keep the graph of all rows.
    X : array, frame or CSR matrix of shape (n, n_features)
        The rows to explain; a few, because all labels are looked at for each.
    of : label, optional
        The class to explain; by default the most probable one of every row.
    plot : bool, default=False
        Whether to draw the explanations; ``figure`` of what is returned has them.

    Returns
    -------
    Explanations
        An `Explanation` for each row. It prints, and `frame()` is a table.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> from graphkm.inspection import explain
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> y[20:] = -1
    >>> model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    >>> (why,) = explain(model, X[[50]])
    >>> bool(abs(why.total - model.predict_proba(X[[50]]).max()) < 1e-8)
    True
    """
    evidence = _evidence_of(model)
    given, rows = model.seen_rows(X)
    units = model.mixture_.units.column(0)
    said = units.coded(model.mixture_.at(given, rows))
    column = _asked(model, said, of)
    every = np.arange(len(said))
    answer, tilt = said[every, column], model.mixture_.tilt
    before = answer if tilt is None else tilted(said, -tilt)[every, column]
    found = [
        (witness, _told(model, witness, given, rows, column, evidence.prior))
        for witness in evidence.witnesses
    ]
    n_labels = len(evidence.y)
    base, shares, others = _added(found, evidence.prior[column], n_labels)
    if shares.shape[1] > n_labels:  # names of labels are labelled rows, too
        others[NAMES] = shares[:, n_labels:].sum(axis=1)
        shares = shares[:, :n_labels]
    _spread(shares, before - base - shares.sum(axis=1) - sum(others.values()))
    if tilt is not None:
        others[SIZES] = answer - before
    # A row that has shares of several classes has a label for each.
    numbers, place = np.unique(evidence.labeled, return_inverse=True)
    by_row = np.zeros((len(said), len(numbers)))
    np.add.at(by_row.T, place, shares.T)
    about = numbers, _labels_of(evidence, numbers)
    ways = Ways(evidence, rows)
    classes = None if model.mixture_.classes is None else model.mixture_.classes.tolist()
    columns = _columns_of(model, evidence, given, column)
    made = Explanations(
        [
            Explanation(
                None if classes is None else classes[column[i]],
                float(units.decoded(answer[i])),
                float(units.decoded(base[i])),
                *about,
                by_row[i] * units.spread,
                {name: float(each[i] * units.spread) for name, each in others.items()},
                [Vote(w.member.name, w.weight, float(units.decoded(t.said[i]))) for w, t in found],
                {name: float(each[i] * units.spread) for name, each in columns.items()},
                ways,
                i,
            )
            for i in range(len(said))
        ]
    )
    if plot:
        made.figure = draw(made)
    return made


def _evidence_of(model: Any) -> Evidence:
    """Return what the fit kept; raise where there is nothing to explain with."""
    require_answering(model, "has no members to explain")
    check_is_fitted(model, "mixture_")
    if model.mixture_.by_column:
        raise ValueError(
            "Every column of the model has weights of its own, and explanations are for one class "
            "or one quantity per row; fit one column."
        )
    if model.mixture_.linked is not None:
        raise ValueError("A fit with an affinity cannot be explained yet; fit the rows alone.")
    evidence: Evidence | None = getattr(model, "evidence_", None)
    if evidence is None:
        raise ValueError(
            "The model is a copy, or comes from a file. Explanations need the graph of all rows, "
            "which only the fitted object keeps; fit it again."
        )
    return evidence


def _asked(model: Any, said: Array, of: Any) -> NDArray[np.int64]:
    """Return the column to explain in every row."""
    if of is None:
        return np.asarray(said.argmax(axis=1))
    classes = model.mixture_.classes
    if classes is None or of not in classes.tolist():
        raise ValueError(f"of={of!r} is no class of the model; its classes are {classes}.")
    return np.full(len(said), classes.tolist().index(of))


def _told(
    model: Any, witness: Witness, given: Any, rows: Any, column: NDArray[np.int64], prior: Array
) -> Told:
    """Return what one member says of the rows."""
    mixed = model.mixture_
    if witness.view:
        mixed, given, rows = mixed.views[witness.view], given[witness.view], rows[witness.view]
    z = None if mixed.nodes is None else mixed.nodes.weights(rows).tocsr()
    if witness.member.model is None:
        return told_on_nodes(witness, z, column, prior[column])
    scores = model_scores(witness.member.model, given, mixed.classes)
    return told_by_models(witness, given, z, scores, column)


def _added(
    found: list[tuple[Witness, Told]], prior: Array, n_labels: int
) -> tuple[Array, Array, dict[str, Array]]:
    """Return the sums of bases and of labels' shares, and what else members add.

    Names of labels, if there are any, are further labels behind the others.
    """
    sums = (told.shares.shape[1] for _, told in found if told.shares is not None)
    width = max(sums, default=n_labels)
    base, shares = np.zeros(len(prior)), np.zeros((len(prior), width))
    others = dict[str, Array]()
    for witness, told in found:
        if told.summed:
            base += witness.weight * told.start
        else:
            base += witness.weight * prior
            more = others.get(witness.corrected, np.zeros(len(prior)))
            others[witness.corrected] = more + witness.weight * (told.start - prior)
        if told.shares is not None:
            shares[:, : told.shares.shape[1]] += witness.weight * told.shares
    return base, shares, others


def _spread(shares: Array, left: Array) -> None:
    """Add what rounding and the integral's sum left over, by the size of shares."""
    size = np.abs(shares)
    total = size.sum(axis=1, keepdims=True)
    even = np.full_like(size, 1.0 / max(size.shape[1], 1))
    shares += left[:, None] * np.where(total > 0, size / np.maximum(total, 1e-300), even)


def _labels_of(evidence: Evidence, numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Return the label of every labelled row; that of the largest share where it has several."""
    order = np.lexsort((-evidence.weights, evidence.labeled))
    first = np.searchsorted(evidence.labeled[order], numbers)
    labels = evidence.y[order[first]]
    return labels[:, 0] if labels.ndim == 2 else labels


def _columns_of(
    model: Any, evidence: Evidence, given: Any, column: NDArray[np.int64]
) -> dict[Any, Array]:
    """Return what every column adds, by name or number; columns that an encoder made have none."""
    if "" not in evidence.rows:
        return {}
    found, _ = column_shares(evidence, "", given, column)
    names = getattr(model, "feature_names_in_", np.arange(found.shape[1]))
    return {name: found[:, place] for place, name in enumerate(names.tolist())}
