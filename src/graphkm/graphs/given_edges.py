"""Edges as people have them: matrices, lists, frames, and the graphs of other libraries.

All of them become a sparse matrix of weights, one row for each row of X and one column for each
known row. Nothing is imported for it: a graph of networkx, PyTorch Geometric or AnnData is known by
the names that it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_ENDS = ("source", "target")  # the columns of a frame, if it has columns of these names
_CONNECTIVITIES = "connectivities"  # the matrix of AnnData that scanpy makes


class Listed(NamedTuple):
    """Edges one by one."""

    u: NDArray[Any]
    v: NDArray[Any]
    weight: NDArray[np.float64]


def named_affinities(given: Any) -> dict[str, Any]:
    """Return one affinity or several by name.

    Examples
    --------
    >>> list(named_affinities(np.eye(3)))
    ['given']
    >>> list(named_affinities([np.eye(3), np.eye(3)]))
    ['given 1', 'given 2']
    >>> list(named_affinities([(0, 1), (1, 2)]))
    ['given']
    """
    if isinstance(given, Mapping):
        if not given:
            raise ValueError("affinity={} has no graph; pass one at least.")
        return {str(name): each for name, each in given.items()}
    if isinstance(given, list | tuple) and len(given) and all(map(_is_graph, given)):
        return {f"given {place}": each for place, each in enumerate(given, 1)}
    return {"given": given}


def _is_graph(each: Any) -> bool:
    """Return whether an item of a list is a graph of its own, and not an edge."""
    kinds = ("obsp", "edge_index", "adj", "columns")
    return getattr(each, "ndim", 1) == 2 or any(hasattr(each, kind) for kind in kinds)


def weights_of(given: Any, ids: Any, known: Any = None, *, dtype: Any = np.float32) -> Any:
    """Return the weights of given edges as a CSR array, in the direction they have.

    Repeated edges of a list add up. Weights are finite and not negative.

    Parameters
    ----------
    given : matrix, list of edges, frame of edges, or graph of another library
        Of shape (n_rows, n_known); or pairs, with or without weights.
    ids : Ids
        Of the rows.
    known : Ids, optional
        Of the known rows that new rows are joined to; None where both are the same. Numbers mean a
        new row first and a known row second. Names may stand in either order; an edge between two
        rows that are only new, or only known, is left out.
    dtype : type, default=float32
        Of the weights that are returned: float32 or float64.

    Examples
    --------
    >>> weights_of([(0, 1), (2, 1), (0, 1)], Ids(3)).toarray()
    array([[0., 2., 0.],
           [0., 0., 0.],
           [0., 1., 0.]], dtype=float32)
    """
    shape = len(ids), len(ids if known is None else known)
    matrix = _matrix_of(given, shape)
    if matrix is not None:
        return _checked(matrix, shape, dtype)
    if known is None:
        return _added(edges_of(given, ids), shape, dtype)
    u, v, weight = _listed(given)
    _check_weights(weight, u, v)
    if known.names is None or ids.names is None:
        return _added(Listed(ids.places(u), known.places(v), weight), shape, dtype)
    ways = _between(Listed(u, v, weight), ids, known), _between(Listed(v, u, weight), ids, known)
    return _added(ways[0], shape, dtype).maximum(_added(ways[1], shape, dtype))


def _added(edges: Listed, shape: tuple[int, int], dtype: Any) -> Any:
    """Return edges between numbers of rows as a matrix; repeated ones add up."""
    entries = edges.weight.astype(dtype), (edges.u, edges.v)
    found = sp.csr_array(entries, shape=shape)
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def edges_of(given: Any, ids: Ids) -> Listed:
    """Return edges that are given one by one, checked, with the numbers of the rows they join.

    Examples
    --------
    >>> edges_of([("a", "c")], Ids(3, ["a", "b", "c"]))
    Listed(u=array([0]), v=array([2]), weight=array([1.]))
    """
    u, v, weight = _listed(given)
    _check_weights(weight, u, v)
    return Listed(ids.places(u), ids.places(v), weight)


# ------------------------------------------------------------------ which row an edge means


class Ids:
    """What rows are called: by numbers from 0, or by anything that can be compared.

    Parameters
    ----------
    n : int
        How many rows there are.
    names : array-like of shape (n,), optional
        Their names, none of which is repeated; None for the numbers.

    Examples
    --------
    >>> Ids(3, ["a", "b", "c"]).places(np.array(["c", "a"]))
    array([2, 0])
    """

    def __init__(self, n: int, names: Any = None) -> None:
        self._n = n
        self.names = None if names is None else _plain(names)
        if self.names is None:
            return
        if self.names.shape != (n,):
            raise ValueError(
                f"There are {len(self.names)} ids for {n} rows; pass one id for each row."
            )
        self._order = np.argsort(self.names, kind="stable")
        self._sorted = self.names[self._order]
        twice = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        if len(twice):
            name = self._sorted[twice[:1]].tolist()[0]
            raise ValueError(f"The id {name!r} stands for more than one row; ids must differ.")

    def __len__(self) -> int:
        return self._n

    def among(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of the row that each id means; -1 for an id of no row."""
        if self.names is None:
            wanted = _plain(wanted)
            if wanted.dtype.kind not in "iu":
                return np.full(len(wanted), -1)
            inside = (wanted >= 0) & (wanted < self._n)
            return np.where(inside, wanted, -1).astype(np.int64)
        wanted = _plain(wanted)
        if (wanted.dtype.kind in "iufb") != (self.names.dtype.kind in "iufb"):
            return np.full(len(wanted), -1)
        if not self._n:
            return np.full(len(wanted), -1)
        at = np.minimum(np.searchsorted(self._sorted, wanted), self._n - 1)
        return np.where(self._sorted[at] == wanted, self._order[at], -1)

    def places(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of the row that each id means; raise for an id of no row."""
        found = self.among(wanted)
        if (found < 0).any():
            raise _unknown(np.asarray(wanted)[found < 0], self)
        return found

    def described(self) -> str:
        """Return what ids there are, in words."""
        if self.names is None:
            return f"rows have the numbers 0 to {self._n - 1}"
        return (
            "ids of rows are "
            + ", ".join(repr(each) for each in self.names[:3].tolist())
            + (", ..." if self._n > 3 else "")
        )


def _plain(names: Any) -> NDArray[Any]:
    """Return ids as an array that can be sorted: numbers, or texts."""
    found = np.asarray(names) if hasattr(names, "dtype") else _one_each(names)
    if found.dtype.kind == "O":
        kinds = {type(each) for each in found.tolist()}
        if kinds <= {int, bool} or all(issubclass(kind, np.integer) for kind in kinds):
            return found.astype(np.int64)
        return np.array([str(each) for each in found.tolist()], dtype=str)
    return found


def _one_each(names: Any) -> NDArray[Any]:
    """Return one item for each id: NumPy would make two columns of ids that are pairs."""
    names = list(names)
    pairs = any(isinstance(each, tuple) for each in names)
    return np.fromiter(names, dtype=object, count=len(names)) if pairs else np.asarray(names)


def _unknown(missing: NDArray[Any], ids: Ids) -> ValueError:
    first = missing[:1].tolist()[0]
    return ValueError(
        f"{len(missing)} ends of edges are no rows, the first is {first!r}; {ids.described()}. "
        "Leave these edges out, or pass the ids of the rows as ids=..."
    )


def _between(edges: Listed, new: Ids, known: Ids) -> Listed:
    """Return the edges that lead from a new row to a known one; raise for an id of neither."""
    for ends in (edges.u, edges.v):
        lost = (new.among(ends) < 0) & (known.among(ends) < 0)
        if lost.any():
            raise _unknown(np.asarray(ends)[lost], known)
    rows, columns = new.among(edges.u), known.among(edges.v)
    kept = (rows >= 0) & (columns >= 0)
    return Listed(rows[kept], columns[kept], edges.weight[kept])


# ------------------------------------------------------------------ what people bring


def _matrix_of(given: Any, shape: tuple[int, int]) -> Any:
    """Return what is given as a matrix, if it is one; None for edges one by one."""
    if hasattr(given, "obsp"):  # AnnData
        if _CONNECTIVITIES not in given.obsp:
            raise ValueError(
                f"obsp has no {_CONNECTIVITIES!r}; call scanpy.pp.neighbors first, or pass one of "
                f"its matrices ({', '.join(map(str, given.obsp)) or 'it has none'}) itself."
            )
        return given.obsp[_CONNECTIVITIES]
    if sp.issparse(given):
        return given
    if isinstance(given, np.ndarray) and given.ndim == 2:
        square = given.shape == shape or given.shape[1] not in (2, 3)
        return given if square else None
    if isinstance(given, list | tuple) and _is_nested(given, shape):
        return np.asarray(given)
    return None


def _is_nested(given: Any, shape: tuple[int, int]) -> bool:
    """Return whether lists are the rows of a matrix, which are longer than edges."""
    n_rows, n_columns = shape
    return len(given) == n_rows and n_columns > 3 and np.shape(given[0]) == (n_columns,)


def _checked(matrix: Any, shape: tuple[int, int], dtype: Any) -> Any:
    if matrix.shape != shape:
        raise ValueError(
            f"The affinity has shape {matrix.shape}, and {shape} is needed: a row for each row of "
            "X, and a column for each known row. Edges one by one have 2 columns, or 3 with "
            "weights."
        )
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"The affinity has dtype {matrix.dtype}; pass real numbers.")
    found = sp.csr_array(matrix, dtype=dtype, copy=True)
    found.sum_duplicates()
    rows = np.repeat(np.arange(shape[0]), np.diff(found.indptr))
    _check_weights(found.data, rows, found.indices)
    found.eliminate_zeros()
    return found


def _listed(given: Any) -> Listed:
    """Return edges one by one."""
    if hasattr(given, "edge_index"):  # PyTorch Geometric
        if given.edge_index is None:
            raise ValueError("The graph has no edges: its edge_index is None.")
        u, v = _from_tensor(given.edge_index)
        weight = getattr(given, "edge_weight", None)
        return Listed(u, v, np.ones(len(u)) if weight is None else _from_tensor(weight).ravel())
    if hasattr(given, "adj") and hasattr(given, "edges"):  # networkx
        edges = list(given.edges(data="weight", default=1.0))
        u, v, w = zip(*edges, strict=True) if edges else ((), (), ())
        return Listed(_plain(u), _plain(v), np.array(w, dtype=np.float64))
    if hasattr(given, "columns"):
        return _from_frame(given)
    found = np.asarray(given, dtype=object if _is_mixed(given) else None)
    if found.ndim != 2 or found.shape[1] not in (2, 3):
        raise ValueError(
            f"affinity of shape {found.shape} is no graph; pass a matrix with a row and a column "
            "for each row, edges as pairs (with a weight, triples), a frame of edges, or a graph "
            "of networkx, AnnData or PyTorch Geometric."
        )
    ends = found[:, :2]
    if ends.dtype.kind == "f":  # pairs beside weights
        if (ends != np.floor(ends)).any():
            wrong = ends[ends != np.floor(ends)][0]
            raise ValueError(f"An edge ends at {wrong}; numbers of rows are whole numbers from 0.")
        ends = ends.astype(np.int64)
    weight = np.ones(len(found)) if found.shape[1] == 2 else _numbers(found[:, 2])
    return Listed(_plain(ends[:, 0]), _plain(ends[:, 1]), weight)


def _is_mixed(given: Any) -> bool:
    """Return whether edges have texts and numbers, which NumPy would turn into texts."""
    return isinstance(given, list | tuple) and any(
        isinstance(each, str) for edge in given[:1] for each in edge
    )


def _from_frame(frame: Any) -> Listed:
    names = [str(name) for name in frame.columns]
    ends: tuple[Any, ...] = _ENDS
    if not set(_ENDS) <= set(names):
        if len(names) not in (2, 3):
            raise ValueError(
                f"A frame of edges has the columns {', '.join(names)}; name two of them source and "
                "target (and one weight), or pass 2 or 3 columns."
            )
        ends = tuple(frame.columns)[:2]
    rest = [name for name in frame.columns if name not in ends]
    weights = "weight" if "weight" in names else rest[0] if len(rest) == 1 else None
    u, v = (_plain(frame[name].to_numpy()) for name in ends)
    return Listed(u, v, np.ones(len(u)) if weights is None else _numbers(frame[weights].to_numpy()))


def _from_tensor(tensor: Any) -> NDArray[Any]:
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _numbers(weight: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(weight).astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"Weights of edges are numbers; the first one is {np.asarray(weight)[0]!r}."
        ) from None


def _check_weights(weight: NDArray[Any], u: NDArray[Any], v: NDArray[Any]) -> None:
    for bad, flaw in ((~np.isfinite(weight), "not finite"), (weight < 0, "negative")):
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            ends = u[at : at + 1].tolist()[0], v[at : at + 1].tolist()[0]
            raise ValueError(
                f"{int(bad.sum())} weights of edges are {flaw}; the first is {weight[at]}, from "
                f"{ends[0]!r} to {ends[1]!r}. Pass finite weights >= 0."
            )
