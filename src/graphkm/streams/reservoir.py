"""Which rows of an endless stream are kept, and which were kept at any moment.

Every row that is offered uses one random number, whether it is kept or not. So what is kept after
a row depends only on the rows before it, and not on how the stream is cut into calls.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Reservoir:
    """Slots for a sample of all rows offered so far.

    Parameters
    ----------
    size : int
        Slots.
    half_life : float or None
        None keeps a uniform sample (Vitter's algorithm R). A number h keeps a row for h rows of
        the stream with probability 1/2, for 2h rows with 1/4, and so on (Aggarwal, 2006). At
        most as many slots are used as rows are offered during h / log(2) rows: with more,
        rows could not be replaced as fast as they must be forgotten.
    rng : numpy.random.Generator
        Used by nobody else.

    Examples
    --------
    >>> kept = Reservoir(2, None, np.random.default_rng(0))
    >>> slots, filled = kept.offer(np.arange(1, 6))
    >>> slots[:2], filled
    (array([0, 1]), array([1, 2, 2, 2, 2]))
    """

    def __init__(self, size: int, half_life: float | None, rng: np.random.Generator) -> None:
        self.rng = rng
        self.filled = 0  # slots in use: the first ones
        self.n_offered = 0
        self._size = size
        self._half_life = half_life

    def offer(self, positions: Ints) -> tuple[Ints, Ints]:
        """Return the slot that every row goes to, -1 if none, and the slots in use after it.

        `positions` are the rows' places in the stream, counted from 1. Rows that are not
        offered here count for the half-life too.
        """
        number = self.n_offered + 1 + np.arange(len(positions))
        draws = self.rng.random(len(positions))
        if self._half_life is None:
            limit = np.full(len(number), self._size)
            accepted = limit / number
        else:
            coming = self._half_life / log(2) * number / positions
            limit = np.clip(coming, 1, self._size).astype(np.int64)
            accepted = np.minimum(1.0, limit / coming)
        # Each row fills one more slot, up to `limit`: so the least of limit_j + (i - j) are filled.
        room = np.minimum.accumulate(np.append(self.filled, limit - np.arange(1, len(limit) + 1)))
        filled = room + np.arange(len(room))
        slot = np.minimum(draws / accepted * limit, self._size)
        slot = np.where(slot < limit, slot, -1).astype(np.int64)
        slot = np.where(filled[:-1] < limit, filled[:-1], slot)
        self.n_offered += len(positions)
        self.filled = int(filled[-1])
        return slot, filled[1:]


class Kept:
    """What a reservoir holds after each of some rows that arrive.

    Entries are places in a table. The slots as they were before begin at `base`, and the rows that
    arrive begin at `arrivals`.

    Parameters
    ----------
    base : int
        Where the slots begin.
    arrivals : int
        Where the rows that arrive begin.
    counts : ndarray of int
        Slots in use after each arrival.
    times, slots : ndarray of int
        Which of the arriving rows were kept, in order, and in which slots.

    Examples
    --------
    >>> kept = Kept(0, 10, np.array([3, 3, 3, 3]), np.array([0, 3]), np.array([2, 1]))
    >>> kept.entry(np.array([1, 1, 2]), np.array([2, 3, 0]))
    array([ 1, 13, 10])
    >>> kept.final()
    array([ 0, 13, 10])
    """

    def __init__(self, base: int, arrivals: int, counts: Ints, times: Ints, slots: Ints) -> None:
        self._base, self._arrivals, self._counts = base, arrivals, counts
        self._span = len(counts)
        order = np.lexsort((times, slots))
        self._times, self._slots = times[order], slots[order]
        self._keys = self._slots * self._span + self._times
        self._touched = np.zeros(int(max(counts.max(initial=0), slots.max(initial=0) + 1)), bool)
        self._touched[slots] = True

    def count(self, time: Ints) -> Ints:
        """Return the slots in use after the arrivals `time`."""
        return self._counts[time]

    def entry(self, slot: Ints, time: Ints) -> Ints:
        """Return what the slots held after the arrivals `time`."""
        out = self._base + slot
        asked = np.nonzero(self._touched[slot])  # late in a stream, few slots change
        key = slot[asked] * self._span + time[asked]
        last = np.searchsorted(self._keys, key, side="right") - 1
        replaced = (last >= 0) & (self._slots[last] == slot[asked])
        out[asked] = np.where(replaced, self._arrivals + self._times[last], out[asked])
        return out

    def draw(self, fraction: Floats, time: Ints) -> Ints:
        """Return entries chosen by numbers in [0, 1); some slot must be in use at that time."""
        return self.entry(pick(fraction, self.count(time)), time)

    def final(self) -> Ints:
        """Return the entries after the last arrival, one for every slot in use."""
        count = int(self._counts[-1])
        return self.entry(np.arange(count), np.full(count, self._span - 1))


def offer_both(
    labels: Reservoir, others: Reservoir, labeled: NDArray[np.bool_], n_rows: int, arrivals: int
) -> tuple[Kept, Kept]:
    """Offer rows to two reservoirs, and return what these hold as the rows come.

    The table of entries has the slots of `others`, those of `labels`, and from `arrivals` on the
    rows. `n_rows` came before them.
    """
    both, base = [], 0
    for reservoir, offered in ((others, ~labeled), (labels, labeled)):
        before = reservoir.filled
        times = np.flatnonzero(offered)
        slots, filled = reservoir.offer(n_rows + 1 + times)
        counts = np.append(before, filled)[np.cumsum(offered)]
        stays = slots >= 0
        both.append(Kept(base, arrivals, counts, times[stays], slots[stays]))
        base += before
    return both[1], both[0]


def pick(fraction: Floats, count: Ints) -> Ints:
    """Return whole numbers below `count` for numbers in [0, 1).

    Examples
    --------
    >>> pick(np.array([0.0, 0.5, 0.999]), np.array([4, 4, 4]))
    array([0, 2, 3])
    """
    # Rounding may raise a product to `count` itself.
    return np.minimum((fraction * count).astype(np.int64), np.maximum(count - 1, 0))
