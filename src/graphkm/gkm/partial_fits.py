"""`partial_fit`: the estimators on streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isnan
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import is_classifier

from .._util.parts import Part, Sizes
from .._util.when_read import WhenRead
from ..backends import query_rows
from ..estimators.data_checks import check_kernel_reaches, check_range, check_scale
from ..estimators.transduction import forget_transduced
from ..expansion import mean_row
from ..kernels import Kernel, resolve_gamma, resolve_kernel
from ..losses import Loss
from ..neighbours.arguments import NEIGHBORS
from ..solvers import SGD, Sums
from ..streams.sgd import StreamRows, StreamSolver, StreamState
from ..streams.sums import SumsStream, SumsStreamSolver
from .base import BaseGKM
from .plan import Plan, check_parameters, make_plan, resolve_solver

_ENOUGH = 100  # rows with which a first chunk can show that gamma is wrong
_SOLVED = ("expansion_", "support_", "support_vectors_", "dual_coef_", "intercept_", "C_")
_FREE = ("n_jobs", "verbose", "callback", "transduce")  # parameters a stream may change


def can_stream(estimator: BaseGKM) -> bool:
    """Return True if there is a partial_fit; else raise AttributeError, which says why not."""
    e = estimator
    try:
        solver = Sums() if e.solver == "auto" else resolve_solver(e.solver)
        kernel = resolve_kernel(e.kernel)
    except ValueError:
        return True  # partial_fit says what is wrong
    if not isinstance(solver, SGD | Sums):
        raise AttributeError(
            f"partial_fit cannot use solver={e.solver!r}, which needs all rows at once; pass "
            "solver='sums', 'sgd' or 'auto'."
        )
    if not kernel.has_rows:
        raise AttributeError(
            "partial_fit needs the rows themselves, and kernel='precomputed' has none."
        )
    return True


class StreamingGKM(BaseGKM):
    """An estimator that learns from streams.

    There are two ways. `graphkm.solvers.Sums` adds chunks to sums over all rows, and solves for f
    when it is asked for: kernel ridge regression on landmarks, without a graph. solver="auto" takes
    it for classes if loss, graph, smoothness and C_graph have their defaults (C_graph may be 0).
    After a chunk, the first read of `predict`, `support_`, `dual_coef_` and the like solves, and
    the others then have their values; `hasattr` reads, too. An estimator without any label has
    nothing to solve, and one that has seen no rows does not have these attributes.

    `graphkm.solvers.SGD` takes stochastic steps, with one t and one average over all chunks, for
    the objective of `fit` over the rows seen so far. Every labelled row is a step when it comes.
    The solver's `steps_per_row` may ask for more steps, which repeat kept labelled rows. Edges join
    kept rows: `reservoir_size` rows with a label and as many without. The kept rows are a sample of
    all rows so far or, with a `half_life`, of recent ones.

    The first chunk fixes what `fit` takes from all rows: gamma if it is a word, and in
    regression the units of targets. Apart from these the model depends only on the rows and their
    order. Other chunks of the same rows change only rounding.

    A call that fails, or is interrupted, changes nothing. A call of `fit` ends the stream, and
    the next call of ``partial_fit`` begins another.
    """

    stream_: StreamState | SumsStream
    stream_shift_: NDArray[Any] | None  # subtracted from all rows
    stream_parameters_: dict[str, str]  # with which the stream began
    _encode_more: Callable[..., tuple[NDArray[np.bool_], NDArray[Any], NDArray[Any]]]

    def set_stream(self, stream: StreamState | SumsStream) -> None:
        """Continue from a stream's state. Its shift and its parameters must already be set."""
        self.stream_ = stream
        self.kernel_ = stream.solver.kernel
        self._set_stream_attributes()

    def _solve(self) -> None:
        """Set f as it follows from a stream of sums; do nothing without such a stream."""
        if isinstance(vars(self).get("stream_"), SumsStream):
            self.C_ = self._set_function()

    expansion_: Any = WhenRead(_solve)
    support_: Any = WhenRead(_solve)
    support_vectors_: Any = WhenRead(_solve)
    dual_coef_: Any = WhenRead(_solve)
    intercept_: Any = WhenRead(_solve)
    C_: Any = WhenRead(_solve)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Undo all changes made within if an exception ends it, Ctrl-C included."""
        attributes = self.__dict__.copy()
        undo = self.stream_.snapshot() if hasattr(self, "stream_") else None
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(attributes)
            if undo is not None:
                undo()
            raise

    def _next_rows(self, X: Any) -> Any:
        """Check a chunk's rows; the first chunk fixes their columns and type."""
        first = not hasattr(self, "stream_")
        if first:
            check_parameters(self)
        else:
            self._refuse_changes()
        X = self._validate_rows(X, reset=first)
        if not first and issparse(X) != self.stream_.solver.sparse:
            X = csr_array(X) if self.stream_.solver.sparse else X.toarray()
        return X

    def _learn_more(
        self,
        X: Any,
        labeled: NDArray[np.bool_],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
        loss: Loss,
    ) -> Self:
        """Take a chunk's steps and set the fitted attributes."""
        dtype = self._dtype()
        if not hasattr(self, "stream_"):
            self._start_stream(X, targets.shape[1], loss, dtype)
        if self.kernel_.native_code is not None:
            check_range(X, dtype)
        chunk = self._stream_rows(X, labeled, targets, weights)
        self.stream_.learn(chunk)
        self._set_stream_attributes()
        return self

    def _stream_rows(
        self,
        X: Any,
        labeled: NDArray[np.bool_],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> StreamRows:
        """Return checked rows in the form that the stream keeps."""
        return StreamRows(
            query_rows(self.kernel_, X, slice(None), self.stream_.solver.dtype, self.stream_shift_),
            labeled,
            _spread_out(targets, labeled),
            _spread_out(weights, labeled),
        )

    def first_other_row(self, X: Any, y: Any, first: int) -> int | None:
        """Return the first row at which (X, y) differs from what was learnt; None if all agree.

        (X, y) are the stream's rows from `first` on. Only rows that are kept can be compared.
        """
        kept, ids = self.stream_.kept, self.stream_.kept_ids
        here = np.flatnonzero((ids >= first) & (ids < first + len(y)))
        if not len(here):
            return None
        rows = self._next_rows(X)
        again = self._stream_rows(rows, *self._encode_more(rows, y))
        place = ids[here] - first
        same = again.labeled[place] == kept.labeled[here]
        # A change of units may have rounded the kept targets.
        same &= np.isclose(again.targets[place], kept.targets[here], 1e-12, 1e-12).all(axis=1)
        same &= _equal_rows(again.rows[place], kept.rows[here])
        return None if same.all() else int(place[~same].min()) + first

    def _start_stream(self, X: Any, n_outputs: int, loss: Loss, dtype: np.dtype[Any]) -> None:
        kernel = self._stream_kernel(X, dtype)
        sizes = Sizes(0, 0, is_classifier(self))
        plan = make_plan(self, X, kernel, sizes, streaming=True)
        resources = self.resources()
        shared: dict[str, Any] = {
            "kernel": kernel,
            "offset": float(self.fit_intercept),
            "n_features": X.shape[1],
            "n_outputs": n_outputs,
            "sparse": issparse(X),
            "seed": resources.seed,
            "dtype": dtype,
            "n_threads": resources.n_threads,
        }
        solver = _sums_stream(plan, shared) or _stochastic_stream(plan, loss, shared)
        self.kernel_, self.plan_ = kernel, plan
        self.stream_shift_ = None if kernel.native_code is None else mean_row(kernel, X)
        self.stream_parameters_ = self.learning_parameters()
        self.stream_ = solver.start()

    def _stream_kernel(self, X: Any, dtype: np.dtype[Any]) -> Kernel:
        """Return the kernel, with a gamma from the first chunk unless it is a number."""
        kernel = resolve_kernel(self.kernel)
        if kernel.native_code is not None:
            check_range(X, dtype)
            check_scale(X, dtype)
        if isinstance(self.gamma, str) and not _varies(X) and hasattr(kernel, "gamma"):
            raise ValueError(
                f"gamma={self.gamma!r} is taken from the first chunk, whose {X.shape[0]} rows are "
                "all alike; pass a larger first chunk, or a number for gamma."
            )
        kernel = kernel.with_gamma(resolve_gamma(self.gamma, X))  # type: ignore[arg-type]
        if X.shape[0] >= _ENOUGH:
            check_kernel_reaches(kernel, X)
        return kernel

    def _set_stream_attributes(self) -> None:
        """Set what `partial_fit` sets; f itself waits, in a stream of sums, until asked for."""
        for name in (*_SOLVED, "calibration_"):
            self.__dict__.pop(name, None)
        if isinstance(self.stream_, StreamState):
            self._set_function()
        forget_transduced(self)
        self.field_ = None  # a field of an earlier fit is no part of the stream
        self.guarantee_ = None
        self.n_iter_ = self.stream_.n_iter

    def _set_function(self) -> float:
        """Set f as it follows from the rows so far, and return its C."""
        solver = self.stream_.solver
        ids, rows, coefficients, C = self.stream_.machine()
        used = np.flatnonzero(coefficients.any(axis=1))
        rows = rows[used]
        if self.stream_shift_ is not None:
            # Far from the origin a row plus its shift needs more digits: double precision.
            rows = rows.astype(np.float64) + self.stream_shift_
        self._set_machine(
            self.kernel_,
            rows,
            np.arange(len(used)),
            coefficients[used],
            offset=solver.offset,
            dtype=np.dtype(solver.dtype),
        )
        self.support_ = ids[used]
        return C

    def learning_parameters(self) -> dict[str, str]:
        """Return the parameters that a stream must keep, as texts that can be compared."""
        found = {}
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, Part):
                found[name] = type(value).__name__
                found |= {f"{name}__{k}": _text(v) for k, v in value.get_params().items()}
            elif name not in _FREE:
                found[name] = _text(value)
        return found

    def _refuse_changes(self) -> None:
        """Raise if a parameter that the stream began with has another value now."""
        for name, value in self.learning_parameters().items():
            was = self.stream_parameters_.get(name, "nothing")
            if value != was:
                raise ValueError(
                    f"{name} was {was} when this stream began and is {value} now; a stream keeps "
                    "its parameters. Set it back, or begin with a new model."
                )


