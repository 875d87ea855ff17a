"""`partial_fit`: the estimators on streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_random_state

from ..backends import query_rows
from ..expansion import mean_row
from ..graphs import NEIGHBORS
from ..kernels import Kernel, resolve_gamma
from ..losses import Loss
from ..machines.checks import check_kernel_reaches, check_range
from ..machines.encoding import State
from ..machines.fitted_state import restore_stream, stream_state
from ..solvers import Solution
from ..solvers.stream import StreamRows, StreamSolver, StreamState
from .base import BaseGKM
from .settings import check_parameters
from .stream_checks import refuse_to_stream, varies

_ENOUGH = 100  # rows from which a first chunk shows whether gamma can be right
_FREE = ("n_jobs", "verbose", "callback")  # parameters a stream may change


class StreamingGKM(BaseGKM):
    """An estimator that learns from streams.

    ``partial_fit`` takes the steps of ``solver="sgd"``, with one t and one average over all
    chunks, for the objective of `fit` over the rows seen so far. Every labelled row is a step
    when it comes; `steps_per_row` may ask for more, which repeat labelled rows kept. Edges join
    kept rows: `reservoir_size` of those with a label and of those without, a sample of
    everything seen or, with a `half_life`, of what is recent.

    The first chunk fixes what `fit` takes from all rows: gamma if it is a word, and in
    regression the units of targets. Apart from these the model depends on the rows and their
    order, and on how they are cut into chunks by rounding only.

    A call that fails, or is interrupted, changes nothing. A call of `fit` ends the stream, and
    the next of ``partial_fit`` begins another.
    """

    _stream: StreamState
    _stream_shift: NDArray[Any] | None = None
    _encode_more: Callable[..., tuple[NDArray[np.bool_], NDArray[Any], NDArray[Any]]]

    def _saved_state(self) -> State:
        return stream_state(self) if hasattr(self, "_stream") else super()._saved_state()

    def _restore_state(self, state: State) -> None:
        if "solver" in state:
            self._resume(restore_stream(self, state))
        else:
            super()._restore_state(state)

    def _resume(self, stream: StreamState) -> None:
        """Go on from a stream's state."""
        self._stream = stream
        self.kernel_ = stream.solver.kernel
        self._set_stream_attributes(np.dtype(stream.solver.dtype))

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Undo everything that is done within if it ends in an exception, Ctrl-C included."""
        attributes = self.__dict__.copy()
        stream = self._stream.state() if hasattr(self, "_stream") else None
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(attributes)
            if stream is not None:
                self._stream.restore(*stream)
            raise

    def _fit(self, *given: Any, **options: Any) -> Solution:
        self.__dict__.pop("_stream", None)  # a fit is the end of a stream
        return super()._fit(*given, **options)

    def _next_rows(self, X: Any) -> Any:
        """Check a chunk's rows; those of the first decide what rows look like."""
        first = not hasattr(self, "_stream")
        if first:
            check_parameters(self)
            refuse_to_stream(self)
        else:
            self._refuse_changes()
        X = self._validate_rows(X, reset=first)
        if not first and issparse(X) != self._stream_sparse:
            X = csr_array(X) if self._stream_sparse else X.toarray()
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
        dtype = np.dtype(np.float64 if self.precision == "double" else np.float32)
        if not hasattr(self, "_stream"):
            self._start_stream(X, targets.shape[1], loss, dtype)
        if self.kernel_.native_code is not None:
            check_range(X, dtype)
        chunk = self._stream_rows(X, labeled, targets, weights)
        self._stream.learn(chunk)
        self._set_stream_attributes(dtype)
        return self

    def _stream_rows(
        self,
        X: Any,
        labeled: NDArray[np.bool_],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> StreamRows:
        """Return checked rows as the stream takes and keeps them."""
        return StreamRows(
            query_rows(self.kernel_, X, slice(None), self._stream.solver.dtype, self._stream_shift),
            labeled,
            _spread_out(targets, labeled),
            _spread_out(weights, labeled),
        )

    def _refuse_other_rows(self, X: Any, y: Any, first: int) -> None:
        """Raise unless rows that are kept of the stream, from `first` on, are those of (X, y)."""
        kept, ids = self._stream.kept, self._stream.kept_ids
        here = np.flatnonzero((ids >= first) & (ids < first + len(y)))
        if not len(here):
            return
        with self._all_or_nothing():
            rows = self._next_rows(X)
            again = self._stream_rows(rows, *self._encode_more(rows, y))
            place = ids[here] - first
            same = again.labeled[place] == kept.labeled[here]
            # A change of units has rounded the targets kept.
            same &= np.isclose(again.targets[place], kept.targets[here], 1e-12, 1e-12).all(axis=1)
            same &= _equal_rows(again.rows[place], kept.rows[here])
            if not same.all():
                row = int(place[~same].min()) + first
                raise ValueError(
                    f"What this model has learnt as its row {row:,} (counted from 0) is another "
                    "row, or has another label, in this stream: the checkpoint belongs to another "
                    "stream. Pass that one, or another path to begin anew."
                )

    def _start_stream(self, X: Any, n_outputs: int, loss: Loss, dtype: np.dtype[Any]) -> None:
        kernel = self._stream_kernel(X, dtype)
        usual_C, usual_C_graph = self._default_costs(False, "landmarks", 1, 1)
        gamma = self.graph_gamma
        if gamma is None or isinstance(gamma, str):
            own = kernel.euclidean_gamma
            gamma = resolve_gamma("spread", X) if own is None else own
        random = check_random_state(self.random_state)
        solver = StreamSolver(
            kernel=kernel,
            offset=float(self.fit_intercept),
            loss=loss,
            p=float(self.p),
            C=usual_C if isinstance(self.C, str) else float(self.C),
            C_graph=usual_C_graph if isinstance(self.C_graph, str) else float(self.C_graph),
            n_features=X.shape[1],
            n_outputs=n_outputs,
            sparse=issparse(X),
            step=self.step,  # type: ignore[arg-type]  # checked
            graph=self.graph,
            graph_gamma=float(gamma),
            n_neighbors=NEIGHBORS if isinstance(self.n_neighbors, str) else self.n_neighbors,
            reservoir_size=self.reservoir_size,
            half_life=self.half_life,
            steps_per_row=self.steps_per_row,
            seed=np.random.SeedSequence(random.randint(2**31 - 1, size=4).tolist()),
            budget=self.budget,
            dtype=dtype,
            n_threads=self._n_threads(),
        )
        self.kernel_ = kernel
        self._stream_sparse = issparse(X)
        shift = None if kernel.native_code is None else mean_row(kernel, X)
        self._stream_shift = shift
        self._stream_params = self._learning_parameters()
        self._stream = solver.start()

    def _stream_kernel(self, X: Any, dtype: np.dtype[Any]) -> Kernel:
        """Return the kernel, with a gamma from the first chunk unless it is a number."""
        kernel = self._open_kernel()
        if kernel.native_code is not None:
            check_range(X, dtype)
        if isinstance(self.gamma, str) and not varies(X) and hasattr(kernel, "gamma"):
            raise ValueError(
                f"gamma={self.gamma!r} is taken from the first chunk, whose {X.shape[0]} rows are "
                "all alike; pass a larger first chunk, or a number for gamma."
            )
        kernel = kernel.with_gamma(resolve_gamma(self.gamma, X))  # type: ignore[arg-type]
        if X.shape[0] >= _ENOUGH:
            check_kernel_reaches(kernel, X)
        return kernel

    def _set_stream_attributes(self, dtype: np.dtype[Any]) -> None:
        stream, W = self._stream, self._stream.W
        coefficients = stream.average()
        used = np.flatnonzero(coefficients.any(axis=1))
        rows = W.rows[used]
        if self._stream_shift is not None:
            # In double precision: far from the origin the sum has more digits than its parts.
            rows = rows.astype(np.float64) + self._stream_shift
        self._set_machine(
            self.kernel_,
            rows,
            np.arange(len(used)),
            coefficients[used],
            offset=W.offset,
            dtype=dtype,
        )
        self.support_ = W.ids[used]
        self._training_rows = None
        self.guarantee_ = None
        self.n_iter_ = stream.n_iter

    def _learning_parameters(self) -> dict[str, str]:
        parameters = self.get_params(deep=False)
        return {name: _text(value) for name, value in parameters.items() if name not in _FREE}

    def _refuse_changes(self) -> None:
        """Raise if a parameter that the stream began with has another value now."""
        for name, value in self._learning_parameters().items():
            if value != self._stream_params[name]:
                raise ValueError(
                    f"{name} was {self._stream_params[name]} when this stream began and is {value} "
                    "now, which would have no effect; set it back, or begin with a new model."
                )


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
