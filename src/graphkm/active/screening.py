r"""When to stop looking for relevant rows: an upper bound on how many are left.

Rows are screened in the order of their probability of being relevant, so the relevant ones come
early. When is enough found? Of N rows that are left, n are drawn at random, and k of them are
relevant. Let K be how many of the N are relevant. Its likelihood is hypergeometric,

.. math::

    L(K) = \binom{K}{k} \binom{N - K}{n - k} \Big/ \binom{N}{n} .

With weights w that were fixed before the draw, the set of all K with
:math:`\sum_{K'} w(K') L(K') < L(K) / \alpha` holds the true K at all times with the probability
:math:`1 - \alpha` (Ville's inequality; Waudby-Smith and Ramdas, "Confidence sequences for sampling
without replacement", NeurIPS 2020). So one may look after every row, and stop when it looks well.
The weights are beta-binomial, and their mean is the K with which the recall is just reached.

Callaghan and Müller-Hansen ("Statistical stopping criteria for automated screening in systematic
reviews", Systematic Reviews 9:273, 2020) test the recall by the hypergeometric distribution as
well. Their test is for one look. Without a random draw they take every last part of the ranked
order as if it had been drawn, and use the least p-value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, gammaln, logsumexp
from scipy.stats import hypergeom

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Recall:
    """What is known of the relevant rows that are left.

    Parameters
    ----------
    found : int
        The relevant rows so far.
    left_at_most : int
        The most relevant rows that may be left, with the probability 1 - alpha.
    at_least : float
        The least recall so far, with the same probability; 1 if no row is relevant.
    p_value : float
        Of the test of Callaghan and Müller-Hansen that the target is not reached, for one look.
    enough : bool
        Whether `at_least` reaches the target.
    """

    found: int
    left_at_most: int
    at_least: float
    p_value: float
    enough: bool


def recall_so_far(
    relevant: ArrayLike, n_rows: int, *, drawn: int = 0, target: float = 0.95, alpha: float = 0.05
) -> Recall:
    """Return a bound on the recall of a search that may be looked at as often as one likes.

    Parameters
    ----------
    relevant : array-like of bool of shape (n_screened,)
        Whether each row is relevant that was screened so far, in this order.
    n_rows : int
        The number of all rows, screened or not.
    drawn : int, default=0
        How many of the last rows were drawn at random among all that were left. Without any the
        bound is that all other rows may be relevant.
    target : float, default=0.95
        The recall that is enough.
    alpha : float, default=0.05
        The probability to be wrong, at any look.

    Returns
    -------
    Recall

    Examples
    --------
    >>> import numpy as np
    >>> ranked = np.repeat([True, False], [95, 400])  # the model brought these rows first
    >>> recall_so_far(np.append(ranked, np.zeros(100, bool)), 2000, drawn=100).enough
    False
    >>> found = recall_so_far(np.append(ranked, np.zeros(900, bool)), 2000, drawn=900)
    >>> found.enough, found.left_at_most
    (True, 4)
    """
    said = _checked(relevant, n_rows, drawn, target, alpha)
    before = said[: len(said) - drawn]
    found, k, n_left = int(said.sum()), int(said[len(said) - drawn :].sum()), n_rows - len(before)
    most = _most(n_left, drawn, k, _usual(int(before.sum()), target), alpha)
    at_least = found / (found + most - k) if found + most - k else 1.0
    p_value = (
        _p_value(n_left, drawn, k, found, target) if drawn else ranked_p_value(said, n_rows, target)
    )
    return Recall(found, most - k, at_least, p_value, at_least >= target)


def ranked_p_value(relevant: ArrayLike, n_rows: int, target: float = 0.95) -> float:
    """Return the least p-value over all last parts of a ranked order, taken as random draws.

    It is a heuristic. It is careful where the order is better than chance, because ranked rows are
    more often relevant than those that are left; many parts are tried, which it does not count.

    Parameters
    ----------
    relevant : array-like of bool
        Whether each screened row is relevant, in the order of screening.
    n_rows : int
        The number of all rows.
    target : float, default=0.95

    Examples
    --------
    >>> import numpy as np
    >>> order = np.repeat([True, False], [20, 180])
    >>> round(ranked_p_value(order, 1000), 3), round(ranked_p_value(order, 210), 3)
    (0.666, 0.003)
    """
    said = np.asarray(relevant, dtype=bool)
    found = int(said.sum())
    if not found or len(said) == n_rows:
        return 0.0 if len(said) == n_rows else 1.0
    drawn = np.arange(1, len(said) + 1)
    inside = np.cumsum(said[::-1])
    return float(np.min(_p_value(n_rows - len(said) + drawn, drawn, inside, found, target)))


def _p_value(n_left: Any, drawn: Any, k: Any, found: int, target: float) -> Any:
    """Return how likely so few relevant rows are drawn if the target is just missed."""
    missed = np.floor(found / target - (found - k) + 1)  # the least K that misses the target
    chance = hypergeom.cdf(k, n_left, np.minimum(missed, n_left), drawn)
    return np.where(missed > n_left - drawn + k, 0.0, chance)  # there are not so many rows


def _usual(found: int, target: float) -> float:
    """Return the relevant rows left with which the target is just reached, at least one."""
    return max(1.0, found * (1.0 - target) / target)


def _most(n_left: int, drawn: int, k: int, usual: float, alpha: float) -> int:
    """Return the largest number of relevant rows among n_left that the draw does not rule out."""
    K = np.arange(k, n_left - drawn + k + 1, dtype=np.float64)
    likelihood = _log_choose(K, k) + _log_choose(n_left - K, drawn - k)
    weights = _log_weights(K, n_left, usual)
    inside = logsumexp(weights + likelihood) + np.log(alpha) < likelihood
    return int(K[np.flatnonzero(inside)[-1]])


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def _log_weights(K: Array, n: int, mean: float) -> Array:
    """Return the log of beta-binomial weights of 0..n with this mean: a geometric one, cut off."""
    b = max(n / mean - 1.0, 1e-9)
    return np.asarray(_log_choose(float(n), K) + betaln(K + 1.0, n - K + b) - betaln(1.0, b))


def _checked(
    relevant: ArrayLike, n_rows: int, drawn: int, target: float, alpha: float
) -> NDArray[np.bool_]:
    said = np.asarray(relevant)
    if said.ndim != 1 or not np.isin(said, (0, 1)).all():
        raise ValueError("relevant has one True or False for each row that was screened.")
    if len(said) > n_rows:
        raise ValueError(f"n_rows={n_rows} is less than the {len(said)} rows that were screened.")
    if not 0 <= drawn <= len(said):
        raise ValueError(
            f"drawn={drawn} of the {len(said)} rows that were screened; from 0 to all."
        )
    for name, share in (("target", target), ("alpha", alpha)):
        if not 0.0 < share < 1.0:
            raise ValueError(f"{name}={share!r} must be above 0 and below 1.")
    return said.astype(bool)
