"""The page on tables: its files and commands, in their order, print what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli_runner import run
from guide_pages import BLOCK, parts

PAGE = (Path(__file__).parents[1] / "docs/guide/tables.md").read_text("utf-8")


@pytest.mark.long
@pytest.mark.usefixtures("usual_forests")
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
