"""A quick start: scikit-learn is imported without packages that few commands use.

`import sklearn` imports scipy.stats and, where it is installed, pandas. Few commands call their
functions, and none needs numpy.f2py, which SciPy imports. These packages take longer than all the
rest. So stand-ins take their places: each imports its package when its first attribute is used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_POSTPONED = ("numpy.f2py", "scipy.stats", "pandas")


class StandIn(ModuleType):
    """A stand-in for a module: it imports the module when one of its attributes is used.

    Examples
    --------
    >>> StandIn("fractions").Fraction(1, 2)
    Fraction(1, 2)
    """

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module itself."""
        if name in ("__file__", "__warningregistry__"):  # asked of every module by inspect
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def import_scikit_learn() -> None:
    """Import scikit-learn quickly, if nobody has imported it yet."""
    if "sklearn" in sys.modules:
        return
    for name in _POSTPONED:
        if name not in sys.modules:
            parent, _, child = name.rpartition(".")
            sys.modules[name] = StandIn(name)
            if parent:
                setattr(import_module(parent), child, sys.modules[name])
    import sklearn.base  # noqa: F401

    # scikit-learn looks whether this module is imported to tell whether rows may be a frame.
    if isinstance(sys.modules.get("pandas"), StandIn):
        del sys.modules["pandas"]
