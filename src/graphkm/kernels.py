"""Kernels: one small frozen class each.

A kernel takes rows, dense or CSR, and always returns float64 values: differences of squares
lose too many digits in single precision. These classes are the definition. Large sums of kernel
values go through compiled code, which knows each kernel by its `native_code`.

Examples
--------
>>> import numpy as np
>>> X, Y = np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[3.0, 4.0]])
>>> Polynomial(degree=2, gamma=1.0, coef0=1.0)(X, Y).tolist()
[[144.0], [1.0]]
>>> SquaredExponential(gamma=0.125)(X, Y).round(4).tolist()
[[0.3679], [0.0439]]
>>> Cosine()(X, Y).round(4).tolist()
[[0.9839], [0.0]]
>>> FunctionKernel(lambda X, Y: (X @ Y.T) ** 2)(X, Y).tolist()
[[121.0], [0.0]]
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from ._util.parts import Part
from ._util.spread import spread_of, variance_of

Array: TypeAlias = NDArray[Any]
Rows: TypeAlias = Any  # two-dimensional: an ndarray, a csr_matrix or a csr_array

_TILE = 64  # rows a user's function sees at once when only the diagonal is wanted


@dataclass(frozen=True)
class Kernel(Part, ABC):
    """A kernel k(x, y); calling it gives the matrix between two sets of rows.

    To add a kernel, subclass it and write `_matrix` and `_diagonal` for rows in float64. A kernel
    with parameters is a frozen dataclass. The other attributes are traits. Their defaults are
    right for any kernel.
    """

    name: ClassVar[str] = "custom"
    native_code: ClassVar[int | None] = None  # its number in compiled code; None if it has none
    has_rows: ClassVar[bool] = True  # False if X holds kernel values instead of rows
    stationary: ClassVar[bool] = False  # whether k(x, y) depends on x - y alone
    _bound: ClassVar[float | None] = None

    @property
    def bounded(self) -> float | None:
        """The supremum of k(x, x) over all x, None if there is none or it is unknown."""
        return self._bound

    @property
    def euclidean_gamma(self) -> float | None:
        """Gamma, if the kernel is exp(-gamma ||x - y||^2) times a constant; else None."""
        return None

    def __call__(self, X: Rows, Y: Rows) -> Array:
        """Return the (n, m) matrix of k between the rows of X and the rows of Y."""
        rows = _float64(X)
        # The same array twice makes X @ X.T exactly symmetric.
        return self._matrix(rows, rows if Y is X else _float64(Y))

    def diagonal(self, X: Rows) -> Array:
        """Return k(x, x) for each row of X."""
        return self._diagonal(_float64(X))

    def with_gamma(self, gamma: float) -> Self:
        """Return a copy with this gamma if the kernel has a gamma and it is None, else itself."""
        return self

    @abstractmethod
    def _matrix(self, X: Rows, Y: Rows) -> Array: ...

    @abstractmethod
    def _diagonal(self, X: Rows) -> Array: ...


class _GammaKernel(Kernel):
    """A kernel with a gamma, which may be left open until the data are known."""

    gamma: float | None

    def __post_init__(self) -> None:
        if self.gamma is not None:
            _check_positive("gamma", self.gamma)

    def with_gamma(self, gamma: float) -> Self:
        return replace(self, **{"gamma": gamma}) if self.gamma is None else self

    @property
    def _gamma(self) -> float:
        if self.gamma is None:
            raise ValueError(
                f"The {self.name!r} kernel has no gamma yet; pass gamma=... or use "
                "with_gamma(resolve_gamma('scale', X))."
            )
        return float(self.gamma)


@dataclass(frozen=True)
class SquaredExponential(_GammaKernel):
    r"""Squared exponential kernel, also called Gaussian or RBF.

    .. math:: k(x, y) = \sigma_f^2 \exp(-\gamma \|x - y\|^2)

    Parameters
    ----------
    gamma : float or None, default=None
        1 / (2 sigma_l^2), positive. None takes the estimator's gamma.
    sigma_f : float, default=1.0
        Amplitude, positive.
    """

    gamma: float | None = None
    sigma_f: float = 1.0
    name: ClassVar[str] = "rbf"
    native_code: ClassVar[int | None] = 0
    stationary: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse scales that are not positive."""
        super().__post_init__()
        _check_positive("sigma_f", self.sigma_f)

    @property
    def bounded(self) -> float:
        """The constant diagonal, sigma_f^2."""
        return float(self.sigma_f) ** 2

    @property
    def euclidean_gamma(self) -> float | None:
        """Its gamma."""
        return self.gamma

    def _matrix(self, X: Rows, Y: Rows) -> Array:
        return self.bounded * np.exp(-self._gamma * _squared_distances(X, Y))

    def _diagonal(self, X: Rows) -> Array:
        return np.full(X.shape[0], self.bounded)


