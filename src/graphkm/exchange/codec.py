"""The values in a model file, as JSON and arrays.

None, booleans, numbers, texts and lists are JSON's own. A file can hold these other types, each
with its tag:

=====================================  ==================================================
``{"dict": [[key, value], ...]}``      a dictionary, keys of any type
``{"tuple": [...]}``                   a tuple
``{"dtype": "<f4"}``                   a precision
``{"array": name}``                    the array of that name
``{"texts": [...]}``                   an array of texts as objects, such as feature names
``{"csr": name, "shape": [n, d]}``     a CSR matrix, made of three arrays
``{"object": name, "fields": {...}}``  a part of this library: a kernel, a graph, a solver, ...
``{"model": name, ...}``               a fitted estimator from the caller's table
``{"unfitted": name, ...}``            its parameters alone
=====================================  ==================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from inspect import isabstract
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from .. import gkm, graphs, kernels, losses, smoothness, solvers
from .._util.parts import Part
from ..gkm import Plan
from ..kernels import FunctionKernel, Kernel, Polynomial
from ..losses import Loss
from ..theory import Guarantee

_CSR = ("data", "indices", "indptr")  # the arrays of a CSR matrix
_PRECISIONS = ("<f4", "<f8")
_FLOATS = (np.float32, np.float64)
_DEPTH = 16
LARGEST_DEGREE = 1000
"""The largest degree of a polynomial: its powers are computed by multiplication."""
_PLAIN = (bool, int, float, str, type(None))


def _parts_of(module: Any) -> dict[str, type]:
    """Return the kernels, losses and other parts that a module of this library offers, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, Part | Kernel | Loss)
        and value.__module__.startswith(module.__name__)
        and not (name.startswith("_") or isabstract(value) or value is FunctionKernel)
    }


# The dataclasses that a file can hold; each is made of plain values and of other such objects.
OBJECTS: dict[str, type] = {"Guarantee": Guarantee, "Plan": Plan}
for _module in (kernels, losses, smoothness, graphs, solvers, gkm):
    OBJECTS |= _parts_of(_module)

State = dict[str, Any]


def _parameters(model: Any) -> State:
    found: State = model.get_params(deep=False)
    return found


@dataclass(frozen=True)
class Kind:
    """How a class of models is stored, apart from its constructor's parameters."""

    cls: Any  # a type, called with parameters
    state: Callable[[Any], State]  # returns what `fit` has set
    restore: Callable[[Any, State], None]  # gives that to a new model, or raises
    parameters: Callable[[Any], State] = _parameters  # returns what the constructor takes


Kinds = Mapping[str, Kind]


class Encoder:
    """Turns values into JSON and collects the arrays among them; `kinds` are the known models."""

    def __init__(self, kinds: Kinds) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._kinds = kinds

    def encode(self, name: str, value: Any, depth: int = 0) -> Any:
        """Return a value as JSON; `name` is for its arrays and for messages."""
        if isinstance(value, np.generic):
            value = value.item()
        if type(value) in _PLAIN or isinstance(value, str):
            return value
        if depth < _DEPTH:
            for encode in (self._container, self._array, self._object, self._model):
                coded = encode(name, value, depth + 1)
                if coded is not None:
                    return coded
        last = name.rsplit("/", 1)[-1]
        raise ValueError(
            f"{last}={value!r} cannot be saved: a file holds numbers, texts and the library's own "
            "kernels, losses, graphs and solvers, and no code. Pass one of those. If only fit "
            f"needs it, remove it before saving: set_params({last}=None)."
        )

    def _container(self, name: str, value: Any, depth: int) -> Any:
        def each(items: Any) -> list[Any]:
            return [self.encode(f"{name}/{i}", item, depth) for i, item in enumerate(items)]

        if type(value) is dict:
            pairs = [
                [self.encode(name, key, depth), self.encode(f"{name}/{key}", item, depth)]
                for key, item in value.items()
            ]
            return {"dict": pairs}
        if type(value) is list:
            return each(value)
        return {"tuple": each(value)} if type(value) is tuple else None

    def _array(self, name: str, value: Any, depth: int) -> Any:
        if isinstance(value, np.dtype) or (isinstance(value, type) and value in _FLOATS):
            return {"dtype": np.dtype(value).newbyteorder("<").str}
        if issparse(value):
            matrix = csr_array(value)
            self.arrays |= {f"{name}.{part}": getattr(matrix, part) for part in _CSR}
            return {"csr": name, "shape": list(matrix.shape)}
        if type(value) is not np.ndarray:
            return None
        if value.dtype.kind == "O" and value.ndim == 1:
            texts = value.tolist()
            return {"texts": texts} if all(isinstance(text, str) for text in texts) else None
        self.arrays[name] = value
        return {"array": name}

    def _object(self, name: str, value: Any, depth: int) -> Any:
        kind = type(value)
        if OBJECTS.get(kind.__name__) is not kind:
            return None
        coded = {f.name: self.encode(name, getattr(value, f.name), depth) for f in fields(value)}
        return {"object": kind.__name__, "fields": coded}

    def _model(self, name: str, value: Any, depth: int) -> Any:
        kind = self._kinds.get(type(value).__name__)
        if kind is None or type(value) is not kind.cls:
            return None
        # An estimator among the parameters of another is not fitted.
        last = value.steps[-1][1] if hasattr(value, "steps") else value
        fitted = any(hasattr(last, name) for name in ("n_features_in_", "n_features_out_"))
        parts = {"parameters": kind.parameters(value)}
        if fitted:
            parts["state"] = kind.state(value)
        return {"model" if fitted else "unfitted": type(value).__name__} | {
            part: {key: self.encode(f"{name}/{key}", item, depth) for key, item in values.items()}
            for part, values in parts.items()
        }


