"""Members that see the labelled rows only: models that anybody would try first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from .._util.threads import blas_threads_for, one_thread
from ..judge.held_out import (
    FoldError,
    HeldOut,
    class_shares,
    fitted_to,
    hold_out_classes,
    hold_out_values,
)
from ..kernel_ridge.estimators import KernelRidgeClassifierCV, KernelRidgeCV
from .by_label import model_by_label
from .member import Array, Known, Member, as_scores, log_shares
from .of_all_rows import hold_out_of_all, learns_from_all
from .per_column import PerColumn, hold_out_columns

WIDE = 2000
"""With more columns, sparse rows get no trees, and no rows are averaged along the graph."""

_STRENGTHS = (1.0, 10.0)  # of linear models of columns that are alike
_TREES = 100
_LOOKED_AT = 0.5  # share of the columns that extra trees try for every cut
_ROUNDS = 60  # rounds of boosting
_LEAF = 20  # a leaf of boosting needs one label in so many, but never fewer than 2 or more than 20
_EACH = 20  # labels of a class, on average, from which boosting is tried
_BINS = 255  # of a column in boosting: no more than labels, and than scikit-learn takes
_LITTLE = 10_000  # with at most so many labels, threads of OpenMP wait longer than they work
_READ = 64  # boosting reads so many labels in the time that it needs to add up one bin
_BOOSTED = 2**26  # most bins that boosting adds up in all fits: many columns or classes are slow


def usual_models(
    known: Known, X: Any, seed: int, n_jobs: int | None, *, alike: bool = False
) -> dict[str, Any]:
    """Return the models of estimator="auto" that suit the rows, by name.

    Trees look at one column at a time, and need dense rows. So wide sparse rows, such as counts of
    words, get only kernel ridge and a linear model. Boosting grows a tree for every class in every
    round, and few labels leave nothing to grow on. Columns that are `alike` share one unit, as
    those of an encoder do. They are not scaled one by one: with fewer labels than columns, that
    would make noise as large as the rest. Their linear models have two strengths.

    Examples
    --------
    >>> from graphkm.neighbours.distinct import Copies
    >>> ones, copies = np.ones(2), Copies.of(np.arange(2))
    >>> known = Known(np.eye(2), np.array([0, 1]), ones, None, np.array([0, 1]), [], copies)
    >>> list(usual_models(known, np.eye(2), 0, None))
    ['kernel ridge', 'linear', 'forest', 'extra trees']
    """
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    classes, sparse = known.kind != "quantities", issparse(X)
    machine = KernelRidgeClassifierCV if classes else KernelRidgeCV
    found = {"kernel ridge": machine(random_state=seed, n_jobs=n_jobs)}
    size = total_variance(X) if alike else 1.0
    if alike and classes:
        for C in _STRENGTHS:
            found[f"linear, C={C:g}"] = LogisticRegression(C=C / size, max_iter=300)
    elif alike:
        found["linear"] = RidgeCV(size * np.logspace(-4, 2, 13))
    else:
        scaler = MaxAbsScaler() if sparse else StandardScaler()
        line = LogisticRegression(max_iter=300) if classes else RidgeCV(np.logspace(-2, 4, 13))
        found["linear"] = make_pipeline(scaler, line)
    if sparse and X.shape[1] > WIDE:
        return found
    forest = RandomForestClassifier if classes else RandomForestRegressor
    boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    leaf = int(np.clip(len(known.y) // _LEAF, 2, 20))
    bag = {"oob_score": True, "random_state": seed, "n_jobs": n_jobs}
    found["forest"] = forest(_TREES, **bag)
    if sparse:
        return found
    extra = ExtraTreesClassifier if classes else ExtraTreesRegressor
    found["extra trees"] = extra(_TREES, max_features=_LOOKED_AT, random_state=seed, n_jobs=n_jobs)
    if len(known.y) < _EACH * _n_classes(known):
        return found
    bins = min(_BINS, max(2, len(known.y)))
    trees = known.y.shape[1] if known.classes is None else len(known.classes)
    read = bins + len(known.y) // _READ
    work = _ROUNDS * trees * X.shape[1] * read * (len(known.folds) + 1)
    if work <= _BOOSTED:
        found["boosting"] = boosting(
            max_iter=_ROUNDS,
            max_bins=bins,
            min_samples_leaf=leaf,
            early_stopping=False,
            random_state=seed,
        )
    return found


def _n_classes(known: Known) -> int:
    """Return how many classes a model tells apart: a label of several has two, a quantity none."""
    if known.kind == "quantities":
        return 0
    return 2 if known.classes is None else len(known.classes)


def total_variance(X: Any) -> float:
    """Return the mean squared distance of rows from their mean; 1 if all rows are the same.

    Examples
    --------
    >>> total_variance(np.array([[0.0, 1.0], [0.0, 3.0]]))
    1.0
    """
    squares = X.multiply(X) if issparse(X) else np.square(np.asarray(X, dtype=np.float64))
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    found = float(squares.sum() / X.shape[0] - mean @ mean)
    return found if found > 1e-12 else 1.0


def model_members(
    models: Mapping[str, Any], known: Known, X: Any, labeled: NDArray[np.int64]
) -> Iterator[Member]:
    """Yield the members that models make.

    Parameters
    ----------
    models : mapping
        Estimators by name. Those that learn from unlabelled rows get all rows.
    known : Known
        The labelled rows.
    X : array, frame or CSR matrix
        All rows.
    labeled : ndarray of int
        Which of them are labelled.
    """
    for name, model in models.items():
        start, all_rows = process_time(), learns_from_all(model)
        try:
            few = len(known.y) <= _LITTLE
            with one_thread() if few else blas_threads_for(*known.rows.shape):
                held = _held_out(model, known, X, labeled)
        except FoldError as error:
            raise ValueError(
                f"The model {name!r} could not be fitted to {len(known.folds)} folds of the "
                f"{len(known.y)} labelled rows: {str(error.__cause__).rstrip('.')}. Label more "
                "rows of every class, or pass a model that needs fewer."
            ) from error.__cause__
        scores = as_scores(held.values, known.kind)
        used = process_time() - start
        yield Member(
            name,
            scores,
            model=held,
            how=held.how,
            seconds=used,
            rank=_rank(held.model, known.rows) if not all_rows else None,
            labels_only=not all_rows,
            by_label=None if all_rows else model_by_label(held, known),
        )


def _rank(model: Any, rows: Any) -> int | None:
    """Return how many functions a linear model has to choose from: its columns and a constant.

    A column that is a linear function of the others does not count.
    """
    if isinstance(model, PerColumn):
        fitted = [each.model for each in model.columns if isinstance(each, HeldOut)]
        return _rank(fitted[0], rows) if fitted else 1
    steps = getattr(model, "steps", None)
    coefficients = getattr(steps[-1][1] if steps else model, "coef_", None)
    if coefficients is None:
        return None
    given = model[:-1].transform(rows) if steps and len(steps) > 1 else rows
    if issparse(given):
        return min(given.shape[0], np.shape(coefficients)[-1] + 1)
    columns = np.asarray(given, dtype=np.float64)
    columns = columns - columns.mean(axis=0)
    size = np.sqrt(np.square(columns).sum(axis=0))
    columns = columns[:, size > 0] / size[size > 0]
    gram = columns.T @ columns if columns.shape[1] < len(columns) else columns @ columns.T
    return min(len(columns), 1 + int(np.linalg.matrix_rank(gram, tol=1e-9, hermitian=True)))


def _held_out(model: Any, known: Known, X: Any, labeled: NDArray[np.int64]) -> HeldOut:
    """Return the fitted model with what it says of labels it has not seen."""
    if known.several:
        return hold_out_columns(
            known,
            lambda own, told: _held_out(model, own, X, labeled[told] if len(labeled) else labeled),
        )
    if learns_from_all(model):
        return hold_out_of_all(model, known, X, labeled)
    return _held_out_apart(model, known)


def _held_out_apart(model: Any, known: Known) -> HeldOut:
    """Return a model of the labelled rows alone.

    Out-of-bag predictions of a forest cost no further fit. So they are tried first. Extra trees
    have no bags: each sees all labels. A twin with bags gives their held-out predictions.
    """
    targets = known.y if known.classes is not None else known.y[:, 0]
    whole = model.get_params(deep=False)
    if type(model).__name__.startswith("ExtraTrees") and whole.get("bootstrap") is False:
        held = _held_out_apart(clone(model).set_params(bootstrap=True, oob_score=True), known)
        return replace(held, model=fitted_to(model, known.rows, targets, known.given))
    folds, bag = known.judged_folds, bool(model.get_params(deep=False).get("oob_score"))
    for asked in ([], folds) if bag else (folds,):
        about = known.rows, targets, known.given, asked
        if known.classes is None:
            held, units = hold_out_values(model, *about), known.units.column(0)
            held = replace(held, values=units.coded(held.values), units=units)
        else:
            held = hold_out_classes(model, *about, known.classes)
            held = replace(held, values=np.where(np.isnan(held.values), known.usual, held.values))
        if held.how != "prior":
            break
    return held


def model_scores(held: HeldOut, X: Any, classes: Any) -> Array:
    """Return what a fitted model says of any rows: logarithms of class shares, or quantities."""
    if isinstance(held.model, PerColumn):
        return as_scores(held.model.values(X), held.model.kind)
    if classes is None:
        return held.quantities(X)
    return log_shares(class_shares(held, X, classes))
