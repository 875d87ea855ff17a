"""What more labels would give: the live model with fewer labels, and a law of learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inspection.curve import INSIDE, mean_losses
from ..inspection.law import fit_law
from ..inspection.refits import PARTS
from .live_model import Fit, LiveModel
from .targets import OneClass

MORE = 100
"""How many labels the page looks ahead."""
_REPEATS = 3  # fits with each number of labels
_FEWEST = 20  # with fewer labels nothing is said
_MOST = 800  # labels that are taken for the fits, at most

Array = NDArray[np.float64]


def outlook(
    model: LiveModel, fit: Fit, kind: OneClass, table: Array, checks: NDArray[np.bool_], left: int
) -> dict[str, Any] | None:
    """Return the accuracy that is expected now and with more labels, with 80 % intervals.

    The model is fitted with a quarter, a half and three quarters of the labels, with the setting
    that all labels chose. Rows that were drawn at random, and whose labels a fit did not see, score
    it. The scores of the whole model without each row's own label are one more measurement.

    Parameters
    ----------
    model, fit
        The live model, and its fit to all labels.
    kind, table
        What labels are, and the labels.
    checks : ndarray of bool of shape (n_labeled,)
        Which labelled rows were drawn at random.
    left : int
        How many rows have no label.

    Returns
    -------
    dict or None
        `more`, and `now`, `low` and `high`; None if labels are too few, if none is left to give,
        or if labels are quantities, whose error has no scale of its own.
    """
    labels = len(fit.rows)
    if not kind.shares_count or labels < _FEWEST or not checks.any() or not left:
        return None
    rng = np.random.default_rng(0)
    among = np.sort(rng.permutation(labels)[:_MOST])
    losses, sizes = [], []
    for size in (round(part * len(among)) for part in PARTS):
        for _ in range(_REPEATS):
            chosen = np.zeros(labels, dtype=bool)
            chosen[rng.permutation(among)[:size]] = True
            tested = checks & ~chosen
            if tested.any():
                scores = model.told_by(fit.rows, table, fit.setting, chosen, tested)
                losses.append(np.full(labels, np.nan))
                losses[-1][tested] = kind.errors(scores, table[tested])
                sizes.append(size)
    losses.append(np.where(checks, kind.errors(fit.held_out, table), np.nan))
    sizes.append(labels - 1)
    means, noise = mean_losses(np.stack(losses), np.ones(labels))
    law = fit_law(labels, np.array(sizes, dtype=np.float64), means, noise)
    more, outer = min(MORE, left), (1.0 - INSIDE) / 2.0
    low, high = (1.0 - law.quantile(labels + more, share) for share in (1.0 - outer, outer))
    return {"more": more, "now": 1.0 - law.quantile(labels, 0.5), "low": low, "high": high}