class Decoder:
    """Turns JSON and arrays into values again; raises ValueError for anything unexpected.

    Every array of the file must be used exactly once.
    """

    def __init__(self, kinds: Kinds, arrays: dict[str, NDArray[Any]]) -> None:
        self._kinds = kinds
        self._arrays = dict(arrays)

    def decode(self, value: Any, depth: int = 0) -> Any:
        """Return the value that was encoded."""
        if depth > 2 * _DEPTH:
            raise ValueError("it is nested too deeply")
        if isinstance(value, list):
            return [self.decode(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        tag = next(iter(value), "")
        reader = getattr(self, f"_{tag}", None) if tag in _TAGS else None
        if reader is None or set(value) != _TAGS[tag]:
            raise ValueError(f"{str(value)[:80]} has no meaning")
        return reader(value, depth + 1)

    def finish(self) -> None:
        """Raise if an array of the file was not used."""
        if self._arrays:
            raise ValueError(f"nothing refers to its arrays {sorted(self._arrays)[:5]}")

    def _dict(self, value: Any, depth: int) -> dict[Any, Any]:
        return {self.decode(k, depth): self.decode(v, depth) for k, v in value["dict"]}

    def _tuple(self, value: Any, depth: int) -> tuple[Any, ...]:
        return tuple(self.decode(_a(list, value["tuple"]), depth))

    def _dtype(self, value: Any, depth: int) -> np.dtype[Any]:
        if value["dtype"] not in _PRECISIONS:
            raise ValueError(f"{value['dtype']!r} is not a precision")
        return np.dtype(value["dtype"]).newbyteorder("=")

    def _array(self, value: Any, depth: int) -> NDArray[Any]:
        return self._take(value["array"])

    def _texts(self, value: Any, depth: int) -> NDArray[Any]:
        texts = [_a(str, text) for text in _a(list, value["texts"])]
        return np.array(texts, dtype=object)

    def _csr(self, value: Any, depth: int) -> csr_array:
        parts = [self._take(f"{value['csr']}.{part}") for part in _CSR]
        return checked_csr(*parts, shape=value["shape"])

    def _object(self, value: Any, depth: int) -> Any:
        known = OBJECTS.get(_a(str, value["object"]))
        if known is None:
            raise ValueError(f"{value['object']!r} is no kernel or loss or other part of graphkm")
        given = {k: self.decode(v, depth) for k, v in _a(dict, value["fields"]).items()}
        for field in given.values():
            if type(field) not in (*_PLAIN, *OBJECTS.values()):
                raise ValueError(f"{value['object']} cannot hold {str(field)[:80]}")
        made = known(**given)
        if isinstance(made, Polynomial) and made.degree > LARGEST_DEGREE:
            raise ValueError(f"a polynomial of degree {made.degree}: at most {LARGEST_DEGREE}")
        return made

    def _model(self, value: Any, depth: int) -> Any:
        unfitted = {"unfitted": value["model"], "parameters": value["parameters"]}
        model = self._unfitted(unfitted, depth)
        state = {k: self.decode(v, depth) for k, v in _a(dict, value["state"]).items()}
        self._kinds[value["model"]].restore(model, state)
        return model

    def _unfitted(self, value: Any, depth: int) -> Any:
        kind = self._kinds.get(_a(str, value["unfitted"]))
        if kind is None:
            raise ValueError(f"{value['unfitted']!r} is none of {', '.join(self._kinds)}")
        given = _a(dict, value["parameters"]).items()
        return kind.cls(**{key: self.decode(item, depth) for key, item in given})

    def _take(self, name: Any) -> NDArray[Any]:
        if _a(str, name) not in self._arrays:
            raise ValueError(f"array {name!r} is missing, or used twice")
        return self._arrays.pop(name)


_TAGS = {
    "dict": {"dict"},
    "tuple": {"tuple"},
    "dtype": {"dtype"},
    "array": {"array"},
    "texts": {"texts"},
    "csr": {"csr", "shape"},
    "object": {"object", "fields"},
    "model": {"model", "parameters", "state"},
    "unfitted": {"unfitted", "parameters"},
}


def checked_csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], *, shape: Any
) -> csr_array:
    """Return a CSR matrix after a check of all indices, which compiled code relies on.

    Examples
    --------
    >>> one = np.array([1])
    >>> checked_csr(one, one, np.array([0, 1]), shape=[1, 1])
    Traceback (most recent call last):
    ...
    ValueError: a CSR matrix has columns beyond its 1
    """
    rows, columns = (_a(int, length) for length in _a(list, shape))
    if not (data.ndim == indices.ndim == indptr.ndim == 1 and data.dtype.kind in "if"):
        raise ValueError("a CSR matrix has parts of the wrong shape or type")
    if {indices.dtype, indptr.dtype} - {np.dtype(np.int32), np.dtype(np.int64)}:
        raise ValueError("a CSR matrix has indices that are not whole numbers")
    if not 0 <= columns < 2**48 or len(indptr) != rows + 1 or len(indices) != len(data):
        raise ValueError(f"a CSR matrix of shape {shape} has parts of other lengths")
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ValueError("a CSR matrix has rows that do not follow each other")
    if len(indices) and not (indices.min() >= 0 and indices.max() < columns):
        raise ValueError(f"a CSR matrix has columns beyond its {columns}")
    matrix = csr_array((data, indices, indptr), shape=(rows, columns))
    if not matrix.has_canonical_format:
        raise ValueError("a CSR matrix has columns out of order, or twice")
    return matrix


def _a(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{str(value)[:80]} stands where a {kind.__name__} should")
    return value
