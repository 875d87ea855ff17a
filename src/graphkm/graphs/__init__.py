"""Graphs over the training rows, none with an edge between two labelled rows.

=====================  ==========================================================
arguments              checks of arguments that several graphs share
laplacian              Laplacians of graphs
base                   `Graph`: number, list and draw edges; `EdgeSampler`
implicit               edges by formula, weights computed when looked at
full, bipartite        the two implicit graphs
listed                 `ListedGraph`: edges stored, connected components
neighbors              `knn_graph`, `epsilon_graph`
affinity               `Affinity`, `affinity_graph`: the graph that a user brings
row_ids                what edges call the rows of a table
given_edges            edges as people have them: matrices, lists, frames, other libraries
given                  `GivenGraph`: steps along given edges
nodes                  `RowNodes`: where fields live, and the weights of the nodes at any row
anchors                `AnchorNodes`: means of rows as nodes, by sums over blocks of rows
part_kinds             `GraphPart`, `NodesPart`: the two kinds of parts
parts, node_parts      `KNN`, `Epsilon`, `Full`, `Bipartite`; `Anchors`: what estimators take
=====================  ==========================================================
"""

from .affinity import Affinity, affinity_graph, graph_or_given
from .anchors import AnchorNodes
from .base import Edges, EdgeSampler, Graph
from .bipartite import BipartiteGraph
from .full import FullGraph
from .listed import ListedGraph
from .neighbors import epsilon_graph, knn_graph, neighbour_graph
from .node_parts import Anchors
from .nodes import NodeGraph, Nodes, RowNodes
from .part_kinds import GraphPart, NodesPart
from .parts import KNN, Bipartite, Epsilon, Full, resolve_graph, resolve_nodes

__all__ = [
    "KNN",
    "Affinity",
    "AnchorNodes",
    "Anchors",
    "Bipartite",
    "BipartiteGraph",
    "EdgeSampler",
    "Edges",
    "Epsilon",
    "Full",
    "FullGraph",
    "Graph",
    "GraphPart",
    "ListedGraph",
    "NodeGraph",
    "Nodes",
    "NodesPart",
    "RowNodes",
    "affinity_graph",
    "epsilon_graph",
    "graph_or_given",
    "knn_graph",
    "neighbour_graph",
    "resolve_graph",
    "resolve_nodes",
]
