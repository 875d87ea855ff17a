"""Everything public in one place: the names on the pages of modules, with a line for each."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ENTRY = re.compile(r"^\.\. module:: (?P<module>\S+)|^   (?P<name>[A-Za-z_]\w*)$", re.MULTILINE)


class ApiIndex(SphinxDirective):
    """A table for every page that is named, one in each line of the content."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the tables, each under its page's title."""
        lines: list[str] = []
        for page in self.content:
            file = Path(self.env.srcdir, "api", f"{page}.rst")
            self.env.note_dependency(str(file))
            lines += [f".. rubric:: :doc:`{page}`", "", ".. autosummary::", ""]
            lines += [f"   ~{name}" for name in _names(file.read_text("utf-8"))] + [""]
        return self.parse_text_to_nodes("\n".join(lines))


def _names(text: str) -> list[str]:
    module, answer = "", []
    for entry in ENTRY.finditer(text):
        module = entry["module"] or module
        if entry["name"]:
            answer.append(f"{module}.{entry['name']}")
    return answer


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("api-index", ApiIndex)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
