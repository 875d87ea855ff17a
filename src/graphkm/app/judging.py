"""How good the live model is, and which labels it doubts: by scores without the row's own label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .live_model import Fit
from .targets import OneClass

_MISTAKES = 20  # likely mistakes that are listed, at most
FEWEST = 5
"""With fewer rows drawn at random nothing is said of errors."""

Array = NDArray[np.float64]


def judged(
    fit: Fit, kind: OneClass, table: Array, checks: NDArray[np.bool_]
) -> dict[str, Any] | None:
    """Return how good the model is on rows drawn at random, each without its own label.

    Parameters
    ----------
    fit : Fit
    kind : OneClass
        What labels are.
    table : ndarray of shape (n_labeled, n_columns)
        The labels.
    checks : ndarray of bool of shape (n_labeled,)
        Which of these rows were drawn at random.
    """
    n = int(checks.sum())
    if n < FEWEST:
        return None
    errors = kind.errors(fit.held_out[checks], table[checks])
    mean, alone = (
        float(errors.mean()),
        float(kind.errors(fit.without[checks], table[checks]).mean()),
    )
    if kind.shares_count:
        low, high = wilson(1.0 - mean, n)
        return {"value": 1.0 - mean, "low": low, "high": high, "without": 1.0 - alone, "rows": n}
    spread = 1.96 * float(errors.std(ddof=1)) / n**0.5
    found = {"value": mean, "low": max(0.0, mean - spread), "high": mean + spread}
    return {**found, "without": alone, "rows": n}


def mistakes(
    fit: Fit, kind: OneClass, table: Array, rows: NDArray[np.int64], labels: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the labelled rows on which the model, without their label, disagrees most."""
    gap, said = kind.gaps(fit.held_out, table), kind.words(kind.codes(fit.held_out))
    worst = [k for k in np.argsort(-gap, kind="stable").tolist() if gap[k] > 0][:_MISTAKES]
    return [{"row": int(rows[k]), "label": labels[k], "said": said[k]} for k in worst]


def wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share that was counted in n cases.

    Examples
    --------
    >>> [round(v, 3) for v in wilson(0.9, 50)]
    [0.786, 0.957]
    """
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)
