"""Tasks that are fused give what they gave before, whatever they share."""

from __future__ import annotations

import random

import pytest

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

from dask import delayed  # noqa: E402

from graphkm.dask.fusing import fused  # noqa: E402


@delayed
def one_more(numbers):
    return sum(numbers) + 1


def drawn(seed):
    """A graph of sums that share others, and some of its tasks; one may come twice."""
    rng, nodes = random.Random(seed), []
    for k in range(rng.randint(1, 14)):
        nodes.append(one_more([*rng.sample(nodes, rng.randint(0, min(3, len(nodes)))), k]))
    return rng.choices(nodes, k=rng.randint(1, 4))


@pytest.mark.parametrize("seed", range(40))
def test_results_stay(seed):
    tasks = drawn(seed)
    with dask.config.set(scheduler="sync"):
        assert dask.compute(*fused(tasks)) == dask.compute(*tasks)


def test_what_one_task_needs_is_inside_and_what_several_need_is_not():
    read = [one_more([k]) for k in range(2)]
    shared = one_more([7])
    found = fused([one_more([one_more([part]), shared]) for part in read])
    keys = set(found[0].dask)
    assert keys == {found[0].key, found[1].key, shared.key}


def test_a_task_that_another_one_needs_stays():
    first = one_more([1])
    second = one_more([first, 5])
    assert [len(each.dask) for each in fused([first, second])] == [2, 2]
    assert [len(each.dask) for each in fused([first, first])] == [1, 1]
    assert fused([]) == []
