"""`graphkm label`: a page in the browser where a person labels the most useful rows first."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from .options import Format, TableOptions, UsageError
from .spreading import spread

if TYPE_CHECKING:
    from ..app.material import Material

_LONGEST = 100  # letters of a name, at most

EXAMPLES = (
    "graphkm label unlabelled.csv --out labels.csv --classes cat,dog --no-browser",
    "graphkm label rows.csv --out more_labels.csv --model labelled.gkm --no-browser",
    "graphkm label unlabelled.csv --out tags.csv --classes red,round,old --several --no-browser",
)


@spread
def label(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Rows: CSV, Parquet or LIBSVM; or a folder of images or of .txt files.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="The CSV file of labels. Started again with the same file, the page continues.",
            show_default=False,
        ),
    ],
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C", help="The classes. Default: those of DATA, and new ones on the page."
        ),
    ] = None,
    regression: Annotated[
        bool, typer.Option("--regression", help="Labels are quantities.")
    ] = False,
    several: Annotated[
        bool | None,
        typer.Option(
            "--several/--no-several",
            help="Rows have several labels, or none: their names stand in one column with ; "
            "between them. Default: if rows have them so already.",
            show_default=False,
        ),
    ] = None,
    annotator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who answers. The name is kept with every answer, and rows that others have "
            "answered may be answered again.",
        ),
    ] = None,
    second: Annotated[
        bool,
        typer.Option(
            "--second",
            help="Show rows that others have answered first, where a second answer tells most.",
        ),
    ] = False,
    images: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column with paths of images, inside the folder of DATA."
        ),
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of texts to learn from.")
    ] = None,
    encoder: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="What makes vectors of texts or images: the name, folder or ONNX file of a "
            "model. auto needs no network.",
        ),
    ] = "auto",
    model: Annotated[
        Path | None,
        typer.Option(
            help="The file that Save a model writes; beside --out by default. If it holds a model "
            "already, that model chooses the rows until labels of two classes are known, and stays "
            "as MODEL.previous when it is replaced.",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where the page is; 0 takes a free port.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    files: TableOptions = TableOptions(),  # noqa: B008
) -> None:
    """Label rows in the browser, the most useful first, while a model learns from every answer.

    The page is served on this computer alone, under an address that nobody else can guess. Every
    answer is on the disk before the page says so. --out holds every labelled row with its columns,
    for graphkm train. Save predictions writes all rows, with what the saved model says of them, to
    a file beside --out. Stop with Ctrl-C, and start again to continue. Labels that DATA has already
    are in the column called label, or in the one that --label names; no other is taken for them.
    """
    _check(out, data, classes, regression, several, images, text)
    annotator = _person(annotator, second)
    try:
        from ..app.server import serve
    except ImportError as error:
        raise UsageError(
            f'the labelling page needs {error.name}: run pip install "graphkm[app]".'
        ) from error
    import webbrowser

    from ..app.classes import AnswerError
    from ..app.journal import Journal, JournalError
    from ..app.session import Session
    from .first_model import check_first, first_model
    from .label_predictions import predictions_path, predictor
    from .label_saving import saver
    from .opening import reading
    from .output import check_output, say

    place = model if model is not None else out.with_suffix(".gkm")
    predictions = predictions_path(out)
    for written in (out, place, predictions):
        check_output(written, *([] if data.is_dir() else [data]))
    rows = _read(
        data,
        None if files.format is Format.auto else files.format.value,
        encoder=encoder,
        label=files.label,
        images=images,
        text=text,
        drop=files.drop or (),
        id=files.id,
        categorical=files.categorical,
        regression=regression,
        encoding=files.encoding,
        **reading(files),
    )
    for note in rows.notes:
        say(f"note: {note}")
    asked = _listed(classes)
    first = None
    if model is not None and model.exists():
        first = first_model(model, data, rows, files, asked, regression)
        several = first.several if several is None and first is not None else several
    try:
        journal = Journal(out, rows, several=False if regression else several, annotator=annotator)
    except JournalError as error:
        raise UsageError(str(error)) from error
    try:
        check_first(first, journal.several)
        session = Session(
            rows,
            journal,
            classes=asked,
            regression=regression,
            save=saver(rows, files, place, regression=regression, several=journal.several),
            predict=predictor(rows, place, predictions),
            first=first,
            second=second,
        )
    except (UsageError, AnswerError) as error:
        journal.close()
        raise UsageError(str(error)) from error

    def ready(address: str) -> None:
        print(f"{len(rows):,} rows, {session.state()['labelled']:,} labelled. The page is at")
        print(address, flush=True)
        if browser:
            webbrowser.open(address)

    with suppress(KeyboardInterrupt):  # the usual way to stop
        serve(session, port=port, ready=ready)
    if session.saving:
        say("a model or predictions were being written. What was not finished is as it was before.")
    where = session.journal.place if session.journal.behind else out
    say(f"{len(session.journal.labels()):,} labels are in {where}. Start again to continue.")
    if session.saving or session.learner.is_alive():
        _leave()


def _read(data: Path, format: str | None, *, encoder: str, **options: Any) -> Material:
    """Return the rows; raise UsageError if what makes vectors of them is missing or not needed."""
    from ..app.reading import read_material
    from ..embed import MissingModelError

    shown = int(sys.stderr.isatty())
    try:
        rows = read_material(data, format, encoder=encoder, verbose=shown, **options)
    except (ImportError, MissingModelError) as error:
        raise UsageError(str(error)) from error
    if encoder != "auto" and rows.vectors is None:
        raise UsageError(
            f"--encoder {encoder}: it makes vectors of texts and images, and these rows have none; "
            "name their column with --text or --images, or drop --encoder."
        )
    return rows


def _leave() -> NoReturn:
    """End the process now: if Python shut down first, threads in compiled code would crash."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _check(
    out: Path,
    data: Path,
    classes: str | None,
    regression: bool,
    several: bool | None,
    images: Any,
    text: Any,
) -> None:
    if not data.exists():
        raise FileNotFoundError(2, "No such file or directory", str(data))
    if out.suffix.lower() != ".csv":
        raise UsageError(f"--out {out}: labels are written as CSV; name a file that ends in .csv.")
    if regression and classes is not None:
        raise UsageError("--classes and --regression do not go together; pass one of them.")
    if regression and several:
        raise UsageError("--several and --regression do not go together; pass one of them.")
    if images is not None and text is not None:
        raise UsageError("--images and --text do not go together; pass one of them.")
    from ..io.kinds import label_word

    listed = _listed(classes)
    if listed is not None and (len(set(listed)) != len(listed) or len(listed) < 2):
        raise UsageError(f"--classes {classes}: name two or more different classes, as in a,b,c.")
    marks = [name for name in listed or () if label_word(name, None) is None]
    if marks:
        raise UsageError(f"--classes {classes}: {marks[0]} marks rows without a label; rename it.")


def _person(name: str | None, second: bool) -> str | None:
    """Return the name of the person who answers; raise if it is no name."""
    if name is None:
        if second:
            raise UsageError("--second: name who answers, as in --annotator eva --second.")
        return None
    name = name.strip()
    if not name or not name.isprintable() or len(name) > _LONGEST:
        raise UsageError(f"--annotator {name!r}: a name has 1 to {_LONGEST} letters, in one line.")
    return name


def _listed(classes: str | None) -> list[str] | None:
    if classes is None:
        return None
    return [name.strip() for name in classes.split(",") if name.strip()]
