"""The page on tables: its files and commands, in their order, print what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli_runner import run

PAGE = (Path(__file__).parents[1] / "docs/guide/tables.md").read_text("utf-8")
BLOCK = re.compile(
    r"```(?:\{code-block\} text\n:caption: (?P<file>\S+)\n\n"
    r"|console\n\$ graphkm (?P<command>[^\n]+)\n)"
    r"(?P<text>.*?)```",
    re.DOTALL,
)


def parts(text):
    """Return the words and the numbers of an output, without what differs between machines."""
    text = re.sub(r"^time .*$|\(\d+ KiB, graphkm \S+\)", "", text, flags=re.MULTILINE)
    cells = re.split(r"[\s,]+", text.strip())
    exact = [cell for cell in cells if not re.fullmatch(r"-?\d+\.\d{3,}", cell)]
    return exact, [float(cell) for cell in cells if re.fullmatch(r"-?\d+\.\d{3,}", cell)]


def test_the_page_word_by_word(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = list(BLOCK.finditer(PAGE))
    assert len(blocks) == PAGE.count("```{code-block}") + PAGE.count("```console") == 8
    for block in blocks:
        if block["file"]:
            Path(block["file"]).write_text(block["text"])
            continue
        assert run(*block["command"].split()) == 0
        printed = capsys.readouterr()
        words, numbers = parts(printed.out + printed.err)
        promised_words, promised_numbers = parts(block["text"])
        assert words == promised_words
        assert numbers == pytest.approx(promised_numbers, abs=1e-3)


def test_the_commands_in_its_sentences(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plants.csv").write_text(next(BLOCK.finditer(PAGE))["text"])
    command = re.search(r"`graphkm (train plants[^`]+ --search)`", PAGE)[1]
    assert run(*command.split()) == 0
