"""`graphkm label`: a page in the browser where a person labels the most useful rows first."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from .label_serving import Place, people_named, warning
from .options import Format, TableOptions, UsageError
from .spreading import spread

if TYPE_CHECKING:
    from ..app.material import Material
    from ..app.team import Second

EXAMPLES = (
    "graphkm label unlabelled.csv --out labels.csv --classes cat,dog --no-browser",
    "graphkm label rows.csv --out more_labels.csv --model labelled.gkm --no-browser",
    "graphkm label unlabelled.csv --out tags.csv --classes red,round,old --several --no-browser",
    "graphkm label unlabelled.csv --out team.csv --classes cat,dog --people eva,tom --no-browser",
    "graphkm label unlabelled.csv --out cats.csv --classes cat,dog --relevant cat --no-browser",
    "graphkm label unlabelled.csv --classes cat,dog --demo --no-browser",
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
        Path | None,
        typer.Option(
            help="The CSV file of labels. Started again with the same file, the page continues.",
            show_default=False,
        ),
    ] = None,
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
    people: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help="Who answers, several people at once: each gets a link of their own, and no row "
            "is given to two of them unless --second asks for it.",
        ),
    ] = None,
    new_links: Annotated[
        bool,
        typer.Option("--new-links", help="Give all people new links; the old ones end."),
    ] = False,
    second: Annotated[
        bool,
        typer.Option(
            "--second",
            help="Show rows that others have answered first, where a second answer tells most.",
        ),
    ] = False,
    relevant: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Screening: show the rows first that most probably belong to this class, or have "
            "this label, and none at random. graphkm screen says how many are missed.",
        ),
    ] = None,
    guidelines: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", help="Guidelines in Markdown, shown beside the rows."),
    ] = None,
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
    host: Annotated[
        str,
        typer.Option(
            help="The address of this computer at which the page is; 0.0.0.0 is all of them, and "
            "the network reaches it then."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where the page is; 0 takes a free port.")
    ] = 0,
    tls_cert: Annotated[
        Path | None,
        typer.Option(metavar="FILE.pem", help="A certificate: the page speaks TLS (https) then."),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE.pem", help="Its key, if it stands in a file of its own."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where people find the page if a proxy or a name stands before it, as in "
            "https://labels.example.org.",
        ),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", help="The language of the page: en, de or fr. Default: the browser's."
        ),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Save nothing: everybody who comes has labels of their own, which end with the "
            "visit.",
        ),
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    files: TableOptions = TableOptions(),  # noqa: B008
) -> None:
    """Label rows in the browser, the most useful first, while a model learns from every answer.

    The page is served on this computer alone unless --host opens it, under an address that nobody
    else can guess. Every answer is on the disk before the page says so. --out holds every labelled
    row with its columns, for graphkm train. Save predictions writes all rows, with what the saved
    model says of them, to a file beside --out. Stop with Ctrl-C, and start again to continue.
    Labels that DATA has already are in the column called label, or in the one that --label names;
    no other is taken for them.
    """
    names = people_named(annotator, people, second=second, new_links=new_links, demo=demo)
    if out is None and not demo:
        raise UsageError("--out: name the CSV file of labels, or pass --demo to save nothing.")
    if demo and (out is not None or model is not None):
        raise UsageError("--demo saves nothing: drop --out and --model.")
    out = out if out is not None else Path("demo.csv")  # which nothing writes
    _check(out, data, classes, regression, several, images, text)
    _check_relevant(relevant, classes, regression)
    where = Place(host, port, address, tls_cert, tls_key)
    where.check()
    try:
        from ..app.server import serve
    except ImportError as error:
        raise UsageError(
            f'the labelling page needs {error.name}: run pip install "graphkm[app]".'
        ) from error
    import webbrowser

    from ..app.session import Room
    from .first_model import first_model
    from .label_predictions import predictions_path
    from .label_team import Labelling
    from .label_ways_in import page_look, serve_demo, way_in
    from .opening import reading
    from .output import check_output, say

    look = page_look(lang, guidelines, demo=demo)
    place = model if model is not None else out.with_suffix(".gkm")
    predictions = predictions_path(out)
    for written in () if demo else (out, place, predictions):
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
    order: Second = "first" if second else "fifth" if people is None else "never"
    labelling = Labelling(rows, files, asked, regression, several, names, order, first, relevant)
    with where.opened() as listener:
        site = where.site(listener.getsockname()[1])
        if warned := warning(site):
            say(warned)
        if demo:
            serve_demo(labelling, site, listener, look, where.tls, browser)
            return
        team = labelling.team(out, place, predictions)
        door, lines = way_in(out, site, names, together=people is not None, new=new_links)

        def ready() -> None:
            print(f"{len(rows):,} rows, {len(team.now()):,} labelled. The page is at")
            print("\n".join(lines), flush=True)
            if browser and people is None:
                webbrowser.open(lines[0])

        with suppress(KeyboardInterrupt):  # the usual way to stop
            serve(Room(team), door, site, listener, look=look, tls=where.tls, ready=ready)
    if team.saving.busy:
        say("a model or predictions were being written. What was not finished is as it was before.")
    kept = team.journal.place if team.journal.behind else out
    say(f"{len(team.journal.labels()):,} labels are in {kept}. Start again to continue.")
    if team.saving.busy or team.learner.is_alive():
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


def _check_relevant(relevant: str | None, classes: str | None, regression: bool) -> None:
    if relevant is None:
        return
    if regression:
        raise UsageError("--relevant names a class, and --regression has quantities; drop one.")
    listed = _listed(classes)
    if listed is not None and relevant not in listed:
        raise UsageError(
            f"--relevant {relevant}: --classes {classes} does not have it; name one of them."
        )


def _listed(classes: str | None) -> list[str] | None:
    if classes is None:
        return None
    return [name.strip() for name in classes.split(",") if name.strip()]
