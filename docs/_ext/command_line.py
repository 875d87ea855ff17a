"""The reference of the command line, written from the command itself."""

import re
from itertools import groupby
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from graphkm.cli.app import app as command_line


class CommandLine(SphinxDirective):
    """A section for every sub-command: usage, arguments and options, examples."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        group: Any = get_command(command_line)
        answer = [self._section(name, command) for name, command in group.commands.items()]
        return [*answer, self._section("graphkm", group)]

    def _section(self, name: str, command: Any) -> nodes.Node:
        title = f"graphkm {name}" if name != "graphkm" else "Options of graphkm itself"
        section = nodes.section(ids=[nodes.make_id(title)], names=[title])
        section += nodes.title(text=title)
        usage = title if name != "graphkm" else name
        context = command.context_class(command, info_name=usage)
        pieces = " ".join(command.collect_usage_pieces(context))
        section += nodes.paragraph(text=command.help)
        section += self._code(f"$ {usage} {pieces}")
        kinds = sorted(command.get_params(context), key=_panel)
        for panel, options in groupby(kinds, key=_panel):
            section += nodes.rubric(text=panel[1])
            section += _list([option.get_help_record(context) for option in options])
        examples = [line.removeprefix("Example: ") for line in command.epilog.split("\n\n")]
        if name != "graphkm":
            section += nodes.rubric(text="Examples")
            section += self._code("\n".join(f"$ {line}" for line in examples))
        return section

    def _code(self, text: str) -> nodes.Node:
        return nodes.literal_block(text, text, language="console")


def _panel(option: Any) -> tuple[int, str]:
    """Return where an option stands: arguments come first, then options as --help groups them."""
    if option.param_type_name == "argument":
        return 0, "Arguments"
    panel = getattr(option, "rich_help_panel", None)
    return (2, panel) if panel else (1, "Options")


def _list(records: list[tuple[str, str]]) -> nodes.Node:
    answer = nodes.definition_list(classes=["options"])
    for name, meaning in records:
        term = nodes.term("", "", nodes.literal(text=name))
        text = nodes.definition("", _paragraph(meaning))
        answer += nodes.definition_list_item("", term, text)
    return answer


def _paragraph(text: str) -> nodes.Node:
    """Return a text whose options are code, so that their dashes stay two."""
    answer = nodes.paragraph()
    for piece in re.split(r"(--[\w-]+)", text):
        answer += nodes.literal(text=piece) if piece.startswith("--") else nodes.Text(piece)
    return answer


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
