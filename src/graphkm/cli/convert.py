"""`graphkm convert`: labels and predictions from one tool's files to another's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import AsJson, UsageError, listed_names

if TYPE_CHECKING:
    from ..formats import Annotations
    from ..formats.shape import Kind

EXAMPLES = (
    "graphkm convert tagged.csv tasks.json --question tags --to label-studio --config page.xml",
    "graphkm convert rows.csv pre.json --to label-studio --model moons.gkm",
    "graphkm convert tagged.csv tagged.jsonl --question tags --to prodigy",
)


def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="Labels: CSV as the labelling page writes it, Label Studio's JSON or JSON_MIN, "
            "argilla's JSON or JSONL, Prodigy's JSONL, COCO, or JSONL with flat objects.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)
    ],
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="The format of IN. Default: by its text."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="csv, jsonl, label-studio, label-studio-min, argilla, argilla-jsonl, prodigy or "
            "coco. Default: csv, if OUT ends so.",
        ),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The question or the column of labels. Default: the only question, or label.",
        ),
    ] = None,
    several: Annotated[
        bool,
        typer.Option("--several", help="Rows have several labels, or none. Default: judged."),
    ] = False,
    regression: Annotated[
        bool, typer.Option("--regression", help="Labels are quantities. Default: judged.")
    ] = False,
    rows: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="The CSV file that the labelling page has shown, with IN as its labels: rows "
            "without a label are written too, and skips of the journal beside IN.",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Add what the model of this file predicts for every row."),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OLD=NEW", help="Another name for a column or a class. May be repeated."
        ),
    ] = None,
    drop: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Columns to leave out, like a,b.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Also write a labelling interface for Label Studio, in XML."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="The encoding of CSV. Default: judged.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert labels and predictions between graphkm, Label Studio, argilla, Prodigy and COCO.

    Several people, several labels, quantities, skips, ids and predictions with scores are carried
    over. What a format has no place for is named in a note. A file that is replaced stays as
    OUT.previous.
    """
    from .._util.files import replacing
    from ..formats.files import format_of_output, read_annotations, renamed, write_annotations
    from ..formats.label_config import write_config
    from .output import check_output, say, show

    if several and regression:
        raise UsageError("--several and --regression do not go together; pass one of them.")
    kind: Kind | None = "several" if several else "quantity" if regression else None
    inputs = [path for path in (source, rows, model) if path is not None]
    for written in (out, *([] if config is None else [config])):
        check_output(written, *inputs)
    _check_formats(from_, to)
    format = to or format_of_output(str(out))
    if format is None:
        raise UsageError(f"{out}: its name does not tell a format; pass --to, as in --to prodigy.")
    asked = {"question": question, "kind": kind, "encoding": encoding}
    found = read_annotations(source, from_, **asked)  # type: ignore[arg-type]
    if rows is not None:
        from .labelled_rows import with_all_rows

        found = with_all_rows(found, source, rows, encoding)
    found = renamed(found, _pairs(rename or []), tuple(listed_names(drop or "")))
    if model is not None:
        from .guesses import with_guesses

        found = with_guesses(found, model)
    notes = [*found.notes, *write_annotations(found, out, format, keep_previous=True)]
    if config is not None:
        with replacing(config, keep_previous=True) as file:
            file.write(f"{write_config(found)}\n".encode())
    for note in notes:
        say(f"note: {note}")
    show(_lines(found, out, format), _facts(found, format) | {"notes": notes}, as_json)


def _check_formats(*names: str | None) -> None:
    from ..formats import FORMATS

    for name in names:
        if name is not None and name not in FORMATS:
            raise UsageError(f"{name} is no format: name one of {', '.join(FORMATS)}.")


def _pairs(given: list[str]) -> dict[str, str]:
    pairs = {}
    for each in given:
        old, sign, new = each.partition("=")
        if not (old and sign and new):
            raise UsageError(f"--rename {each}: write OLD=NEW.")
        pairs[old] = new
    return pairs


def _facts(found: Annotations, format: str) -> dict[str, object]:
    answers = [answer for row in found.rows for answer in row.answers]
    return {
        "rows": len(found.rows),
        "kind": found.kind,
        "labelled": sum(any(a.value is not None for a in row.answers) for row in found.rows),
        "answers": len(answers),
        "people": sorted({answer.who for answer in answers if answer.who is not None}),
        "skips": sum(answer.value is None for answer in answers),
        "predictions": sum(len(row.guesses) for row in found.rows),
        "classes": list(found.classes),
        "format": format,
    }


def _lines(found: Annotations, out: Path, format: str) -> dict[str, str | None]:
    facts = _facts(found, format)
    people, classes = facts["people"], facts["classes"]
    assert isinstance(people, list)
    assert isinstance(classes, list)
    kinds = {"class": "classes", "several": "several labels per row", "quantity": "numbers"}
    return {
        "rows": f"{facts['rows']:,}, {facts['labelled']:,} of them labelled",
        "labels": kinds[found.kind] + (f": {', '.join(classes)}" if classes else ""),
        "answers": f"{facts['answers']:,}" if facts["answers"] else None,
        "people": ", ".join(people) or None,
        "skips": f"{facts['skips']:,}" if facts["skips"] else None,
        "predictions": f"{facts['predictions']:,}" if facts["predictions"] else None,
        "written": f"{out} ({format})",
    }
