"""Parts that estimators are made of: small frozen objects that scikit-learn's tools can address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Protocol, Self


@dataclass(frozen=True)
class Part:
    """A frozen dataclass whose fields are parameters.

    ``set_params(solver__tol=1e-8)`` of an estimator and `sklearn.model_selection.GridSearchCV`
    address the fields. Nobody changes a part: whoever wants other values makes another one.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Ruler(Part):
    ...     length: float = 30.0
    >>> Ruler().get_params()
    {'length': 30.0}
    >>> Ruler().with_params(length=20.0)
    Ruler(length=20.0)
    >>> Ruler().with_params(width=3)
    Traceback (most recent call last):
    ...
    ValueError: Ruler has no parameter 'width'; it has length.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the fields by name, as scikit-learn asks for them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def with_params(self, **values: Any) -> Self:
        """Return a part of the same kind with some fields replaced."""
        names = [field.name for field in fields(self)]
        for name in values:
            if name not in names:
                has = f"it has {', '.join(names)}" if names else "it has none"
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; {has}.")
        return replace(self, **values)

    def __sklearn_clone__(self) -> Self:
        """Return the part itself: what cannot change need not be copied."""
        return self


class Sizes(NamedTuple):
    """What a part may look at to fill in its "auto" values."""

    n_rows: int
    n_labeled: int
    classes: bool  # classification rather than regression


class Combination(Protocol):
    """The parts of one model. Each part looks at the others, and may refuse them."""

    @property
    def kernel(self) -> Any:
        """The kernel."""

    @property
    def graph(self) -> Any:
        """The graph; None without one."""

    @property
    def smoothness(self) -> Any:
        """What the graph term is made of."""

    @property
    def solver(self) -> Any:
        """The solver."""

    @property
    def C_graph(self) -> float | str:
        """The weight of the graph term; 0 leaves the graph out."""

    @property
    def classes(self) -> bool:
        """Whether targets are classes."""

    @property
    def streaming(self) -> bool:
        """Whether rows come in chunks."""


def part_by_name(name: str, value: Any, kind: type, known: Mapping[str, Any]) -> Any:
    """Return the part that a value stands for: itself, or the one of that name.

    Parameters
    ----------
    name : str
        The parameter, for the message.
    value : object
        A part, or a name.
    kind : type
        What parts must be.
    known : mapping
        Parts with their defaults by name.
    """
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value in known:
        return known[value]
    classes = ", ".join(dict.fromkeys(f"{type(part).__name__}(...)" for part in known.values()))
    names = ", ".join(map(repr, known))
    raise ValueError(f"{name} must be one of {names}, or one of {classes}; got {value!r}.")
