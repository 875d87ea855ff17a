"""A table's preparation and its estimator in one pipeline.

Imports of scikit-learn's steps stand in functions: they are slow, and most models need few of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scipy.sparse import issparse

from ..io.kinds import NUMBER, WORD
from .options import Scale, UsageError

if TYPE_CHECKING:
    from ..tables.encoders import Encoders


def choose_scale(scale: Scale, X: Any) -> str:
    """Return the scaling of these rows; sparse rows must stay sparse.

    Examples
    --------
    >>> import numpy as np
    >>> choose_scale(Scale.auto, np.ones((2, 2)))
    'standard'
    """
    from ..tables.preparing import usual_scale

    if scale is Scale.auto:
        return usual_scale(X)
    if issparse(X) and scale in (Scale.standard, Scale.minmax):
        raise UsageError(
            f"--scale {scale.value} would fill the zeros of LIBSVM rows; pass --scale maxabs or "
            "none."
        )
    return scale.value


def behind(steps: Sequence[tuple[str, Any]], estimator: Any) -> Any:
    """Return a pipeline of steps and estimator; the estimator itself without steps."""
    from sklearn.pipeline import Pipeline

    return Pipeline([*steps, ("estimator", estimator)]) if steps else estimator


def fit_prepared(
    estimator: Any,
    scale: Scale,
    rows: Any,
    given: Mapping[str, Any] | None = None,
    encoder: str = "auto",
) -> tuple[Any, str]:
    """Return the model fitted to rows of a table, with its steps, and the name of the scaling.

    `given` is what the estimator's `fit` takes besides: the graphs of --edges. `encoder` makes
    vectors of texts and pictures, if there are any: the mixture then sees several views.
    """
    if rows.note.encoded:
        return _fit_views(estimator, scale, rows, given or {}, encoder)
    steps, chosen = _steps(scale, rows)
    to = "estimator__" if steps else ""
    more = {f"{to}{name}": value for name, value in (given or {}).items()}
    model = behind(steps, estimator).fit(rows.X, rows.target, **more)
    return with_names(model, rows.note), chosen


def fitted_steps(scale: Scale, rows: Any) -> tuple[Any, str]:
    """Return a fitted pipeline of the steps before an estimator, and the name of the scaling.

    It is None if there are no steps.
    """
    from sklearn.pipeline import Pipeline

    steps, chosen = _steps(scale, rows)
    return Pipeline(steps).fit(rows.X) if steps else None, chosen


def with_names(model: Any, note: Any) -> Any:
    """Return a model whose first step knows the columns by name, if it tells columns apart."""
    from sklearn.compose import ColumnTransformer

    from ..tables.preparing import name_columns

    first = model[0] if hasattr(model, "steps") else None
    if isinstance(first, ColumnTransformer) and note.columns:
        name_columns(first, note.columns)
    return model


def _steps(scale: Scale, rows: Any) -> tuple[list[tuple[str, Any]], str]:
    """Return the unfitted steps before an estimator, and the name of the scaling."""
    from ..tables.preparing import check_squares, steps_before

    chosen, words = choose_scale(scale, rows.X), rows.note.words
    if chosen == "standard":
        advice = "leave the column out with --drop, or pass --scale maxabs."
        check_squares(rows.X, rows.names, words, advice)
    return steps_before(chosen, words, rows.note.missing == "impute", rows.X), chosen


def _fit_views(
    estimator: Any, scale: Scale, rows: Any, given: Mapping[str, Any], encoder: str
) -> tuple[Any, str]:
    """Return a mixture fitted to several views: of texts or pictures, and of all other columns."""
    views, chosen = views_of(scale, rows, encoder)
    estimator.set_params(views=views)
    return estimator.fit(rows.X, rows.target, **given), chosen


def views_of(scale: Scale, rows: Any, encoder: str) -> tuple[Encoders, str]:
    """Return the unfitted views of texts or pictures and of all other columns, and the scaling."""
    from sklearn.pipeline import Pipeline

    from ..tables.preparing import check_squares, steps_before
    from .views import views_for

    note = rows.note
    others = [k for k in range(note.n_features) if k not in note.encoded]
    X, words = rows.X[:, others], [j for j, k in enumerate(others) if k in note.words]
    chosen = choose_scale(scale, X) if others else "none"
    if chosen == "standard":
        advice = "leave the column out with --drop, or pass --scale maxabs."
        check_squares(X, [rows.names[k] for k in others], words, advice)
    steps = steps_before(chosen, words, note.missing == "impute", X) if others else []
    numbers = Pipeline(steps) if steps else None
    return views_for(note.encoded, encoder, (numbers, others)), chosen


def taking_arrays(model: Any) -> Any:
    """Return a model whose first step, if it found columns by name, finds them by position."""
    first: Any = model.steps[0][1] if hasattr(model, "steps") else None
    if hasattr(first, "transformers_"):
        names = list(getattr(first, "feature_names_in_", ()))
        first.transformers_ = [
            (name, step, [names.index(c) if isinstance(c, str) else c for c in chosen])
            for name, step, chosen in first.transformers_
        ]
    return model


def prepared_kinds(model: Any) -> tuple[list[str], str]:
    """Return the kinds of a model's features, and what it does with missing values.

    It is for models that were saved in Python.
    """
    if not hasattr(model, "steps"):
        return [], "error"
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    first = model.steps[0][1]
    if isinstance(first, SimpleImputer):
        return [NUMBER] * first.n_features_in_, "impute"
    if not isinstance(first, ColumnTransformer):
        return [], "error"
    kinds, imputes = [NUMBER] * first.n_features_in_, False
    names = list(getattr(first, "feature_names_in_", ()))
    for _, transformer, chosen in first.transformers_:
        steps = [step for _, step in getattr(transformer, "steps", [("", transformer)])]
        imputes |= isinstance(steps[0], SimpleImputer)
        if any(isinstance(step, OneHotEncoder) for step in steps):
            for column in chosen:
                kinds[names.index(column) if isinstance(column, str) else column] = WORD
    return kinds, "impute" if imputes else "error"