class Linear(Kernel):
    r"""Linear kernel.

    .. math:: k(x, y) = \langle x, y \rangle
    """

    name: ClassVar[str] = "linear"
    native_code: ClassVar[int | None] = 1

    def _matrix(self, X: Rows, Y: Rows) -> Array:
        return _dense(X @ Y.T)

    def _diagonal(self, X: Rows) -> Array:
        return _squared_norms(X)


@dataclass(frozen=True)
class Polynomial(_GammaKernel):
    r"""Polynomial kernel.

    .. math:: k(x, y) = (\gamma \langle x, y \rangle + \mathrm{coef0})^\mathrm{degree}

    Parameters
    ----------
    degree : int, default=3
        Exponent, at least 1.
    gamma : float or None, default=None
        Factor of the inner product, positive. None takes the estimator's gamma.
    coef0 : float, default=0.0
        Constant, at least 0.
    """

    degree: int = 3
    gamma: float | None = None
    coef0: float = 0.0
    name: ClassVar[str] = "poly"
    native_code: ClassVar[int | None] = 2

    def __post_init__(self) -> None:
        """Refuse parameters for which the kernel is not positive semi-definite."""
        super().__post_init__()
        if not isinstance(self.degree, Integral) or self.degree < 1:
            raise ValueError(f"degree must be a whole number of at least 1, got {self.degree!r}.")
        if not 0 <= self.coef0 < math.inf:
            raise ValueError(f"coef0 must be a finite number of at least 0, got {self.coef0!r}.")

    def _matrix(self, X: Rows, Y: Rows) -> Array:
        return (self._gamma * _dense(X @ Y.T) + self.coef0) ** self.degree

    def _diagonal(self, X: Rows) -> Array:
        return (self._gamma * _squared_norms(X) + self.coef0) ** self.degree


@dataclass(frozen=True)
class Laplacian(_GammaKernel):
    r"""Laplacian kernel, of the sum of absolute differences.

    .. math:: k(x, y) = \exp(-\gamma \|x - y\|_1)

    Parameters
    ----------
    gamma : float or None, default=None
        Positive. None takes the estimator's gamma.
    """

    gamma: float | None = None
    name: ClassVar[str] = "laplacian"
    native_code: ClassVar[int | None] = 3
    stationary: ClassVar[bool] = True
    _bound: ClassVar[float | None] = 1.0

    def _matrix(self, X: Rows, Y: Rows) -> Array:
        if issparse(X) or issparse(Y):
            # Imported here: the import takes three times as long as this package's.
            from sklearn.metrics.pairwise import manhattan_distances

            distances = manhattan_distances(X, Y)
        else:
            distances = cdist(X, Y, "cityblock")
        return np.exp(-self._gamma * distances)

    def _diagonal(self, X: Rows) -> Array:
        return np.ones(X.shape[0])


class Cosine(Kernel):
    r"""Cosine kernel, 0 where a row is zero.

    .. math:: k(x, y) = \frac{\langle x, y \rangle}{\|x\| \|y\|}
    """

    name: ClassVar[str] = "cosine"
    native_code: ClassVar[int | None] = 4
    _bound: ClassVar[float | None] = 1.0

    def _matrix(self, X: Rows, Y: Rows) -> Array:
        x, y = np.sqrt(_squared_norms(X)), np.sqrt(_squared_norms(Y))
        # The products of a zero row are 0, and dividing by 1 keeps them 0.
        return _dense(X @ Y.T) / np.multiply.outer(np.where(x > 0, x, 1), np.where(y > 0, y, 1))

    def _diagonal(self, X: Rows) -> Array:
        return (_squared_norms(X) > 0).astype(np.float64)


