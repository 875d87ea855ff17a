"""Tasks that make for themselves what no other task needs.

A partition is read by a few tasks, and used by one. If Dask may put these on several workers, rows
travel, and wait in memory. So they become one task: rows are read where they are used, and nothing
of them is left when it is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from typing import Any

from dask._task_spec import Task, convert_legacy_graph
from dask.core import get_dependencies
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph


def fused(tasks: Sequence[Delayed]) -> list[Delayed]:
    """Return the same tasks, each with all that it alone needs.

    What several of them need remains a task of its own, and so do results that are there already,
    and these tasks themselves, if one needs another.

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
    for key, user in _users(graph, {task.key for task in tasks}).items():
        if user is not None and key in nodes:  # futures are no nodes
            own[user].append(nodes[key])
    inside = {node.key for group in own.values() for node in group}
    found = {key: value for key, value in graph.items() if key not in inside}
    found |= {key: Task.fuse(*group, key=key) for key, group in own.items()}
    return [Delayed(task.key, found) for task in tasks]


def _users(graph: dict[Any, Any], wanted: Set[Any]) -> dict[Any, Any]:
    """Return which of the wanted keys needs a key, itself among them; None if several do."""
    users: dict[Any, Any] = {key: key for key in wanted}
    for user in wanted:
        ahead = [user]
        while ahead:
            for key in get_dependencies(graph, ahead.pop()):
                if key not in graph or key in wanted:
                    continue
                known = users.get(key, user)
                if key in users and known in (user, None):
                    continue
                users[key] = user if known == user else None
                ahead.append(key)
    return users
