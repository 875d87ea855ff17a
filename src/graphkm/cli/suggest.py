"""`graphkm suggest`: which rows of a file to label next."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import AsJson, Data, FileOptions, KnownLabels, Model, UsageError
from .spreading import spread

EXAMPLES = (
    "graphkm suggest moons.gkm rows.csv -n 20",
    "graphkm suggest moons.gkm unlabelled.csv -n 5 --json --out next.csv",
    "graphkm suggest moons.gkm rows.csv -n 20 --relevant cat",
)


@spread
def suggest(
    model: Model,
    data: Data,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="How many rows to suggest.")
    ] = 10,
    out: Annotated[
        Path | None,
        typer.Option(help="The CSV file to write; standard output by default."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws 20,000 rows if there are more.")] = 0,
    relevant: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Bring the rows that most probably belong to this class, or have this label.",
        ),
    ] = None,
    labels: KnownLabels = None,
    as_json: AsJson = False,
    files: FileOptions = FileOptions(),  # noqa: B008
) -> None:
    """Tell which rows to label next, the most useful first.

    A row is useful if the model is unsure of it, and if no labelled row, nor one that was suggested
    before it, is near it. Rows of DATA that have a label already are not suggested. The output's
    columns are row (numbered from 1, without the header), prediction and uncertainty (up to 1). If
    DATA is a folder, file takes the place of row. Where rows have several labels, those that are
    known do not count, and predictions have the columns that predict writes.
    """
    from .links import note_no_edges
    from .model_files import read_model
    from .note_lines import with_asked_labels
    from .output import STDOUT, check_output, show, whole_or_not
    from .several_answers import several_header

    if as_json and str(out or STDOUT) == STDOUT:
        raise UsageError("--json takes standard output for its summary; pass --out FILE as well.")
    if out is not None and str(out) != STDOUT:
        check_output(out, model, data)
    fitted, note = read_model(model)
    note_no_edges(fitted, model)
    asked = with_asked_labels(note, labels, files.label)
    called, lines, left = suggestions(fitted, asked, data, files, count, seed, relevant)
    said = several_header(note) if note.several else ["prediction"]
    with whole_or_not(out, keep_previous=True) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([called, *said, "uncertainty"])
        writer.writerows(lines)
    if as_json:
        rows = [line[0] for line in lines]
        show({}, {"rows": rows, "unlabelled": left, "out": out}, True)


def suggestions(
    model: Any,
    note: Any,
    data: str,
    files: FileOptions,
    count: int,
    seed: int,
    relevant: str | None = None,
) -> tuple[str, list[list[Any]], int]:
    """Return what rows are told by, a line for every suggested one, and how many have no label."""
    from ..active import suggest as choose
    from ..active import uncertainty
    from ..estimators.labels import missing_mask
    from ..io import DataFileError
    from .learning_rows import label_text
    from .row_files import open_known, read_whole
    from .several_answers import several_rows

    with open_known(str(data), files, note) as table:
        X, y = read_whole(table)
    gaps = missing_mask(y)  # one of several labels is enough
    left = int((gaps.any(axis=1) if y.ndim == 2 else gaps).sum())
    if not left:
        raise DataFileError(f"{table.name}: all of its {len(y):,} rows have a label already.")
    strategy: dict[str, Any] = {}
    if relevant is not None:
        strategy = {"strategy": "relevant", "relevant": _class_of(model, note, relevant)}
    chosen = choose(model, X, count, y=y, unlabeled=None, random_state=seed, **strategy)
    answers, unsure = model.predict(X[chosen]), uncertainty(model, X)[chosen]
    # The files of a folder have names; rows of a table have numbers.
    called = table.kept_names[0] if table.kept_names else "row"
    names = [name for (name,) in table.kept] or range(1, len(y) + 1)
    if note.several:
        texts = several_rows(note, answers)
    elif note.task == "classify":
        texts = [[label_text(answer)] for answer in answers]
    else:
        texts = [[answer] for answer in answers.tolist()]
    told = zip([names[k] for k in chosen], texts, unsure.round(4).tolist(), strict=True)
    return called, [[name, *said, doubt] for name, said, doubt in told], left


def _class_of(model: Any, note: Any, name: str) -> Any:
    """Return the class of a model that is written so."""
    from .learning_rows import label_text

    classes = note.targets if note.several else list(getattr(model, "classes_", ()))
    found = [each for each in classes if label_text(each) == name]
    if note.task == "regress" or not found:
        told = ", ".join(map(label_text, classes)) or "none"
        raise UsageError(f"--relevant {name}: the model has no such class; it has {told}.")
    return found[0]
