"""Linear models of scikit-learn as nodes of an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from .onnx_nodes import Nodes

SURE = ("LogisticRegression", "LogisticRegressionCV")
"""Linear classifiers with probabilities."""

OF_SCORES = ("RidgeClassifier", "RidgeClassifierCV", "LinearSVC")
"""Linear classifiers with scores only."""

OF_QUANTITIES = (
    *("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV"),
    *("HuberRegressor", "LinearSVR"),
)
"""Linear regressors."""


def add_line(graph: Nodes, rows: str, model: Any) -> str:
    """Add the nodes that compute x w + b, of shape (n, n_columns)."""
    weights = np.asarray(model.coef_, np.float64).reshape(-1, model.n_features_in_)
    shift = np.broadcast_to(np.asarray(model.intercept_, np.float64), (len(weights),))
    return graph.add("Add", graph.add("MatMul", rows, weights.T), shift)


def add_logistic(graph: Nodes, rows: str, model: Any) -> str:
    """Add the nodes that compute the probabilities of logistic regression."""
    _refuse_pairs(model)
    scores = add_line(graph, rows, model)
    if len(model.classes_) == 2:
        scores = graph.add("Concat", graph.add("Mul", scores, 0.0), scores, axis=1)
    return graph.add("Softmax", scores, axis=1)


def _refuse_pairs(model: Any) -> None:
    """Raise if each class has a model of its own, which earlier versions of scikit-learn allow."""
    asked = getattr(model, "multi_class", "deprecated") not in ("deprecated", "auto")
    if asked or (len(model.classes_) > 2 and model.solver == "liblinear"):
        raise ValueError(
            f"This {type(model).__name__} fits every class against the rest (or two of them as if "
            "they were many), and ONNX graphs have one model of all classes; leave multi_class "
            "out, and pass solver='lbfgs'."
        )
