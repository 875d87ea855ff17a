"""Tasks that make for themselves what no other task needs.

A partition is read by a few tasks, and used by one. If Dask may put these on several workers, rows
travel, and wait in memory. So they become one task: rows are read where they are used, and nothing
of them is left when it is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from dask._task_spec import Task, convert_legacy_graph
from dask.core import get_dependencies
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph


def fused(tasks: Sequence[Delayed]) -> list[Delayed]:
    """Return the same tasks, each with all that it alone needs.

    What several of them need remains a task of its own, and so do results that are there already.

    Examples
    --------
    >>> from dask import delayed
    >>> both = delayed(sum)([1, 2])
    >>> one, other = fused([delayed(max)(both, delayed(abs)(-k)) for k in (3, 5)])
    >>> len(one.dask), one.compute(), other.compute()
    (3, 3, 5)
    """
    graph = dict(HighLevelGraph.merge(*(task.__dask_graph__() for task in tasks)))
    nodes: dict[Any, Any] = convert_legacy_graph(graph)
    own = defaultdict(list)
    for key, number in _users(graph, [task.key for task in tasks]).items():
        if number is not None and key in nodes:  # futures are no nodes
            own[number].append(nodes[key])
    inside = {node.key for group in own.values() for node in group}
    found = {key: value for key, value in graph.items() if key not in inside}
    for number, task in enumerate(tasks):
        found[task.key] = Task.fuse(*own[number], key=task.key)
    return [Delayed(task.key, found) for task in tasks]


def _users(graph: dict[Any, Any], keys: Sequence[Any]) -> dict[Any, int | None]:
    """Return which of the tasks with these keys needs a key; None if several do."""
    users: dict[Any, int | None] = {}
    for number, wanted in enumerate(keys):
        ahead = [wanted]
        while ahead:
            key = ahead.pop()
            known = users.get(key, number)
            if key in users and known in (number, None):
                continue
            users[key] = number if known == number else None
            ahead += [each for each in get_dependencies(graph, key) if each in graph]
    return users