class Precomputed(Kernel):
    """Kernel values from the user: X holds rows of them, Y the indices of the columns wanted."""

    name: ClassVar[str] = "precomputed"
    has_rows: ClassVar[bool] = False

    def __call__(self, X: Rows, Y: Rows) -> Array:
        """Return the columns Y of X."""
        return self._matrix(X, np.asarray(Y))  # not as floats: Y holds indices, X may be large

    def _matrix(self, X: Rows, Y: Rows) -> Array:
        if Y.ndim != 1 or not np.issubdtype(Y.dtype, np.integer):
            raise ValueError(
                "With a precomputed kernel Y must be a one-dimensional array of integer column "
                f"indices, got shape {Y.shape} of {Y.dtype}."
            )
        return _dense(X[:, Y])

    def _diagonal(self, X: Rows) -> Array:
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel of shape {X.shape} is not square: pass all rows."
            )
        return np.array(X.diagonal())


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A kernel given as a function.

    Parameters
    ----------
    function : callable
        function(X, Y) returns the (n, m) matrix between the rows of X and the rows of Y.
    """

    function: Callable[[Any, Any], Any]
    name: ClassVar[str] = "callable"

    def _matrix(self, X: Rows, Y: Rows) -> Array:
        K, expected = _dense(self.function(X, Y)), (X.shape[0], Y.shape[0])
        if K.shape != expected:
            raise ValueError(
                f"The kernel function returned shape {K.shape} for {expected[0]} and "
                f"{expected[1]} rows; it must return a matrix of shape {expected}."
            )
        if not np.isfinite(K).all():
            raise ValueError("The kernel function returned NaN or inf; it must return numbers.")
        return K

    def _diagonal(self, X: Rows) -> Array:
        tiles = (X[start : start + _TILE] for start in range(0, X.shape[0], _TILE))
        return np.concatenate([np.empty(0), *(self(tile, tile).diagonal() for tile in tiles)])


_BY_NAME: dict[str, type[Kernel]] = {
    cls.name: cls
    for cls in (SquaredExponential, Linear, Polynomial, Laplacian, Cosine, Precomputed)
}


def resolve_kernel(kernel: str | Kernel | Callable[[Any, Any], Any]) -> Kernel:
    """Turn a name, an object or a function into a kernel.

    Examples
    --------
    >>> resolve_kernel("rbf")
    SquaredExponential(gamma=None, sigma_f=1.0)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in _BY_NAME:
        return _BY_NAME[kernel]()
    # A class is callable too, but nobody means to call it with rows.
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel)
    raise ValueError(
        f"kernel={kernel!r} is not a kernel; pass one of {', '.join(map(repr, _BY_NAME))}, "
        "a Kernel object, or a function of two sets of rows."
    )


def resolve_gamma(gamma: Literal["spread", "scale", "auto"] | float, X: Rows) -> float:
    """Turn a gamma into a number.

    "spread" is one over the sum of the columns' variances. That is 2 over the mean squared
    distance of two rows. It is 1 if all rows are equal. Outliers do not count. "scale" and "auto"
    are those of `sklearn.svm.SVC`: 1 / (d Var(X)), with the variance of all entries around their
    common mean, and 1 / d. On standardised columns all three are the same.

    Examples
    --------
    >>> X = np.array([[0.0, 9.0], [4.0, 9.0]])
    >>> resolve_gamma("spread", X), resolve_gamma("auto", X)
    (0.25, 0.5)
    """
    if isinstance(gamma, str):
        if gamma not in ("spread", "scale", "auto"):
            raise ValueError(
                f"gamma must be 'spread', 'scale', 'auto' or a positive number, got {gamma!r}."
            )
        if gamma == "spread":
            spread = spread_of(X)
            return 1.0 / spread if spread else 1.0
        variance = variance_of(X) if gamma == "scale" else 1.0
        return 1.0 / (X.shape[1] * variance) if variance else 1.0
    _check_positive("gamma", gamma)
    return float(gamma)


def _check_positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be a positive finite number, got {value!r}.")


def _float64(X: Rows) -> Rows:
    return X.astype(np.float64, copy=False)


def _dense(K: Any) -> Array:
    return np.asarray(K.toarray() if issparse(K) else K, dtype=np.float64)


def _squared_norms(X: Rows) -> Array:
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _squared_distances(X: Rows, Y: Rows) -> Array:
    if not (issparse(X) or issparse(Y)):
        # A shift does not change distances, but ||x||^2 - 2<x, y> + ||y||^2 loses digits by it.
        centre = Y.sum(axis=0) / max(1, len(Y))
        X, Y = (X - centre, Y - centre) if X is not Y else (X - centre,) * 2
    distances = np.add.outer(_squared_norms(X), _squared_norms(Y)) - 2 * _dense(X @ Y.T)
    return np.maximum(distances, 0, out=distances)
