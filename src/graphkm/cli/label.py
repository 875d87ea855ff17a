"""`graphkm label`: a page in the browser where a person labels the most useful rows first."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, NoReturn

import typer

from .label_classes import What
from .label_content import Content
from .label_people import Who
from .label_serving import Place, warning
from .options import TableOptions, UsageError
from .spreading import spread

if TYPE_CHECKING:
    from ..app.material import Material
    from ..app.team import Team
    from .label_team import Labelling

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
    what: What = What(),  # noqa: B008
    who: Who = Who(),  # noqa: B008
    guidelines: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", help="Guidelines in Markdown, shown beside the rows."),
    ] = None,
    content: Content = Content(),  # noqa: B008
    model: Annotated[
        Path | None,
        typer.Option(
            help="The file that Save a model writes; beside --out by default. If it holds a model "
            "already, that model chooses the rows until labels of two classes are known, and stays "
            "as MODEL.previous when it is replaced.",
        ),
    ] = None,
    place: Place = Place(),  # noqa: B008
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
    names = who.names(demo=demo)
    written = _written(out, model, demo=demo)
    if not data.exists():
        raise FileNotFoundError(2, "No such file or directory", str(data))
    if written.labels.suffix.lower() != ".csv":
        raise UsageError(f"--out {out}: labels are written as CSV; name a file that ends in .csv.")
    for part in (what, content, place):
        part.check()
    try:
        from ..app.server import serve
    except ImportError as error:
        raise UsageError(
            f'the labelling page needs {error.name}: run pip install "graphkm[app]".'
        ) from error
    import webbrowser

    from ..app.session import Room
    from .label_ways_in import page_look, serve_demo, way_in
    from .output import check_output, say

    look = page_look(lang, guidelines, demo=demo)
    for path in () if demo else written:
        check_output(path, *([] if data.is_dir() else [data]))
    rows = content.read(data, files, regression=what.regression)
    for note in rows.notes:
        say(f"note: {note}")
    labelling = _labelling(data, rows, files, what, who, names, model)
    with place.opened() as listener:
        site = place.site(listener.getsockname()[1])
        if warned := warning(site):
            say(warned)
        if demo:
            serve_demo(labelling, site, listener, look, place.tls, browser)
            return
        team = labelling.team(*written)
        door, lines = way_in(written.labels, site, names, together=who.together, new=who.new_links)

        def ready() -> None:
            print(f"{len(rows):,} rows, {len(team.now()):,} labelled. The page is at")
            print("\n".join(lines), flush=True)
            if browser and not who.together:
                webbrowser.open(lines[0])

        with suppress(KeyboardInterrupt):  # the usual way to stop
            serve(Room(team), door, site, listener, look=look, tls=place.tls, ready=ready)
    _end(team, written.labels)


class _Written(NamedTuple):
    """The files that are written."""

    labels: Path
    model: Path
    predictions: Path


def _written(out: Path | None, model: Path | None, *, demo: bool) -> _Written:
    """Return where labels, the model and predictions go; a demo writes none of them."""
    from .label_predictions import predictions_path

    if out is None and not demo:
        raise UsageError("--out: name the CSV file of labels, or pass --demo to save nothing.")
    if demo and (out is not None or model is not None):
        raise UsageError("--demo saves nothing: drop --out and --model.")
    labels = out if out is not None else Path("demo.csv")
    return _Written(labels, model or labels.with_suffix(".gkm"), predictions_path(labels))


def _labelling(
    data: Path,
    rows: Material,
    files: TableOptions,
    what: What,
    who: Who,
    names: list[str | None],
    model: Path | None,
) -> Labelling:
    """Return how the rows are labelled; a model that is there already chooses the first ones."""
    from .first_model import first_model
    from .label_team import Labelling

    first, several = None, what.several
    if model is not None and model.exists():
        first = first_model(model, data, rows, files, what.listed, what.regression)
        several = first.several if several is None and first is not None else several
    kinds = what.listed, what.regression, several
    return Labelling(rows, files, *kinds, names, who.order, first, what.relevant)


def _end(team: Team, labels: Path) -> None:
    """Say what is kept, and end."""
    from .output import say

    if team.saving.busy:
        say("a model or predictions were being written. What was not finished is as it was before.")
    kept = team.journal.place if team.journal.behind else labels
    say(f"{len(team.journal.labels()):,} labels are in {kept}. Start again to continue.")
    if team.saving.busy or team.learner.is_alive():
        _leave()


def _leave() -> NoReturn:
    """End the process now: if Python shut down first, threads in compiled code would crash."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
