"""How often an address may try a wrong secret."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

TRIES = 10
"""Wrong secrets that an address may try at once."""

_PER_SECOND = TRIES / 60  # further tries that it earns
_ADDRESSES = 10_000  # addresses that are remembered, at most


class Knocking:
    """Counts wrong secrets for each address.

    An address that has tried too many is refused, with a right secret as well: it learns nothing by
    further guesses. People who were let in from this address before are still let in, so nobody
    behind the same router or proxy can shut them out.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> knocking = Knocking(clock=lambda: 0.0)
    >>> for _ in range(TRIES):
    ...     knocking.wrong("192.0.2.1")
    >>> knocking.waits("192.0.2.1", "eva"), knocking.waits("192.0.2.9", "eva")
    (6, 0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tries, and since when
        self._known: OrderedDict[tuple[str, object], None] = OrderedDict()

    def wrong(self, address: str) -> None:
        """Note a wrong secret."""
        self._left[address] = self._tries(address) - 1, self._clock()
        self._left.move_to_end(address)
        if len(self._left) > _ADDRESSES:
            self._left.popitem(last=False)

    def right(self, address: str, person: object) -> None:
        """Note a right secret."""
        self._known[address, person] = None
        self._known.move_to_end((address, person))
        if len(self._known) > _ADDRESSES:
            self._known.popitem(last=False)

    def waits(self, address: str, person: object) -> int:
        """Return for how many seconds a person is refused there; 0 if the person may come in."""
        left = self._tries(address)
        if left >= 1 or (address, person) in self._known:
            return 0
        return max(1, round((1 - left) / _PER_SECOND))

    def _tries(self, address: str) -> float:
        left, since = self._left.get(address, (float(TRIES), 0.0))
        return min(float(TRIES), left + (self._clock() - since) * _PER_SECOND)
