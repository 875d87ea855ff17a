"""Docstrings as Sphinx should read them.

Their formulas are plain text: a bar in |t|^p is a bar, not markup. And methods inherited from
scikit-learn refer to pages that are not here.
"""

import re
from typing import Any

from sphinx.application import Sphinx


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
            if line.rstrip().endswith("::"):
                literal_depth = depth
            line = re.sub(r":ref:`([^<`]+?) *<[^>]+>`", r"\1", line)
            lines[i] = re.sub(r"(``.+?``)|\|", lambda found: found[1] or r"\|", line)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at docstrings before numpydoc takes them apart."""
    app.connect("autodoc-process-docstring", prepare, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