def _sums_stream(plan: Plan, shared: dict[str, Any]) -> SumsStreamSolver | None:
    """Return the stream of a plan with sums; None for any other."""
    sums = plan.solver
    if not isinstance(sums, Sums):
        return None
    return SumsStreamSolver(
        C=None if isnan(plan.C) else plan.C,
        classes=plan.classes,
        n_landmarks=int(sums.n_landmarks),
        half_life=sums.half_life,
        **shared,
    )


def _stochastic_stream(plan: Plan, loss: Loss, shared: dict[str, Any]) -> StreamSolver:
    """Return the stream of a plan with stochastic steps."""
    graph, sgd = plan.graph, plan.solver
    assert isinstance(sgd, SGD) and not isinstance(plan.C_graph, str)
    return StreamSolver(
        loss=loss,
        p=float(plan.smoothness.p),
        C=plan.C,
        C_graph=plan.C_graph,
        step=sgd.step,
        graph=(graph.stream_kind if graph else None) or "full",  # drawn only if C_graph > 0
        graph_gamma=float(getattr(graph, "weights", 1.0)),
        n_neighbors=int(getattr(graph, "n_neighbors", NEIGHBORS)),
        reservoir_size=sgd.reservoir_size,
        half_life=sgd.half_life,
        steps_per_row=sgd.steps_per_row,
        budget=sgd.budget,
        **shared,
    )


def _varies(X: Any) -> bool:
    """Return whether any column has two different values."""
    if issparse(X):
        X = csr_array(X)
        return bool((X - X[[0] * X.shape[0]]).count_nonzero()) if X.shape[0] > 1 else False
    return bool((X[0] != X).any())


def _equal_rows(one: Any, two: Any) -> NDArray[np.bool_]:
    """Return which rows of two sets are the same."""
    differ = one != two
    if issparse(differ):
        return np.asarray(differ.sum(axis=1)).ravel() == 0
    return np.asarray(~differ.any(axis=1))


def _spread_out(values: NDArray[Any], labeled: NDArray[np.bool_]) -> NDArray[Any]:
    """Return values of labelled rows as values of all rows, 0 for the others."""
    out = np.zeros((len(labeled), *values.shape[1:]))
    out[labeled] = values
    return out


def _text(value: Any) -> str:
    """Return a parameter's value in words that do not depend on NumPy's types."""
    if isinstance(value, dict):
        return repr({_text(key): _text(item) for key, item in value.items()})
    return repr(value.item() if isinstance(value, np.generic) else value)
