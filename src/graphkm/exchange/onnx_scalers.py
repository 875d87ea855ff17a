"""Scalers as nodes of an ONNX graph: the same operations in the same order.

A row may lie exactly at the threshold of a tree behind a scaler. One rounding more or less would
send it the other way.
"""

from __future__ import annotations

from typing import Any

from .onnx_nodes import Nodes


def add_scalers(graph: Nodes, rows: str, scalers: list[Any]) -> str:
    """Add the nodes that scale rows by one scaler after the other."""
    for scaler in scalers:
        rows = _scaled(graph, rows, scaler)
    return rows


def _scaled(graph: Nodes, rows: str, scaler: Any) -> str:
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler  # slow to import

    if isinstance(scaler, MinMaxScaler):
        return graph.add("Add", graph.add("Mul", rows, scaler.scale_), scaler.min_)
    if isinstance(scaler, MaxAbsScaler):
        return graph.add("Div", rows, scaler.scale_)
    if scaler.with_mean:
        rows = graph.add("Sub", rows, scaler.mean_)
    return graph.add("Div", rows, scaler.scale_) if scaler.with_std else rows
