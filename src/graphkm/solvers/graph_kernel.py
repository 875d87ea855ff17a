"""Features with the graph inside: for p = 2 the graph is one matrix M = K' L^q K.

K is the kernel between all rows and the landmarks, and M is summed in one pass over blocks of
rows. Let S be the kernel between landmarks, and A = S + 2 (C_graph l / |E|) M = B B'. Then
f = sum_j a_j k(., s_j) has

    J = 1/2 ||v||^2 + C sum_i s_i loss(y_i, <v, B^(-1) k(x_i)>),   v = B' a.

This is a kernel machine on the labelled points alone, with the graph inside its kernel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from .._util.progress import progress_bar
from .._util.threads import blas_threads_for
from ..graphs.laplacian import laplacian_matrix
from ..objective import Objective
from ..ridge.factors import safe_cholesky
from .damped_newton import Vector
from .landmark_features import LandmarkFeatures


def graph_form(
    objective: Objective, features: LandmarkFeatures, verbose: int = 0
) -> NDArray[np.float64]:
    """Return M = K' L^q K; `verbose` shows a progress bar over the rows."""
    assert objective.graph is not None
    matrix = laplacian_matrix(objective.graph, normalized=objective.normalized)
    with progress_bar(verbose, total=objective.X.shape[0], unit="row", desc="graph") as bar:
        return features.kernel_form(matrix, objective.degree, bar)


class GraphKernel:
    """phi(x) = B^(-1) k(x) at the labelled points, with B B' = S + 2 factor M.

    If there are fewer labelled points than landmarks, only the span of their features matters.
    Then phi is written in an orthonormal basis of that span.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        S, the kernel between landmarks.
    labeled : ndarray of shape (l, m)
        The kernel between labelled points and landmarks.
    form : ndarray of shape (m, m) or None
        M; None for no graph.
    factor : float
        Weight of the graph.
    """

    def __init__(
        self,
        gram: NDArray[np.float64],
        labeled: NDArray[np.float64],
        form: NDArray[np.float64] | None,
        factor: float,
    ) -> None:
        A = gram if form is None or not factor else gram + (2 * factor) * form
        root = safe_cholesky(A)
        phi = solve_triangular(root, labeled.T, lower=True, check_finite=False).T
        basis = np.eye(len(gram))
        if phi.shape[0] < phi.shape[1]:
            with blas_threads_for(*phi.T.shape):
                basis, R = qr(phi.T, mode="economic", check_finite=False)
            phi = R.T
        self.phi = np.ascontiguousarray(phi)
        self._map = solve_triangular(root, basis, lower=True, trans="T", check_finite=False)

    def coefficients(self, v: Vector) -> Vector:
        """Return the landmarks' coefficients a of a v."""
        return self._map @ v

    @property
    def scale(self) -> float:
        """The mean over the labelled points of the kernel with the graph inside, at (x, x)."""
        return float(np.einsum("ij,ij->", self.phi, self.phi)) / len(self.phi) or 1.0
