"""Newton's method for Laplacian SVM and regression, on the labelled rows alone.

Given the losses' slopes g at the labelled rows and b, the best coefficients of all rows are

    a = A^(-1) (E c - b p),   A = gamma_A + gamma_I L^q K,   p = gamma_I L^q 1,   c = -g / 2,

where E places the l labelled rows among all rows. A is factorised once for all outputs and steps.
What is left is a problem in c and b,

    sum_i s_i loss(y_i, f_i) + c' S c + t b^2,   f = S c + b h.

Here S = E' K A^(-1) E is the kernel with the graph inside it, h = E' (1 - K A^(-1) p) and
t = p' (1 - K A^(-1) p). Without normalisation L 1 = 0, so h = 1 and t = 0, as for any SVM's
intercept. `DampedNewton` solves this problem. With the squared hinge loss each step solves a linear
system on the rows that violate the margin.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import lu_factor, lu_solve, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from .._util.increasing import root
from ..ridge.factors import safe_cholesky, solve_rows
from ..solvers.damped_newton import DampedNewton, Terms, Vector
from ..solvers.terms import LabelTerms
from .laplacian_objective import LaplacianObjective, LaplacianSolution, Matrix


def solve_by_newton(objective: LaplacianObjective, tol: float, max_iter: int) -> LaplacianSolution:
    """Return the minimum, certified to within `tol` of the objective."""
    reduced = ReducedProblem(objective)
    found = []
    for r in range(objective.n_outputs):
        terms = reduced.terms(objective, r)
        scale = float(np.abs(objective.targets[:, r]).mean()) or 1.0
        iteration = DampedNewton(terms, len(objective.labeled), scale, tol)
        while not iteration.done and iteration.n_iter < max_iter:
            iteration.step()
        if not iteration.done:
            _warn_of_distance(iteration)
        b = terms.intercept(iteration.v) if isinstance(terms, InterceptTerms) else 0.0
        found.append((reduced.coefficients(iteration.v, b), b, iteration.n_iter, iteration.value))
    a = np.column_stack([each[0] for each in found])
    b, steps, values = np.array([each[1:] for each in found]).T
    return LaplacianSolution(a, b, int(steps.max()), values)


class ReducedProblem:
    """S as 2 phi phi', h and t, and the way back to the coefficients of all rows.

    Parameters
    ----------
    objective : LaplacianObjective
        With K stored.
    """

    def __init__(self, objective: LaplacianObjective) -> None:
        seen = objective.kernel.values[objective.labeled]
        pull = objective.constant_pull
        self._columns, self._pulled = _solve_columns(objective, pull)
        S = seen @ self._columns
        # Half of S, so that DampedNewton's 1/2 ||v||^2 is c' S c.
        self.phi = safe_cholesky((S + S.T) / 4)
        self.along = 1.0 - seen @ self._pulled
        whole = 1.0 - objective.kernel.values @ self._pulled
        self.cost = max(0.0, float(pull @ whole))

    def terms(self, objective: LaplacianObjective, r: int) -> Terms:
        """Return the losses of one output, at their best b if there is one."""
        y, loss = objective.targets[:, r], objective.loss
        labels = LabelTerms(self.phi, y, objective.weights, loss)
        return InterceptTerms(labels, self.along, self.cost) if objective.fit_intercept else labels

    def coefficients(self, v: Vector, b: float) -> Vector:
        """Return a for v = 2 phi' c and b."""
        c = solve_triangular(self.phi, v / 2, lower=True, trans="T", check_finite=False)
        return np.asarray(self._columns @ c - b * self._pulled)


