"""Docstrings as Sphinx should read them.

Formulas within a line are plain text: a bar in |t|^p is a bar, not markup. Methods inherited from
scikit-learn refer to pages that are not here. And a part such as `Newton` is documented in its own
module only.
"""

import re
from typing import Any

from sphinx.application import Sphinx

from graphkm import __all__ as exported


def prepare(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape bars outside code, and put the words of references to other sites in their place."""
    literal_depth = None  # indentation of the line that announced a literal block
    in_session = False
    for i, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        if line.strip() and literal_depth is not None and depth <= literal_depth:
            literal_depth = None
        in_session = bool(line.strip()) and (in_session or line.lstrip().startswith(">>>"))
        if literal_depth is None and not in_session:
            is_formula = line.lstrip().startswith(".. math::")
            if is_formula or line.rstrip().endswith("::"):
                literal_depth = depth
            if is_formula:
                continue
            line = re.sub(r":ref:`([^<`]+?) *<[^>]+>`", r"\1", line)
            lines[i] = re.sub(r"(``.+?``)|\|", lambda found: found[1] or r"\|", line)


def find_part(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """Return a link to a part that was named without its module."""
    name, python = node.get("reftarget"), env.get_domain("py")
    for full, entry in python.objects.items():
        if name in exported and full.endswith(f".{name}") and not entry.aliased:
            return python.resolve_xref(env, node["refdoc"], app.builder, "obj", full, node, content)
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at docstrings before numpydoc takes them apart, and at links that lead nowhere."""
    app.connect("autodoc-process-docstring", prepare, priority=400)
    app.connect("missing-reference", find_part)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
