"""Streaming models as files of numbers: everything needed to go on learning, bit for bit."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from .. import kernels, losses
from .._container import CheckpointError, read_container, write_container
from ..kernels import Kernel
from ..losses import Loss
from ..solvers.stream import StreamSolver

_PARTS = ("data", "indices", "indptr")  # of a CSR matrix
_PLAIN = ("n_features_in_", "_origin", "_streamed_origin", "_stream_sparse", "_stream_params")
_ARRAYS = ("classes_", "_stream_shift")


def save_model(model: Any, path: str | os.PathLike[str], note: dict[str, Any]) -> None:
    """Write a model that learns from a stream, with a note of the caller's.

    Parameters
    ----------
    model : GKMClassifier or GKMRegressor
        After a call of partial_fit.
    path : path
        Replaced atomically; what was there stays as PATH.previous.
    note : dict
        What JSON can hold.
    """
    if not hasattr(model, "_stream"):
        raise ValueError(
            "There is no stream to save: save is for models that learn by partial_fit, and this "
            "one has not begun to. joblib.dump keeps models made by fit."
        )
    stream = model._stream
    numbers, state = stream.state()
    arrays = {f"stream.{name}": value for name, value in state.items()}
    arrays |= {name: getattr(model, name) for name in _ARRAYS if _has(model, name)}
    header = {
        "class": type(model).__name__,
        "parameters": {
            name: _encode(name, value) for name, value in model.get_params(deep=False).items()
        },
        "attributes": {name: getattr(model, name) for name in _PLAIN if _has(model, name)},
        "feature_names": list(getattr(model, "feature_names_in_", [])),
        "solver": {f.name: _encode(f.name, getattr(stream.solver, f.name)) for f in _stored()},
        "numbers": numbers,
        "note": note,
        "csr": {name: list(value.shape) for name, value in arrays.items() if issparse(value)},
    }
    write_container(path, header, _without_csr(arrays))


def load_model(path: str | os.PathLike[str], classes: dict[str, type]) -> tuple[Any, Any]:
    """Return a model, of one of these classes, and the note that was saved with it."""
    header, arrays = read_container(path)
    try:
        for name, shape in header["csr"].items():
            parts = tuple(arrays.pop(f"{name}.{part}") for part in _PARTS)
            arrays[name] = csr_array(parts, shape=tuple(shape))
        if header["class"] not in classes:
            raise CheckpointError(
                f"{os.fspath(path)} holds a {header['class']}, not a {' or '.join(classes)}; load "
                "it with that class."
            )
        parameters = {name: _decode(value) for name, value in header["parameters"].items()}
        model = classes[header["class"]](**parameters)
        vars(model).update(header["attributes"])
        vars(model).update({name: arrays[name] for name in _ARRAYS if name in arrays})
        if header["feature_names"]:
            model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        solver = {name: _decode(value) for name, value in header["solver"].items()}
        seed = np.random.SeedSequence(0)  # the generators' states follow
        stream = StreamSolver(**solver, seed=seed, n_threads=model._n_threads()).start()
        state = {name.split(".", 1)[1]: a for name, a in arrays.items() if "." in name}
        stream.restore(header["numbers"], state)
    except (KeyError, TypeError) as error:
        raise CheckpointError(
            f"{os.fspath(path)} is whole, but holds no model that this version of graphkm knows "
            f"({error!r}); load it with the version that wrote it."
        ) from error
    model._resume(stream)
    return model, header["note"]


def _stored() -> list[Any]:
    return [f for f in fields(StreamSolver) if f.name not in ("seed", "n_threads")]


def _has(model: Any, name: str) -> bool:
    return getattr(model, name, None) is not None


def _without_csr(arrays: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in arrays.items():
        if issparse(value):
            out |= {f"{name}.{part}": getattr(value, part) for part in _PARTS}
        else:
            out[name] = value
    return out


def _encode(name: str, value: Any) -> Any:
    """Return a parameter as JSON holds it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        pairs = [[_encode(name, key), _encode(name, item)] for key, item in value.items()]
        return {"dict": pairs}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if isinstance(value, Kernel | Loss) and _known(type(value).__name__) is type(value):
        parts = {f.name: _encode(name, getattr(value, f.name)) for f in fields(value)}
        return {"object": type(value).__name__, "fields": parts}
    raise ValueError(
        f"{name}={value!r} cannot be saved: a checkpoint holds numbers, texts and the library's "
        "own kernels and losses. Pass one of those, or None where that is possible."
    )


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {_decode(key): _decode(item) for key, item in value["dict"]}
    if "dtype" in value:
        return np.dtype(value["dtype"])
    known = _known(value["object"])
    if known is None:
        raise KeyError(value["object"])
    return known(**{name: _decode(part) for name, part in value["fields"].items()})


def _known(name: str) -> Any:
    """Return the library's kernel or loss of this name that is nothing but its numbers."""
    found = getattr(kernels, name, None) or getattr(losses, name, None)
    plain = isinstance(found, type) and issubclass(found, Kernel | Loss)
    return found if plain and found is not kernels.FunctionKernel else None
