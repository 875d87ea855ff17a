"""Reading models that LIBSVM wrote."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._util.memory import require_memory
from ..expansion import KernelExpansion
from ..gkm import GKMClassifier, GKMRegressor
from ..kernels import Kernel, Linear, Polynomial, SquaredExponential
from .codec import LARGEST_DEGREE, checked_csr
from .container import ModelFileError
from .pairwise import PairwiseClassifier

_CLASSIFIERS, _REGRESSORS = ("c_svc", "nu_svc"), ("epsilon_svr", "nu_svr")
_KERNELS = ("linear", "polynomial", "rbf")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d{1,10}")
_LARGEST = 2**31 - 1  # C's int
_LINE = 2**26  # bytes
_FIELDS = {"svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho"}
_FIELDS |= {"label", "nr_sv", "probA", "probB", "prob_density_marks"}


_Fields = dict[str, list[str]]


def from_libsvm(path: str | os.PathLike[str], *, n_features: int | None = None) -> Any:
    r"""Return the model that LIBSVM's `svm-train` wrote.

    It predicts the same as `svm-predict` without ``-b 1``. Probabilities are not read.

    Parameters
    ----------
    path : path
        A model of type c_svc, nu_svc, epsilon_svr or nu_svr with a linear, polynomial or RBF
        kernel; a ModelFileError says what is wrong with it.
    n_features : int, optional
        Columns of the data to predict. Default: the largest index of the support vectors.

    Returns
    -------
    GKMClassifier, GKMRegressor or PairwiseClassifier
        A PairwiseClassifier if there are more than two classes, since LIBSVM decides these by
        votes of pairs.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> text = ("svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\n"
    ...         "label 1 -1\nnr_sv 1 1\nSV\n0.5 1:1\n-0.5 1:-1\n")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(f"{folder}/model").write_text(text)
    ...     model = from_libsvm(f"{folder}/model")
    >>> model.predict([[2.0], [-3.0]]).tolist()
    [1, -1]
    """
    try:
        with open(path, "rb") as file:
            lines = _lines(file)
            fields = _parse_header(lines)
            own, vectors = _parse_vectors(lines, fields, n_features)
        return _build(fields, own, vectors)
    except (ValueError, OverflowError) as error:
        raise ModelFileError(
            f"{os.fspath(path)} cannot be read as a model of LIBSVM: {error}"
        ) from error


def _lines(file: Any) -> Iterator[str]:
    """Yield the lines of a file, each of a bounded length."""
    while line := file.readline(_LINE):
        if len(line) == _LINE:
            raise ValueError(f"a line has more than {_LINE:,} bytes.")
        yield line.decode("ascii")


def _parse_header(lines: Iterator[str]) -> _Fields:
    fields: _Fields = {}
    for line in lines:
        name, *values = line.split() or [""]
        if name == "SV":
            break
        if name not in _FIELDS or name in fields:
            raise ValueError(f"line {len(fields) + 1} begins with {name[:40]!r}.")
        fields[name] = values
    else:
        raise ValueError("there is no line 'SV', which the support vectors follow.")
    kind = _one(fields, "svm_type", str)
    if kind not in _CLASSIFIERS + _REGRESSORS:
        raise ValueError(f"its type is {kind}, not {', '.join(_CLASSIFIERS + _REGRESSORS)}.")
    n_classes = _one(fields, "nr_class", _whole)
    if not 2 <= n_classes <= 2 + len(fields.get("label", ())):
        raise ValueError(f"it has {n_classes} classes, and not as many labels.")
    return fields


def _parse_vectors(
    lines: Iterator[str], fields: _Fields, n_features: int | None
) -> tuple[NDArray[np.float64], csr_array]:
    """Return the coefficients, of shape (n_vectors, n_classes - 1), and the support vectors."""
    n_own = _one(fields, "nr_class", _whole) - 1
    own: list[list[float]] = []
    indices: list[int] = []
    values: list[float] = []
    indptr = [0]
    for line in lines:
        words = line.split()
        if len(words) < n_own:
            raise ValueError(f"support vector {len(own) + 1} has fewer than {n_own} coefficients.")
        own.append([_number(word) for word in words[:n_own]])
        last = 0
        for word in words[n_own:]:
            index, _, value = word.partition(":")
            if not last < _whole(index) <= _LARGEST:
                raise ValueError(f"support vector {len(own)} has the index {index[:20]} too late.")
            last = _whole(index)
            indices.append(last - 1)
            values.append(_number(value))
        indptr.append(len(indices))
    total = _one(fields, "total_sv", _whole)
    if total != len(own):
        raise ValueError(f"it has {len(own)} support vectors, and says {total}: it was cut short.")
    width = max(indices, default=0) + 1
    if n_features is not None and n_features < width:
        raise ValueError(f"its support vectors have {width} features, and n_features={n_features}.")
    vectors = checked_csr(
        np.array(values, np.float64),
        np.array(indices, np.int32),
        np.array(indptr, np.int32 if len(indices) <= _LARGEST else np.int64),
        shape=[len(own), width if n_features is None else int(n_features)],
    )
    return np.array(own, np.float64).reshape(len(own), n_own), vectors


def _build(fields: _Fields, own: NDArray[np.float64], vectors: csr_array) -> Any:
    """Return the estimator whose f is LIBSVM's."""
    kernel = _kernel(fields)
    rho = np.array([_number(word) for word in fields.get("rho", ())])
    if fields["svm_type"][0] in _REGRESSORS:
        _require_count("rho", rho, 1)
        regressor = GKMRegressor(kernel=kernel, precision="double")
        return _fitted(regressor, kernel, vectors, own, -rho)
    labels = np.array([_whole(word) for word in fields.get("label", ())], np.int64)
    counts = [_whole(word) for word in fields.get("nr_sv", ())]
    k = own.shape[1] + 1
    _require_count("label", labels, k)
    _require_count("nr_sv", counts, k)
    _require_count("rho", rho, k * (k - 1) // 2)
    if len(np.unique(labels)) < k or min(counts) < 0 or sum(counts) != len(own):
        raise ValueError("a label occurs twice, or nr_sv does not add up to its support vectors.")
    if k == 2:
        # LIBSVM predicts the first label where f > 0, we the larger label where f >= 0.
        sign = 1.0 if labels[0] > labels[1] else -1.0
        classifier = GKMClassifier(kernel=kernel, precision="double")
        classifier.classes_ = np.sort(labels)
        return _fitted(classifier, kernel, vectors, sign * own, -sign * rho)
    voter = PairwiseClassifier(kernel)
    voter.classes_, voter.votes_order_ = np.unique(labels, return_inverse=True)
    return _fitted(voter, kernel, vectors, _pairs(own, counts), -rho)


def _pairs(own: NDArray[np.float64], counts: list[int]) -> NDArray[np.float64]:
    """Return the coefficients of every pair's function; they are 0 for other classes."""
    pairs = list(combinations(range(len(counts)), 2))
    require_memory(
        8 * len(own) * len(pairs),
        f"a model of {len(counts)} classes",
        "Read it on a larger machine, or with LIBSVM.",
    )
    ends = np.cumsum([0, *counts])
    out = np.zeros((len(own), len(pairs)))
    for column, (i, j) in enumerate(pairs):
        first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        out[first, column] = own[first, j - 1]
        out[second, column] = own[second, i]
    return out


def _fitted(
    model: Any,
    kernel: Kernel,
    vectors: csr_array,
    coefficients: NDArray[np.float64],
    constant: NDArray[np.float64],
) -> Any:
    """Set what `fit` would set, and return the estimator."""
    m = len(coefficients)
    f = KernelExpansion(
        kernel,
        vectors,
        coefficients.shape[1],
        constant=constant,
        dtype=np.float64,
        n_threads=model.n_threads(),
    )
    f.set(np.arange(m), coefficients)
    model.n_features_in_, model.support_ = vectors.shape[1], np.arange(m)
    model.set_expansion(f)
    return model


def _require_count(name: str, values: Any, count: int) -> None:
    if len(values) != count:
        raise ValueError(f"it has {len(values)} values of {name}, not {count}.")


def _kernel(fields: _Fields) -> Kernel:
    name = _one(fields, "kernel_type", str)
    if name not in _KERNELS:
        raise ValueError(f"its kernel is {name}, not {', '.join(_KERNELS)}.")
    if name == "linear":
        return Linear()
    gamma = _one(fields, "gamma", _number)
    if name == "rbf":
        return SquaredExponential(gamma)
    degree = _one(fields, "degree", _whole)
    if degree > LARGEST_DEGREE:
        raise ValueError(f"its polynomial has degree {degree}: at most {LARGEST_DEGREE}.")
    return Polynomial(degree, gamma, _one(fields, "coef0", _number))


def _one(fields: _Fields, name: str, read: Any) -> Any:
    values = fields.get(name, [])
    _require_count(name, values, 1)
    return read(values[0])


def _number(word: str) -> float:
    value = float(word) if _NUMBER.fullmatch(word) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{word[:40]!r} is no number.")
    return value


def _whole(word: str) -> int:
    if not _WHOLE.fullmatch(word):
        raise ValueError(f"{word[:40]!r} is no whole number.")
    return int(word)
