"""The terms that Newton's method minimises: losses of labelled points; edges, for p other than 2.

For p = 2 the edges are part of the features. For another p every Newton step reweights them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graphs import Edges
from ..graphs.laplacian import edge_laplacian, vertex_scales
from ..losses import Loss
from ..objective import Objective
from ..ridge.factors import solve_matrix, solve_rows
from ..smoothness import Smoothness
from .damped_newton import Vector
from .landmark_features import LandmarkFeatures


@dataclass(frozen=True)
class LabelTerms:
    """C sum_i s_i loss(y_i, <v, phi_i>)."""

    phi: NDArray[np.float64]
    y: Vector
    cost: Vector
    loss: Loss

    @classmethod
    def of(cls, objective: Objective, r: int, phi: NDArray[np.float64], C: float) -> LabelTerms:
        """Return the labelled points' terms of one output."""
        return cls(phi, objective.targets[:, r], C * objective.weights, objective.loss)

    def scores(self, v: Vector) -> Vector:
        """Return the scores of the labelled points."""
        return self.phi @ v

    def adjoint(self, g: Vector) -> Vector:
        """Return sum_i g_i phi_i."""
        return self.phi.T @ g

    def value(self, s: Vector, width: float) -> float:
        """Return the losses' sum."""
        return float(self.cost @ self._smoothed(width).value(self.y, s))

    def gradient(self, s: Vector, width: float) -> Vector:
        """Return the losses' derivatives."""
        return self.cost * self._smoothed(width).gradient(self.y, s)

    def residual(self, s: Vector, width: float) -> float:
        """Return loss - envelope - width/2 slope^2, summed: an envelope's own conjugate."""
        smooth = self._smoothed(width)
        if smooth is self.loss:
            return 0.0
        left = self.loss.value(self.y, s) - smooth.value(self.y, s)
        return float(self.cost @ (left - 0.5 * width * smooth.gradient(self.y, s) ** 2))

    def newton_step(self, g: Vector, s: Vector, width: float) -> Vector:
        """Return (1 + sum_i curvature_i phi_i phi_i')^(-1) g."""
        return solve_rows(self.bent_rows(s, width), g)

    def bent_rows(self, s: Vector, width: float) -> NDArray[np.float64]:
        """Return phi_i sqrt(curvature_i) where the loss is curved."""
        curvature = self.cost * self._smoothed(width).curvature(self.y, s)
        bent = np.flatnonzero(curvature)
        return self.phi[bent] * np.sqrt(curvature[bent])[:, None]

    def _smoothed(self, width: float) -> Loss:
        return self.loss.smoothed(width) if width else self.loss


@dataclass(frozen=True)
class EdgeMap:
    """What the outputs of a p other than 2 share: features, edges and vertex scales."""

    features: LandmarkFeatures
    labeled: NDArray[np.float64]  # features of the labelled points
    edges: Edges
    scale: Vector

    @classmethod
    def of(cls, objective: Objective, features: LandmarkFeatures) -> EdgeMap:
        """Return the map of an objective."""
        assert objective.graph is not None
        scale = vertex_scales(objective.graph, normalized=objective.normalized)
        labeled = features.at(objective.labeled)
        return cls(features, labeled, objective.graph.edges(), scale)


class EdgeTerms:
    """The labelled points' losses, and factor sum_(u,v) mu_uv |s_u f_u - s_v f_v|^p.

    Scores are f at all rows.
    """

    def __init__(self, objective: Objective, r: int, shared: EdgeMap) -> None:
        self._shared = shared
        self._rows = objective.labeled
        self._labels = LabelTerms.of(objective, r, shared.labeled, float(objective.C[r]))
        self._smoothness = objective.smoothness
        self._cost = objective.graph_factor[r] * shared.edges.weight

    def scores(self, v: Vector) -> Vector:
        """Return f at all rows."""
        return self._shared.features.scores(v)

    def adjoint(self, g: Vector) -> Vector:
        """Return Z' g."""
        return self._shared.features.adjoint(g)

    def value(self, s: Vector, width: float) -> float:
        """Return losses and roughness."""
        roughness = float(self._cost @ self._smoothed(width).value(self._differences(s)))
        return self._labels.value(s[self._rows], width) + roughness

    def gradient(self, s: Vector, width: float) -> Vector:
        """Return the derivatives in f at all rows."""
        u, v, _ = self._shared.edges
        scale, n = self._shared.scale, len(s)
        pull = self._cost * self._smoothed(width).gradient(self._differences(s))
        g: Vector = np.bincount(u, pull * scale[u], n).astype(np.float64, copy=False)
        g -= np.bincount(v, pull * scale[v], n)
        g[self._rows] += self._labels.gradient(s[self._rows], width)
        return g

    def residual(self, s: Vector, width: float) -> float:
        """Return the sum of |t|^p plus its conjugate at the smoothed slope, minus t times it."""
        t = self._differences(s)
        slope = self._smoothed(width).gradient(t)
        left = self._smoothness.value(t) + self._smoothness.conjugate(slope) - slope * t
        edges = float(self._cost @ left) if self._smoothness.p < 2 else 0.0
        return self._labels.residual(s[self._rows], width) + edges

    def newton_step(self, g: Vector, s: Vector, width: float) -> Vector:
        """Solve with the labels' part and the quadratic form of the reweighted graph."""
        shared = self._shared
        weight = self._cost * self._smoothed(width).curvature(self._differences(s))
        matrix = edge_laplacian(Edges(shared.edges.u, shared.edges.v, weight), shared.scale)
        rows = self._labels.bent_rows(s[self._rows], width)
        return solve_matrix(rows.T @ rows + shared.features.quadratic_form(matrix), g)

    def _differences(self, s: Vector) -> Vector:
        u, v, _ = self._shared.edges
        scaled = self._shared.scale * s
        return scaled[u] - scaled[v]

    def _smoothed(self, width: float) -> Smoothness:
        return self._smoothness.smoothed(width)
