"""What the convergence theorem of GKM promises for given parameters.

Everything here is in the paper's units: the losses and the edges are averaged. The
estimators multiply the sum of the losses, as `sklearn.svm.SVC` does. So with l labelled
points

    paper's C = l * estimator's C,    paper's C' = l * estimator's C_graph.

`Guarantee.for_estimator` applies this mapping.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantee:
    """The 1/T guarantee of the stochastic solver, in the paper's units.

    With a = C' (2R)^p p and b = C A the theorem holds if p < 2, or p = 2 and a < 1,
    or p > 2 and a b^(p-2) <= (p-2)^(p-2) / (p-1)^(p-1). Without a graph (a = 0) it
    holds for every p.

    Parameters
    ----------
    C : float
        Weight of the mean loss: l times the estimator's C.
    C_graph : float
        Weight C' of the mean edge term: l times the estimator's C_graph.
    p : float
        Exponent of the smoothness |t|^p, at least 1.
    R : float
        Bound of ||Phi(x)|| = k(x, x)^(1/2). It bounds differences of features. An intercept is a
        constant that is added to the kernel: it cancels here, and counts in A.
    A : float
        Bound of the norm of the loss gradient: the loss's Lipschitz constant times
        the bound of ||Phi(x)||, intercept included.

    Examples
    --------
    >>> guarantee = Guarantee(C=2.0, C_graph=0.0625, p=2, R=1.0, A=1.0)
    >>> guarantee.holds, guarantee.M, guarantee.G
    (True, 4.0, 8.0)
    >>> guarantee.bound(1000)
    0.128
    >>> print(Guarantee(C=2.0, C_graph=1.0, p=2, R=1.0, A=1.0))
    No guarantee: p = 2 needs C_graph < 0.125 in the paper's units, and it is 1. \
Lower C_graph, or take p < 2.
    """

    C: float
    C_graph: float
    p: float
    R: float
    A: float

    def __post_init__(self) -> None:
        """Refuse negative, infinite or missing constants."""
        for name, least in {"C": 0, "C_graph": 0, "p": 1, "R": 0, "A": 0}.items():
            value = getattr(self, name)
            if not least <= value < math.inf:
                raise ValueError(f"{name} must be finite and at least {least}, got {value!r}.")

    @classmethod
    def for_estimator(
        cls,
        C: float,
        C_graph: float,
        n_labeled: int,
        p: float,
        R: float,
        A: float,
        max_weight: float = 1.0,
    ) -> "Guarantee":
        """Return the guarantee for an estimator's own parameters.

        Parameters
        ----------
        C, C_graph : float
            As given to the estimator.
        n_labeled : int
            Number of labelled points, l.
        p, R, A : float
            As in `Guarantee`.
        max_weight : float, default=1.0
            Largest edge weight. The theorem assumes weights of at most 1. A larger weight
            multiplies C_graph.

        Returns
        -------
        Guarantee
            In the paper's units.

        Examples
        --------
        >>> Guarantee.for_estimator(C=1.0, C_graph=0.01, n_labeled=10, p=2, R=1.0, A=1.0)
        Guarantee(C=10.0, C_graph=0.1, p=2, R=1.0, A=1.0)
        """
        return cls(n_labeled * C, n_labeled * C_graph * max(1.0, max_weight), p, R, A)

    @property
    def a(self) -> float:
        """The strength of the edge term, C' (2R)^p p."""
        return self.C_graph * _power(2 * self.R, self.p) * self.p if self.C_graph else 0.0

    @property
    def b(self) -> float:
        """The strength of the loss term, C A."""
        return self.C * self.A

    @property
    def holds(self) -> bool:
        """Whether the theorem's condition is met."""
        if self.p < 2:
            return True
        if self.p == 2:
            return self.a < 1
        return self.C_graph <= largest_C_graph(self.C, self.p, self.R, self.A)

    @property
    def M(self) -> float:
        """Radius of a ball that contains all iterates; inf if the condition fails."""
        a, b, p = self.a, self.b, self.p
        if not self.holds:
            return math.inf
        if a == 0:
            return b
        if p < 2:
            return max(1.0, _power(a + b, 1 / (2 - p)))
        return b / (1 - a) if p == 2 else _power((p - 1) * a, -1 / (p - 2))

    @property
    def G(self) -> float:
        """Bound M + b + a M^(p-1) of the stochastic gradients; inf if the condition fails."""
        M = self.M
        edge = self.a * _power(M, self.p - 1) if self.a else 0.0
        return float(M + self.b + edge)  # Python's float: its products overflow to inf

    def bound(self, T: float) -> float:
        """Return 2 G^2 / T, the bound of E[J(w_T)] - J(w*) after T steps."""
        if not T > 0:
            raise ValueError(f"T counts steps and must be positive, got {T!r}.")
        # A product overflows to inf, where a power would raise.
        return 2 * self.G * self.G / T

    def distance_bound(self, T: float) -> float:
        """Return 4 G^2 / T, the bound of E||w_T - w*||^2 after T steps."""
        return 2 * self.bound(T)

    def iterations(self, eps: float, delta: float) -> float:
        """Return the steps after which J is within eps of its minimum, with probability 1 - delta.

        Parameters
        ----------
        eps : float
            Precision of J, positive.
        delta : float
            Probability of missing it, in (0, 1].

        Returns
        -------
        int or inf
            T_0 = ceil(2 G^2 / (eps delta)), at least 1: for each T >= T_0,
            J(w_T) <= J(w*) + eps with probability 1 - delta. inf without a guarantee.

        Examples
        --------
        >>> Guarantee(C=1.0, C_graph=0.0, p=1, R=1.0, A=1.0).iterations(0.25, 0.5)
        64
        """
        if not (0 < eps < math.inf and 0 < delta <= 1):
            raise ValueError(
                f"eps must be positive and delta in (0, 1], got eps={eps!r}, delta={delta!r}."
            )
        steps = self.bound(1) / eps / delta
        return max(1, math.ceil(steps)) if steps < math.inf else math.inf

    def __str__(self) -> str:
        """Say in a sentence or two what is promised."""
        if self.holds:
            return (
                f"After T steps the expected objective is within {self.bound(1):.4g} / T of its "
                f"minimum (p = {self.p:g}, ||w|| <= {self.M:.4g}, ||g|| <= {self.G:.4g})."
            )
        limit, sign = largest_C_graph(self.C, self.p, self.R, self.A), "<" + "=" * (self.p > 2)
        return (
            f"No guarantee: p = {self.p:g} needs C_graph {sign} {limit:.4g} in the paper's units, "
            f"and it is {self.C_graph:.4g}. Lower C_graph, or take p < 2."
        )


