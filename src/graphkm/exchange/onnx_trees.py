"""Trees of scikit-learn as one node of an ONNX graph.

The operator compares in double precision, as scikit-learn does. Its sums are in double precision,
too, but it returns them in single precision. So the constant of all trees is added afterwards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .onnx_nodes import TREES, Nodes

BAGS = ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees")
"""How the names of single trees, and of means of trees, start."""

BOOSTED = "HistGradientBoosting"
"""How the names of boosted trees start."""

_EXPONENTIAL = ("poisson", "gamma")  # losses whose regressors learn a logarithm


class Tree(NamedTuple):
    """A tree whose node 0 is its root. A row goes left where x[feature] <= threshold."""

    feature: NDArray[Any]
    threshold: NDArray[np.float64]
    left: NDArray[Any]
    right: NDArray[Any]
    missing_left: NDArray[Any]
    is_leaf: NDArray[np.bool_]
    values: NDArray[np.float64]
    """What leaves add, of shape (n_nodes, n_columns); other nodes' values are not used."""
    first: int = 0
    """The column of the sums that the first of them is added to."""


def add_bag(graph: Nodes, rows: str, model: Any) -> str:
    """Add the nodes that compute the mean of trees: class shares, or quantities as a column."""
    trees = [each.tree_ for each in getattr(model, "estimators_", [model])]
    columns = [np.asarray(tree.value[:, 0, :], np.float64) for tree in trees]
    middle = 0.0
    if hasattr(model, "classes_"):
        columns = [each / each.sum(axis=1, keepdims=True) for each in columns]
    else:
        middle = float(np.mean([each[0, 0] for each in columns]))
        columns = [each - middle for each in columns]
    plain = [_of_bag(tree, values) for tree, values in zip(trees, columns, strict=True)]
    single = graph.add("Cast", rows, to=graph.types.FLOAT)  # what these trees compare
    rows = graph.add("Cast", single, to=graph.types.DOUBLE)
    mean = graph.add("Div", add_trees(graph, rows, plain, columns[0].shape[1]), float(len(plain)))
    return graph.add("Add", mean, middle) if middle else mean


def add_boosted(graph: Nodes, rows: str, model: Any) -> str:
    """Add the nodes that compute what boosted trees say: class shares, or quantities as a column.

    Raises ValueError if columns are categories.
    """
    if model.is_categorical_ is not None:
        raise ValueError(
            f"This {type(model).__name__} takes columns as categories, for which ONNX graphs have "
            "no form; fit with categorical_features=None, or with one column for each category."
        )
    rounds, start = model._predictors, np.ravel(model._baseline_prediction)
    plain = [_of_boosting(tree.nodes, j) for trees in rounds for j, tree in enumerate(trees)]
    raw = graph.add("Add", add_trees(graph, rows, plain, len(start)), start)
    if not hasattr(model, "classes_"):
        return graph.add("Exp", raw) if model.loss in _EXPONENTIAL else raw
    if len(start) == 1:
        raw = graph.add("Concat", graph.add("Mul", raw, 0.0), raw, axis=1)
    return graph.add("Softmax", raw, axis=1)


def add_trees(graph: Nodes, rows: str, trees: list[Tree], n_columns: int) -> str:
    """Add the nodes that compute the sums of trees, of shape (n, n_columns)."""
    number = [np.full(len(tree.left), place) for place, tree in enumerate(trees)]
    own = [np.arange(len(tree.left)) for tree in trees]
    inner = [~tree.is_leaf for tree in trees]
    told = [_told(tree) for tree in trees]

    def joined(arrays: list[NDArray[Any]]) -> list[int]:
        return [int(value) for value in np.concatenate(arrays).tolist()]

    def of_inner(name: str) -> list[NDArray[Any]]:
        return [
            np.where(mask, getattr(tree, name), 0) for mask, tree in zip(inner, trees, strict=True)
        ]

    sums = graph.add(
        "TreeEnsembleRegressor",
        rows,
        domain=TREES,
        n_targets=n_columns,
        nodes_treeids=joined(number),
        nodes_nodeids=joined(own),
        nodes_featureids=joined(of_inner("feature")),
        nodes_truenodeids=joined(of_inner("left")),
        nodes_falsenodeids=joined(of_inner("right")),
        nodes_missing_value_tracks_true=joined(of_inner("missing_left")),
        nodes_modes=np.where(np.concatenate(inner), "BRANCH_LEQ", "LEAF").tolist(),
        nodes_values_as_tensor=graph.tensor(np.concatenate(of_inner("threshold"))),
        target_treeids=joined([np.full(len(e[0]), place) for place, e in enumerate(told)]),
        target_nodeids=joined([nodes for nodes, _, _ in told]),
        target_ids=joined([columns for _, columns, _ in told]),
        target_weights_as_tensor=graph.tensor(np.concatenate([values for _, _, values in told])),
    )
    return graph.add("Cast", sums, to=graph.types.DOUBLE)


def _told(tree: Tree) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the leaves' numbers, columns and values; of several columns only those that count."""
    leaves, width = np.flatnonzero(tree.is_leaf), tree.values.shape[1]
    values = tree.values[leaves]
    place, column = np.nonzero(values if width > 1 else np.ones_like(values))
    return leaves[place], tree.first + column, values[place, column]


def _of_bag(tree: Any, values: NDArray[np.float64]) -> Tree:
    left, right = tree.children_left, tree.children_right
    missing = tree.missing_go_to_left
    return Tree(tree.feature, tree.threshold, left, right, missing, left < 0, values)


def _of_boosting(nodes: NDArray[Any], column: int) -> Tree:
    return Tree(
        nodes["feature_idx"],
        nodes["num_threshold"],
        nodes["left"],
        nodes["right"],
        nodes["missing_go_to_left"],
        nodes["is_leaf"] > 0,
        nodes["value"].astype(np.float64)[:, None],
        column,
    )
