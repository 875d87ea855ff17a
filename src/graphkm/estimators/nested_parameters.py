"""Parameters that are parts: ``part__name`` addresses their fields, and parts are never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Self

from sklearn.base import BaseEstimator

from .._util.parts import Part

Resolver = Callable[[Any], Part]


class Composed(BaseEstimator):
    """An estimator with parameters that are parts, or names that stand for parts."""

    def _resolvers(self) -> Mapping[str, Resolver]:
        """Return, for each such parameter, the function that turns its value into a part."""
        return {}

    def _choices(self) -> Mapping[str, tuple[type[Part], ...]]:
        """Return, for each parameter that may be "auto", the classes that it may become."""
        return {}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``solver__tol=1e-8`` replaces the solver by one with that tolerance.

        A name stands for its part with the default values: ``kernel__gamma`` can be set while
        kernel="rbf". "auto" stands for no part in particular, and has no parameters.

        Parameters
        ----------
        **params
            Values by name. If one is refused, nothing is set.

        Returns
        -------
        self
        """
        before = self.get_params(deep=False)
        try:
            super().set_params(**{k: v for k, v in params.items() if not self._is_nested(k)})
            changes: dict[str, dict[str, Any]] = {}
            for key in filter(self._is_nested, params):
                name, _, field = key.partition("__")
                changes.setdefault(name, {})[field] = params[key]
            for name, values in changes.items():
                setattr(self, name, self._part(name, values).with_params(**values))
        except Exception:
            for name, value in before.items():
                setattr(self, name, value)
            raise
        return self

    def _is_nested(self, key: str) -> bool:
        return key.partition("__")[0] in self._resolvers() and "__" in key

    def _part(self, name: str, values: Mapping[str, Any]) -> Part:
        value, choices = getattr(self, name), self._choices().get(name, ())
        if not choices or not isinstance(value, str) or value != "auto":
            return self._resolvers()[name](value)
        field = next(iter(values))
        able = [c.__name__ for c in choices if field in {f.name for f in fields(c)}]
        examples = [f"{c}({field}={values[field]!r})" for c in able]
        examples = examples or [f"{c.__name__}(...)" for c in choices]
        raise ValueError(
            f"{name}='auto' leaves the choice to the data and has no parameter {field!r}; pass "
            f"{name}={' or '.join(examples)} first."
        )