def largest_C_graph(C: float, p: float, R: float, A: float) -> float:
    """Return the supremum of the C' the theorem allows, in the paper's units.

    For p > 2 the value itself is allowed. For p = 2 it is not, because M grows without
    bound near it: take a fraction of it.

    Parameters
    ----------
    C, p, R, A : float
        As in `Guarantee`.

    Returns
    -------
    float
        (p-2)^(p-2) / ((p-1)^(p-1) (2R)^p p (CA)^(p-2)) for p >= 2, inf for p < 2.

    Examples
    --------
    >>> largest_C_graph(C=1.0, p=2, R=1.0, A=1.0)
    0.125
    """
    if p < 2:
        return math.inf
    log_b = _log2_power(C, p - 2) + _log2_power(A, p - 2)
    return _exp2(_log2_limit(p) - _log2_power(2 * R, p) - log_b)


def largest_sigma_f(C: float, C_graph: float, p: float) -> float:
    """Return the largest sigma_f the theorem allows, for R = A = sigma_f.

    Parameters
    ----------
    C, C_graph, p : float
        As in `Guarantee`.

    Returns
    -------
    float
        ((p-2)^(p-2) / ((p-1)^(p-1) 2^p p C' C^(p-2)))^(1/(2p-2)) for p >= 2, inf for p < 2
        or C_graph = 0. At p = 2 the value itself is not allowed.

    Examples
    --------
    >>> largest_sigma_f(C=1.0, C_graph=0.125, p=2)
    1.0
    """
    if p < 2:
        return math.inf
    log_C = _log2_power(C, p - 2) + _log2_power(C_graph, 1)
    return _exp2((_log2_limit(p) - p - log_C) / (2 * p - 2))


def _log2_limit(p: float) -> float:
    """Return log2 of (p-2)^(p-2) / ((p-1)^(p-1) p)."""
    return _log2_power(p - 2, p - 2) - _log2_power(p - 1, p - 1) - math.log2(p)


def _log2_power(base: float, exponent: float) -> float:
    """Return log2(base^exponent) with 0^0 = 1, as the limit p -> 2 needs."""
    if exponent == 0:
        return 0.0
    return exponent * math.log2(base) if base > 0 else -math.inf


def _exp2(x: float) -> float:
    """Return 2^x, inf where it overflows."""
    return _power(2.0, x)


def _power(base: float, exponent: float) -> float:
    """Return base^exponent, inf where it overflows or base is 0 and exponent negative."""
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        return math.inf
