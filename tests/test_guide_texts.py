"""The page on texts and images: its files and commands, in their order, print what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_runner import run
from guide_pages import BLOCK, parts

PAGE = (Path(__file__).parents[1] / "docs/guide/texts_and_images.md").read_text("utf-8")


def passages(text):
    """Return the parts of a session between lines of three points, which stand for any lines."""
    return [part.strip() for part in text.split("\n...\n") if part.strip() not in ("", "...")]


def assert_printed(passage, printed):
    """Check that some lines on end say the same, and return those below them."""
    words, numbers = parts(passage)
    lines, size = printed.splitlines(), len(passage.splitlines())
    for k in range(len(lines)):
        found_words, found = parts("\n".join(lines[k : k + size]))
        if found_words == words:
            assert found == pytest.approx(numbers, abs=2e-3)
            return "\n".join(lines[k + size :])
    raise AssertionError(f"{passage}\n\nis not in\n\n{printed}")


@pytest.mark.long
@pytest.mark.usefixtures("usual_forests")
def test_the_session_line_by_line(tmp_path, monkeypatch, capsys):
    pytest.importorskip("tokenizers")
    pytest.importorskip("skops")
    monkeypatch.chdir(tmp_path)
    blocks = list(BLOCK.finditer(PAGE))
    assert len(blocks) == PAGE.count("```{code-block}") + PAGE.count("```console") == 3
    for block in blocks:
        if block["file"]:
            Path(block["file"]).write_text(block["text"])
            continue
        assert run(*block["command"].split()) == 0
        printed = capsys.readouterr()
        left = printed.out + printed.err
        for passage in passages(block["text"]):
            left = assert_printed(passage, left)
