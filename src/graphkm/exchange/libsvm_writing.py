"""Writing models in LIBSVM's format, for `svm-predict` and other programs.

LIBSVM has one function for every pair of classes, made of the support vectors that are listed
under these two classes. With more than two classes, all centres with a coefficient in f_i are
listed under class i. The function of the pair (i, j) is then f_i - f_j, and the class with the
largest f wins all its votes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..kernels import Polynomial, SquaredExponential
from .container import write_parts
from .kernel_form import PlainModel, plain_model

_LARGEST = 2**31 - 1  # LIBSVM's labels are C's ints


def to_libsvm(
    model: Any,
    path: str | os.PathLike[str],
    *,
    labels: str = "same",
    ranges: str | os.PathLike[str] | None = None,
) -> dict[int, Any]:
    """Write a fitted model in LIBSVM's format.

    `svm-predict` then gives the labels, or the targets, of `predict`. It counts features from 1.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library with kernel "rbf", "linear" or "poly", or a pipeline of
        scalers that ends with one.
    path : path
        The file, which is written whole or not at all.
    labels : {"same", "codes"}, default="same"
        LIBSVM's labels are whole numbers. "same" writes such labels unchanged and refuses others;
        "codes" writes 0, 1, ... for the classes in their order.
    ranges : path, optional
        For a pipeline: the file for its scaling. Apply it to data with ``svm-scale -r`` before
        `svm-predict`. (`svm-scale` prints six digits.)

    Returns
    -------
    dict
        The class of every label in the file; empty for a regressor.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from graphkm import GKMClassifier
    >>> X, y = np.array([[0.0], [0.1], [0.9], [1.0]]), np.array(["a", "", "", "b"])
    >>> model = GKMClassifier(unlabeled="").fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_libsvm(model, f"{folder}/model", labels="codes")
    ...     Path(f"{folder}/model").read_text().split()[:4]
    {0: 'a', 1: 'b'}
    ['svm_type', 'c_svc', 'kernel_type', 'rbf']
    """
    if labels not in ("same", "codes"):
        raise ValueError(f"labels must be 'same' or 'codes', got {labels!r}.")
    plain = plain_model(model, "LIBSVM")
    if (plain.scale is None) != (ranges is None):
        raise ValueError(
            "The pipeline scales its input, which LIBSVM's models do not: pass ranges=, a path "
            "for what svm-scale needs, or scale the data yourself and write the last step."
            if ranges is None
            else "ranges= is for the scaling of a pipeline, and this model has none."
        )
    written = {} if plain.classes is None else _written_labels(plain.classes, labels)
    lines = _regressor(plain) if plain.classes is None else _classifier(plain, list(written))
    if ranges is not None:
        write_parts(ranges, [line.encode() for line in _ranges(plain)])
    write_parts(path, (line.encode() for line in lines))
    return written


def _written_labels(classes: NDArray[Any], labels: str) -> dict[int, Any]:
    known = classes.tolist()
    if labels == "codes":
        return dict(enumerate(known))
    whole = classes.dtype.kind in "iuf" and all(
        label == int(label) and abs(label) <= _LARGEST for label in known
    )
    if not whole:
        raise ValueError(
            f"LIBSVM's labels are whole numbers up to {_LARGEST}, and the classes are {known}; "
            "pass labels='codes' to write 0, 1, ... for them."
        )
    return {int(label): label for label in known}


def _regressor(plain: PlainModel) -> Iterator[str]:
    yield from _header(plain, "epsilon_svr", [-plain.intercept[0]])
    yield from _vectors(plain, np.arange(len(plain.coefficients)), plain.coefficients)


def _classifier(plain: PlainModel, labels: list[int]) -> Iterator[str]:
    a, b, k = plain.coefficients, plain.intercept, len(labels)
    if k == 2:
        # We predict the second class where f >= 0, LIBSVM the first where its f > 0. So write -f.
        yield from _header(plain, "c_svc", [b[0]], labels, [len(a), 0])
        yield from _vectors(plain, np.arange(len(a)), -a)
        return
    listed = [np.flatnonzero(column) for column in a.T]
    rho = [b[j] - b[i] for i, j in combinations(range(k), 2)]
    yield from _header(plain, "c_svc", rho, labels, [len(rows) for rows in listed])
    for i, rows in enumerate(listed):
        # Class i is the second of its pairs with the classes before it.
        signs = np.where(np.arange(k - 1) < i, -1.0, 1.0)
        yield from _vectors(plain, rows, a[rows, i : i + 1] * signs)


def _header(
    plain: PlainModel,
    svm_type: str,
    rho: list[float],
    labels: list[int] | None = None,
    counts: list[int] | None = None,
) -> Iterator[str]:
    kernel = plain.kernel
    name = {SquaredExponential: "rbf", Polynomial: "polynomial"}.get(type(kernel), "linear")
    yield f"svm_type {svm_type}\nkernel_type {name}\n"
    if isinstance(kernel, Polynomial):
        yield f"degree {kernel.degree}\n"
    if isinstance(kernel, Polynomial | SquaredExponential):
        yield f"gamma {kernel.gamma!r}\n"
    if isinstance(kernel, Polynomial):
        yield f"coef0 {kernel.coef0!r}\n"
    total = len(plain.coefficients) if counts is None else sum(counts)
    yield f"nr_class {2 if labels is None else len(labels)}\ntotal_sv {total}\n"
    yield f"rho {' '.join(repr(float(each)) for each in rho)}\n"
    if labels is not None and counts is not None:
        yield f"label {' '.join(map(str, labels))}\n"
        yield f"nr_sv {' '.join(map(str, counts))}\n"
    yield "SV\n"


def _vectors(
    plain: PlainModel, rows: NDArray[np.int64], coefficients: NDArray[np.float64]
) -> Iterator[str]:
    """Yield one line per row: its coefficients, and its features counted from 1."""
    centres = csr_array(plain.centres)
    for row, own in zip(rows, coefficients, strict=True):
        part = slice(centres.indptr[row], centres.indptr[row + 1])
        pairs = zip(centres.indices[part].tolist(), centres.data[part].tolist(), strict=True)
        features = " ".join(f"{index + 1}:{value!r}" for index, value in pairs if value != 0)
        yield f"{' '.join(map(repr, own.tolist()))} {features}\n"


def _ranges(plain: PlainModel) -> Iterator[str]:
    """Yield the lines of a file for svm-scale, which maps a range of each feature to [0, 1]."""
    assert plain.scale is not None and plain.shift is not None
    yield "x\n0 1\n"
    for i, (a, b) in enumerate(zip(plain.scale.tolist(), plain.shift.tolist(), strict=True)):
        yield f"{i + 1} {-b / a!r} {(1 - b) / a!r}\n"
