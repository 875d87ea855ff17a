"""The search of a device: exact for small work, in cells with measured recall for large work."""

import numpy as np
import pytest

from graphkm.neighbours import on_device
from graphkm.neighbours.on_device import DeviceSearch
from graphkm.neighbours.recall import RECALL, recall

N, K = 600, 5


def every_distance(queries, rows):
    return np.square(queries[:, None] - rows[None]).sum(axis=2)


def sorted_places(d2, k):
    order = np.argsort(d2, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(d2, order, axis=1)


class Cells:
    """Strips of the first column. A query reads the strips nearest to its own."""

    n_cells = 40

    def __init__(self, rows):
        self.rows = rows
        self.edges = np.quantile(rows[:, 0], np.linspace(0, 1, self.n_cells + 1)[1:-1])
        self.asked = []

    def nearest(self, queries, k, probes):
        self.asked.append(probes)
        given = self.rows if queries is None else queries
        d2 = every_distance(given, self.rows)
        own, others = (np.searchsorted(self.edges, each[:, 0]) for each in (given, self.rows))
        d2[2 * np.abs(own[:, None] - others[None]) > probes] = np.inf
        if queries is None:
            np.fill_diagonal(d2, np.inf)
        near, d2 = sorted_places(d2, k)
        return np.where(np.isfinite(d2), near, -1), d2

    def nearest_of(self, own, k, probes):
        near, d2 = self.nearest(None, k, probes)
        return near[own], d2[own]


class Search:
    most = 64

    def __init__(self, rows):
        self.rows, self.cells, self.searched = rows, Cells(rows), 0

    def nearest(self, queries, k):
        self.searched += len(self.rows if queries is None else queries)
        d2 = every_distance(self.rows if queries is None else queries, self.rows)
        if queries is None:
            np.fill_diagonal(d2, np.inf)
        return sorted_places(d2, k)

    def nearest_of(self, own, k):
        self.searched += len(own)
        d2 = every_distance(self.rows[own], self.rows)
        d2[np.arange(len(own)), own] = np.inf
        return sorted_places(d2, k)


class Backend:
    def search(self, rows):
        return Search(rows)


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(N, 2))


@pytest.mark.parametrize("most_work, in_cells", [(N * N * 2, False), (N * N * 2 - 1, True)])
def test_work_beyond_the_limit_is_done_in_cells(rows, monkeypatch, most_work, in_cells):
    monkeypatch.setattr(on_device, "EXACT_WORK", float(most_work))
    search = DeviceSearch(Backend(), rows, exact=False)
    true = Search(rows).nearest(None, K)
    near, d2 = search.nearest(None, K)
    assert bool(search.probes(K)) == in_cells
    if in_cells:
        assert RECALL - 0.03 < recall(d2, true[1]) <= 1.0
        assert search._search.cells.asked[-1] == search.probes(K)
    else:
        np.testing.assert_array_equal(near, true[0])
        assert not search._search.cells.asked
    assert not DeviceSearch(Backend(), rows, exact=True).probes(K)


def test_as_few_cells_are_read_as_find_enough(rows, monkeypatch):
    monkeypatch.setattr(on_device, "EXACT_WORK", 0.0)
    search = DeviceSearch(Backend(), rows, exact=False)
    probes, tried = search.probes(K), search._search.cells.asked
    assert tried == [each for each in (1, 2, 3, 4, 6, 8, 12) if each <= probes]
    sample = on_device.sample_of(N)
    true = Search(rows).nearest_of(sample, K)[1]
    cells = Cells(rows)
    assert recall(cells.nearest_of(sample, K, probes)[1], true) >= RECALL
    assert recall(cells.nearest_of(sample, K, tried[-2])[1], true) < RECALL
    assert search.probes(K) == probes
    assert search._search.cells.asked is tried
    assert tried[-1] == probes


def test_queries_whose_cells_hold_too_few_rows_are_searched_exactly(rows, monkeypatch):
    monkeypatch.setattr(on_device, "EXACT_WORK", 0.0)
    monkeypatch.setattr(on_device, "enough_probes", lambda *given: 1)
    search = DeviceSearch(Backend(), rows, exact=False)
    k = N // Cells.n_cells + 5  # more than the rows of a strip
    search.probes(k)
    before = search._search.searched
    near = search.nearest(None, k)[0]
    assert search._search.searched - before == N
    np.testing.assert_array_equal(near, Search(rows).nearest(None, k)[0])
    queries = rows[:20] + 0.01
    np.testing.assert_array_equal(
        search.nearest(queries, k)[0], Search(rows).nearest(queries, k)[0]
    )


@pytest.mark.long
def test_rows_that_no_quarter_of_the_cells_can_find_are_searched_exactly(monkeypatch):
    monkeypatch.setattr(on_device, "EXACT_WORK", 0.0)
    rows = np.random.default_rng(0).normal(size=(N, 30))  # strips of one column say nothing
    search = DeviceSearch(Backend(), rows, exact=False)
    assert search.probes(K) == 0
    np.testing.assert_array_equal(search.nearest(None, K)[0], Search(rows).nearest(None, K)[0])
