"""Rows of other libraries: CuPy arrays and torch tensors come in, and answers go back to them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import update_wrapper, wraps
from inspect import getattr_static
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from .._util.threads import one_blas_thread
from ..backends import config_context

Kind = TypeVar("Kind")

_METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "shares",
    "score",
)


def own_names(cls: type[Kind]) -> type[Kind]:
    """Give a public estimator its methods: under its own name, for rows of any library.

    Rows of CuPy and torch on a card are computed there. Answers are arrays of the rows' library, on
    their device. Labels that are not numbers, and fitted attributes, are NumPy arrays. Errors about
    arguments name this class, and not a class that it inherits from. BLAS has one thread in all of
    these methods, but for work that is large (`blas_threads_for`).

    Examples
    --------
    >>> class Base:
    ...     def fit(self, X):
    ...         return self
    >>> @own_names
    ... class Public(Base):
    ...     pass
    >>> Public.fit.__qualname__
    'Public.fit'
    """
    for name in ("__init__", *_METHODS):
        method = getattr_static(cls, name, None)
        inside = getattr(method, "fn", method)  # `available_if` hides the method in here
        if not isinstance(inside, FunctionType):
            continue
        own = _copied(inside) if name == "__init__" else _between_namespaces(inside)
        own.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, own if inside is method else available_if(method.check)(own))
    return cls


class Home(NamedTuple):
    """Where rows come from: a library, and the device that they are on."""

    library: str
    device: Any

    @classmethod
    def of(cls, X: Any) -> Home | None:
        """Return the home of rows; None if NumPy, SciPy and scikit-learn take them as they are.

        Examples
        --------
        >>> Home.of(np.eye(2)) is None
        True
        """
        library = type(X).__module__.partition(".")[0]
        return cls(library, X.device) if library in ("cupy", "torch") else None

    @property
    def context(self) -> AbstractContextManager[None]:
        """A context that computes on the card if the rows are there."""
        on_card = self.library == "cupy" or self.device.type == "cuda"
        return config_context(device="cuda") if on_card else nullcontext()

    def returned(self, answer: Any) -> Any:
        """Return an answer as an array of the library, if it is an array of numbers."""
        if not isinstance(answer, np.ndarray) or answer.dtype.kind not in "biuf":
            return answer
        if self.library == "torch":
            import torch

            return torch.as_tensor(answer, device=self.device)
        import cupy

        with self.device:
            return cupy.asarray(answer)


def as_numpy(value: Any) -> Any:
    """Return an array of CuPy or torch as a NumPy array, and anything else as it is.

    Examples
    --------
    >>> as_numpy("y")
    'y'
    """
    home = Home.of(value)
    if home is None:
        return value
    return value.get() if home.library == "cupy" else value.detach().cpu().numpy()


def _copied(method: FunctionType) -> FunctionType:
    code, closure = method.__code__, method.__closure__
    copied = FunctionType(code, method.__globals__, method.__name__, method.__defaults__, closure)
    copied.__kwdefaults__ = method.__kwdefaults__
    update_wrapper(copied, method)
    return copied


def _between_namespaces(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        home = Home.of(X)
        options = {name: as_numpy(value) for name, value in options.items()}
        with one_blas_thread(), nullcontext() if home is None else home.context:
            answer = method(self, as_numpy(X), *map(as_numpy, args), **options)
        return answer if home is None else home.returned(answer)

    return call
