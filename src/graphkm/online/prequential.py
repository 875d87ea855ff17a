"""Progressive evaluation: test the model on every chunk, then train it on the chunk."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from .._util.parameters import unmasked
from .._util.progress import progress_bar
from ..estimators.labels import labeled_mask

_NO_MARKER = object()


@dataclass(frozen=True)
class PrequentialResult:
    """Accuracy over time, one entry per chunk.

    Attributes
    ----------
    n_rows : ndarray of int
        Rows up to the end of each chunk, labelled or not.
    n_tested : ndarray of int
        Rows of each chunk that have a label and were predicted.
    accuracy : ndarray of float
        Accuracy on the chunk; NaN where nothing was tested.
    cumulative_accuracy : ndarray of float
        Accuracy on all rows tested so far.
    window_accuracy : ndarray of float
        Accuracy on the last `window` rows tested. It shows a drift.
    seconds : ndarray of float
        Time to test and train on each chunk; reading it does not count.
    window : int
        The number of tested rows in `window_accuracy`.
    """

    n_rows: NDArray[np.int64]
    n_tested: NDArray[np.int64]
    accuracy: NDArray[np.float64]
    cumulative_accuracy: NDArray[np.float64]
    window_accuracy: NDArray[np.float64]
    seconds: NDArray[np.float64]
    window: int

    @property
    def rows_per_second(self) -> NDArray[np.float64]:
        """Rows tested and trained on per second, in each chunk."""
        return np.diff(self.n_rows, prepend=0) / np.maximum(self.seconds, 1e-9)

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, as `pandas.DataFrame` takes them."""
        names = ("n_rows", "n_tested", "accuracy", "cumulative_accuracy", "window_accuracy")
        columns = {name: getattr(self, name) for name in names}
        return columns | {"rows_per_second": self.rows_per_second}

    def __str__(self) -> str:
        columns = self.table()
        lines = ["  ".join(columns)]
        for row in zip(*columns.values(), strict=True):
            cells = (
                f"{value:{len(name)}.4g}" if isinstance(value, float) else f"{value:{len(name)}}"
                for name, value in zip(columns, row, strict=True)
            )
            lines.append("  ".join(cells))
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw accuracy against rows seen, and return matplotlib's axes."""
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError as error:
                raise ImportError(
                    "Plots need matplotlib, which is not installed. Install it with "
                    'pip install "graphkm[plot]".'
                ) from error
            ax = pyplot.subplots(layout="constrained")[1]
        ax.plot(self.n_rows, self.accuracy, color="0.75", label="chunk")
        ax.plot(self.n_rows, self.window_accuracy, label=f"last {self.window:,} labelled rows")
        ax.plot(self.n_rows, self.cumulative_accuracy, label="all so far")
        ax.set(xlabel="rows seen", ylabel="accuracy before training")
        ax.legend()
        return ax


