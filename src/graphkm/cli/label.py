"""`graphkm label`: a page in the browser where a person labels the most useful rows first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Format, UsageError

EXAMPLES = (
    "graphkm label unlabelled.csv --out labels.csv --classes cat,dog --no-browser",
    "graphkm label rows.csv --out more_labels.csv --model labelled.gkm --no-browser",
)


def label(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Rows: CSV, Parquet or LIBSVM; or a folder of images.",
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
    images: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column with paths of images, inside the folder of DATA."
        ),
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column that is a text to be read.")
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Where the page writes a model; beside --out by default."),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            "--label", metavar="COLUMN", help="The column of labels that are known already."
        ),
    ] = None,
    unlabeled: Annotated[
        str | None,
        typer.Option(metavar="MARK", help="The mark of unlabelled rows, besides ? and nan."),
    ] = None,
    format: Annotated[Format, typer.Option(help="auto: by the name.")] = Format.auto,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where the page is; 0 takes a free port.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Label rows in the browser, the most useful first, while a model learns from every answer.

    The page is served on this computer alone, under an address that nobody else can guess. Every
    answer is on the disk before the page says so. --out holds every labelled row with its columns,
    for graphkm train. Stop with Ctrl-C, and start again to continue.
    """
    _check(out, data, classes, regression, images, text)
    try:
        from ..app.server import serve
    except ImportError as error:
        raise UsageError(
            f'the labelling page needs {error.name}: run pip install "graphkm[app]".'
        ) from error
    import webbrowser

    from ..app.journal import Journal, JournalError
    from ..app.reading import read_material
    from ..app.session import Session
    from .output import check_output, say

    model = model if model is not None else out.with_suffix(".gkm")
    for written in (out, model):
        check_output(written, *([] if data.is_dir() else [data]))
    kind = None if format is Format.auto else format.value
    rows = read_material(data, format=kind, label=column, images=images, text=text)
    rows = _without_mark(rows, unlabeled)
    for note in rows.notes:
        say(f"note: {note}")
    try:
        session = Session(
            rows,
            Journal(out, rows),
            classes=_listed(classes),
            regression=regression,
            save=_saver(rows, regression, model),
        )
    except JournalError as error:
        raise UsageError(str(error)) from error

    def ready(address: str) -> None:
        print(f"{len(rows):,} rows, {session.state()['labelled']:,} labelled. The page is at")
        print(address, flush=True)
        if browser:
            webbrowser.open(address)

    with suppress(KeyboardInterrupt):  # the usual way to stop
        serve(session, port=port, ready=ready)
    say(f"{len(session.journal.labels()):,} labels are in {out}. Start again to continue.")


def _check(
    out: Path, data: Path, classes: str | None, regression: bool, images: Any, text: Any
) -> None:
    if not data.exists():
        raise FileNotFoundError(2, "No such file or directory", str(data))
    if out.suffix.lower() != ".csv":
        raise UsageError(f"--out {out}: labels are written as CSV; name a file that ends in .csv.")
    if regression and classes is not None:
        raise UsageError("--classes and --regression do not go together; pass one of them.")
    if images is not None and text is not None:
        raise UsageError("--images and --text do not go together; pass one of them.")
    listed = _listed(classes)
    if listed is not None and (len(set(listed)) != len(listed) or len(listed) < 2):
        raise UsageError(f"--classes {classes}: name two or more different classes, as in a,b,c.")


def _listed(classes: str | None) -> list[str] | None:
    if classes is None:
        return None
    return [name.strip() for name in classes.split(",") if name.strip()]


def _without_mark(rows: Any, mark: str | None) -> Any:
    """Return the rows with those unlabelled whose label is the mark."""
    from dataclasses import replace

    if mark is None:
        return rows
    given = rows.given.copy()
    given[given == mark] = None
    return replace(rows, given=given)


def _saver(rows: Any, regression: bool, path: Path) -> Callable[[dict[int, str]], str]:
    """Return what writes a model of the labels so far, as `graphkm train` would."""

    def save(labels: dict[int, str]) -> str:
        import numpy as np

        from .models import FileNote, make_estimator, write_model
        from .options import FitOptions, Method, Scale
        from .preparing import behind, choose_scale, steps_before

        if len(labels) < 2 or (not regression and len(set(labels.values())) < 2):
            raise ValueError("a model needs two labels at least, of two classes.")
        task = "regress" if regression else "classify"
        known = list(labels)
        if regression or all(_is_whole(text) for text in labels.values()):
            y = np.full(len(rows), np.nan)
            y[known] = [float(labels[row]) for row in known]
        else:
            y = np.full(len(rows), None, dtype=object)
            y[known] = [labels[row] for row in known]
        sparse = not isinstance(rows.X, np.ndarray)
        estimator = make_estimator(Method.gkm, task, FitOptions())
        X = rows.X if sparse else np.asarray(rows.X, dtype=np.float64)
        scale = choose_scale(Scale.none if rows.alike else Scale.auto, X)
        fitted = behind(steps_before(scale, [], False, X), estimator).fit(X, y)
        note = FileNote(
            task=task,
            format="libsvm" if sparse else "csv",
            columns=None if sparse else list(rows.names),
            n_features=X.shape[1],
            label=None if sparse else rows.label,
            labels="number" if y.dtype.kind == "f" else "text",
            unlabeled=None,
            zero_based=False,
            sparse=sparse,
            scale=scale,
            n_rows=len(rows),
            n_labeled=len(known),
        )
        write_model(fitted, path, note)
        return f"{path} holds a model of {len(known):,} labels and {len(rows):,} rows."

    return save


def _is_whole(text: str) -> bool:
    try:
        return float(text).is_integer()
    except ValueError:
        return False