def _solve_columns(objective: LaplacianObjective, pull: Vector) -> tuple[Matrix, Vector]:
    """Return A^(-1) E and A^(-1) p."""
    n, labeled = objective.n_rows, objective.labeled
    right = np.zeros((n, len(labeled) + 1), order="F")
    right[labeled, np.arange(len(labeled))] = 1.0
    right[:, -1] = pull
    if objective.has_graph:
        A = objective.smooth(objective.kernel.values)
        A[np.diag_indices(n)] += objective.norm_weight
        # A' stored by columns is A stored by rows: no copy is made.
        factor = lu_factor(A.T, overwrite_a=True, check_finite=False)
        right = lu_solve(factor, right, trans=1, overwrite_b=True, check_finite=False)
    else:
        right /= objective.norm_weight
    return right[:, :-1], right[:, -1]


class InterceptTerms:
    """T(s) = min over b of sum_i s_i loss(y_i, s_i + b h_i) + t b^2.

    Parameters
    ----------
    labels : LabelTerms
        The losses without b.
    along : ndarray of shape (l,)
        h.
    cost : float
        t.
    """

    def __init__(self, labels: LabelTerms, along: Vector, cost: float) -> None:
        self._labels = labels
        self._along = along
        self._cost = cost
        self._width = 1.0
        self._b = 0.0

    def intercept(self, v: Vector) -> float:
        """Return the best b at v."""
        self._shifted(self.scores(v), self._width)
        return self._b

    def scores(self, v: Vector) -> Vector:
        """Return the scores without b."""
        return self._labels.scores(v)

    def adjoint(self, g: Vector) -> Vector:
        """Return sum_i g_i phi_i."""
        return self._labels.adjoint(g)

    def value(self, s: Vector, width: float) -> float:
        """Return T_h; width 0 takes the b of the last width, which is nearly the best one."""
        f = self._shifted(s, width or self._width)
        return self._labels.value(f, width) + self._cost * self._b**2

    def gradient(self, s: Vector, width: float) -> Vector:
        """Return the losses' derivatives at the best b, where the derivative in b is 0."""
        return self._labels.gradient(self._shifted(s, width), width)

    def residual(self, s: Vector, width: float) -> float:
        """Return the error of smoothing; b adds nothing to it, because b is the best one of T_h."""
        return self._labels.residual(self._shifted(s, width), width)

    def newton_step(self, g: Vector, s: Vector, width: float) -> Vector:
        """Solve with A' (D - D h h' D / (h' D h + 2 t)) A, D the losses' curvatures.

        The matrix is R' R, with a row of R for each curved loss, less what a change of b undoes.
        """
        f = self._shifted(s, width)
        root_D = np.sqrt(self._curvature(f, width))
        bent = np.flatnonzero(root_D)
        rows = self._labels.phi[bent] * root_D[bent, None]
        w = root_D[bent] * self._along[bent]
        squared = float(w @ w)
        if squared:
            answered = 1.0 - np.sqrt(2 * self._cost / (squared + 2 * self._cost))
            rows = rows - np.outer((answered / squared) * w, w @ rows)
        return solve_rows(rows, g)

    def _curvature(self, f: Vector, width: float) -> Vector:
        labels = self._labels
        return labels.cost * labels.loss.smoothed(width).curvature(labels.y, f)

    def _shifted(self, s: Vector, width: float) -> Vector:
        """Return the scores with the best b, found from the last one."""
        self._width = width
        h, t = self._along, self._cost

        def look(b: float) -> tuple[float, float]:
            f = s + b * h
            slope = float(h @ self._labels.gradient(f, width)) + 2 * t * b
            return slope, float(h**2 @ self._curvature(f, width)) + 2 * t

        # Slopes of a smoothed kink change within its width.
        self._b = root(look, self._b, width)
        return np.asarray(s + self._b * h)


def _warn_of_distance(iteration: DampedNewton) -> None:
    warnings.warn(
        f"Newton's method stopped after {iteration.n_iter} steps with the objective within "
        f"{iteration.gap:.2g} of its minimum; it is {iteration.value:.4g}. Pass a larger max_iter "
        "or tol.",
        ConvergenceWarning,
        stacklevel=5,
    )