def prequential(
    model: Any,
    stream: Iterable[Any],
    *,
    classes: Any = None,
    window: int = 1000,
    unlabeled: Any = "auto",
    verbose: int = 0,
) -> PrequentialResult:
    """Test a classifier on every chunk of a stream, then train it on the chunk.

    Parameters
    ----------
    model : classifier with `partial_fit`
        It goes on learning from its present state. A model that has not been fitted is not tested
        on the first chunk with labels, because it cannot predict yet.
    stream : iterable of Chunk, or of (X, y)
        As `read_stream` returns it.
    classes : array-like
        All classes of the stream. A model that has been fitted knows them.
    window : int
        Number of tested rows for `window_accuracy`.
    unlabeled : optional
        The marker of unlabelled rows, besides None and NaN. "auto" is the model's `unlabeled`.
    verbose : int
        1 shows a progress bar with the accuracies.

    Returns
    -------
    PrequentialResult

    Notes
    -----
    A model with a parameter `unlabeled` learns from all rows. Other models learn from labelled
    rows only.

    Examples
    --------
    >>> from graphkm.online import Chunk
    >>> from sklearn.linear_model import SGDClassifier
    >>> rng = np.random.default_rng(0)
    >>> def stream():
    ...     for first_row in range(0, 500, 100):
    ...         X = rng.normal(size=(100, 2))
    ...         yield Chunk(X, (X[:, 0] > 0).astype(int), first_row)
    >>> result = prequential(SGDClassifier(random_state=0), stream(), classes=[0, 1])
    >>> result.n_tested.tolist()
    [0, 100, 100, 100, 100]
    >>> print(f"{result.cumulative_accuracy[-1]:.2f}")
    0.97
    """
    if window < 1:
        raise ValueError(f"window={window!r} must be an integer of at least 1.")
    if classes is None and not hasattr(model, "classes_"):
        raise ValueError(
            "classes=None, but the model has not been fitted: partial_fit must know all classes "
            "from the start. Pass classes=."
        )
    own_marker = getattr(model, "unlabeled", _NO_MARKER)
    if isinstance(unlabeled, str) and unlabeled == "auto":
        unlabeled = None if own_marker is _NO_MARKER else own_marker
    score = RunningScore(window)
    chunks: list[tuple[float, ...]] = []
    with progress_bar(verbose > 0, unit="rows") as bar:
        for X, y, *_ in stream:
            labels = np.asarray(unmasked(y))
            labeled = labeled_mask(labels, unlabeled)
            start = time.perf_counter()
            hits = _test(model, X, labels, labeled)
            trained = np.ones_like(labeled) if own_marker is not _NO_MARKER else labeled
            _train(model, X, labels, trained, classes)
            seconds = time.perf_counter() - start
            score.add(hits)
            chunks.append((len(labels), len(hits), hits.sum(), score.recent, seconds))
            accuracies = {"window": score.recent, "all": score.overall}
            bar.set_postfix({k: f"{v:.1%}" for k, v in accuracies.items()}, refresh=False)
            bar.update(len(labels))
    return _result(chunks, window)


def _test(model: Any, X: Any, y: NDArray[Any], labeled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if not labeled.any():
        return np.empty(0, dtype=bool)
    try:
        predicted = model.predict(X[labeled])
    except NotFittedError:
        return np.empty(0, dtype=bool)
    return np.asarray(predicted == y[labeled], dtype=bool)


def _train(model: Any, X: Any, y: NDArray[Any], rows: NDArray[np.bool_], classes: Any) -> None:
    if not rows.any():
        return
    if not rows.all():
        X, y = X[rows], y[rows]
    model.partial_fit(X, y, classes=classes)


class RunningScore:
    """The running mean of marks: of all marks, and of the last ones.

    Examples
    --------
    >>> score = RunningScore(window=2)
    >>> score.add(np.array([False, True, True]))
    >>> score.n_marks, round(score.overall, 3), score.recent
    (3, 0.667, 1.0)
    """

    def __init__(self, window: int) -> None:
        self.window, self.n_marks, self._total = window, 0, 0.0
        self._last = np.empty(0)

    def add(self, marks: NDArray[Any]) -> None:
        """Add marks, such as hits or errors."""
        self.n_marks += len(marks)
        self._total += float(np.sum(marks))
        self._last = np.concatenate([self._last, marks])[-self.window :]

    @property
    def overall(self) -> float:
        """The mean of all marks, NaN if there are none."""
        return self._total / self.n_marks if self.n_marks else float("nan")

    @property
    def recent(self) -> float:
        """The mean of the last `window` marks, NaN if there are none."""
        return float(self._last.mean()) if len(self._last) else float("nan")


def _result(chunks: list[tuple[float, ...]], window: int) -> PrequentialResult:
    """Return the result of chunks: rows, tested rows, hits, recent accuracy and seconds of each."""
    rows, tested, hits, recent, seconds = np.array(chunks, dtype=float).reshape(-1, 5).T
    with np.errstate(invalid="ignore"):  # 0 / 0 where nothing was tested
        accuracy, cumulative = hits / tested, hits.cumsum() / tested.cumsum()
    n_rows, n_tested = rows.cumsum().astype(np.int64), tested.astype(np.int64)
    return PrequentialResult(
        n_rows, n_tested, accuracy, cumulative, recent.copy(), seconds.copy(), window
    )
