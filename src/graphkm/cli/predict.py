"""`graphkm predict`: labels for the rows of a file."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Data, FileOptions, Model, UsageError
from .spreading import spread

if TYPE_CHECKING:
    from .further_columns import Further
    from .links import Links
    from .model_files import FileNote

EXAMPLES = (
    "graphkm predict moons.gkm new_rows.csv --out predictions.csv",
    "graphkm predict moons.gkm new_rows.csv --proba --out predictions.csv",
    "cat new_rows.csv | graphkm predict moons.gkm -",
    "graphkm predict moons.gkm new_rows.csv --sets 0.9 --out predictions.csv",
    "graphkm predict moons.gkm new_rows.csv --novelty --out predictions.csv",
    "graphkm predict papers.gkm new_papers.csv --edges new_cites.csv --out predictions.csv",
)

CHUNK = 10_000  # rows in memory at a time

NewEdges = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]FILE",
        help="Edges between rows of DATA and rows of training, for a model that was trained with "
        "--edges: a table as there. Without ids, a row number of DATA comes first, and then one "
        "of the training file, both from 0. May be repeated.",
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that identifies rows, by which edges find them; the output begins with "
        "it. Default: the one of training.",
    ),
]


@spread
def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(help="The CSV file to write; standard output by default."),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of every class.")
    ] = False,
    sets: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Add the set of classes, or the interval, that holds the truth of this share of "
            "rows, as 0.9; labels that were held out in training tell how large it must be.",
        ),
    ] = None,
    novelty: Annotated[
        bool,
        typer.Option(
            "--novelty",
            help="Add how odd a row is beside all known classes, from 0 to 1: the share of "
            "labelled rows, each held out, that look less odd.",
        ),
    ] = False,
    edges: NewEdges = None,
    id: Id = None,
    keep: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Columns of DATA to copy, like name,city."),
    ] = None,
    as_json: AsJson = False,
    files: FileOptions = FileOptions(),  # noqa: B008
) -> None:
    """Write a prediction for every row, with the decision values behind it.

    The output's columns are prediction and, for two classes, decision: it is above 0 for the
    second class, and the farther from 0 the surer. For several classes there is one
    decision_CLASS each, and the largest wins. With --proba there is probability_CLASS as well,
    fitted to labels that were held out in training. With --sets 0.9 there is set, with the classes
    of which one is right for nine rows in ten and ; between them, or - if none is likely enough;
    for quantities there are low and high instead. With --novelty there is novelty, which is near 1
    for rows that may belong to no known class. Where rows have several labels, there is a
    column for each label, 0 or 1, or prediction with the names of the labels if one column had them
    in training; several quantities have a column each. Before them come the columns of --id and
    --keep. Columns of DATA are found by name, in any order; columns that the model does not know
    are skipped, whatever they hold.
    """
    from .categories import UnknownCategories
    from .edge_files import named_files
    from .links import open_joined
    from .model_files import read_model
    from .output import STDOUT, check_output, say, show, whole_or_not

    if as_json and str(out or STDOUT) == STDOUT:
        raise UsageError("--json takes standard output for its summary; pass --out FILE as well.")
    paths = named_files(edges or (), data)
    if out is not None and str(out) != STDOUT:
        check_output(out, model, data, *paths.values())
    fitted, note = read_model(model)
    if proba and not hasattr(fitted, "predict_proba"):
        raise UsageError(
            f"--proba: the model in {model} has no probabilities: it predicts quantities, or was "
            "saved by an earlier version or another program. Train a classifier again, or leave "
            "--proba out."
        )
    further = []
    if sets is not None or novelty:
        from .further_columns import further_columns

        if novelty and paths:
            raise UsageError("--novelty measures distances of rows; leave --edges out.")
        further = further_columns(fitted, note, sets, novelty, model)
    count, kept = 0, kept_columns(note.id if id is None and paths else id, keep, note)
    unknown = UnknownCategories(fitted, note.columns)
    with (
        open_joined(data, files, fitted, note, paths, model=model, kept=kept) as (table, links),
        whole_or_not(out, keep_previous=True) as file,
    ):
        names = [*table.kept_names, *header(fitted, note, proba)]
        names += [name for each in further for name in each.names]
        writer = csv.writer(file, lineterminator="\n")
        found = predictions(fitted, note, unknown.passing(table.pieces), proba, links, further)
        first = next(found, [])  # an error with the first rows leaves standard output empty
        writer.writerow(names)
        for rows in chain([first], found):
            copied = (table.kept.popleft() if table.kept_names else () for _ in rows)
            writer.writerows([*cells, *row] for cells, row in zip(copied, rows, strict=True))
            count += len(rows)
    told = unknown.sentence(table.name)
    if told is not None:
        say(f"note: {told}")
    if as_json:
        facts = {"rows": count, "columns": names, "encoding": table.encoding}
        show({}, facts | {"unknown_categories": unknown.counts, "out": out}, True)


def kept_columns(id: str | None, keep: str | None, note: FileNote) -> list[tuple[str, str]]:
    """Return the columns that are copied to the output, each with the option that names it.

    The identifier of training has no option: it is copied if DATA has it.
    """
    first = id if id is not None else note.id
    names = [name.strip() for name in (keep or "").split(",") if name.strip()]
    wanted = [] if first is None else [(first, "--id" if id is not None else "")]
    return wanted + [(name, "--keep") for name in names if name != first]


def header(model: Any, note: FileNote, proba: bool = False) -> list[str]:
    """Return the names of the output's columns."""
    from .learning_rows import label_text
    from .several_answers import several_header

    if note.several:
        return several_header(note, proba)
    if not hasattr(model, "classes_"):
        return ["prediction"]
    words = [label_text(label) for label in model.classes_]
    scores = ["decision"] if len(words) == 2 else [f"decision_{word}" for word in words]
    return ["prediction", *scores, *(f"probability_{word}" for word in words if proba)]


def predictions(
    model: Any,
    note: FileNote,
    pieces: Any,
    proba: bool,
    links: Links,
    further: Sequence[Further] = (),
) -> Iterator[list[list[Any]]]:
    """Yield rows of predictions for pieces of a table, in chunks."""
    import numpy as np

    from ..estimators.classes import winning_class
    from ..online.chunks import cut_into_chunks
    from .learning_rows import label_text
    from .model_files import last_step
    from .output import progress_bar
    from .several_answers import several_rows

    # Machines that may have a field, and mixtures, decide by their own predict, not by scores.
    own = any(hasattr(last_step(model), name) for name in ("field_", "mixture_"))
    words = [label_text(label) for label in getattr(model, "classes_", ())]
    with progress_bar("predicting", "rows") as bar:
        for X, _, first in cut_into_chunks(pieces, CHUNK):
            ask = partial(links.ask, model, X=X, rows=slice(first, first + X.shape[0]))
            if note.several:
                shares = ask("predict_proba") if proba else None
                rows = several_rows(note, ask("predict"), shares)
            elif words:
                scores = ask("decision_function").reshape(X.shape[0], -1)
                codes = (
                    np.searchsorted(model.classes_, ask("predict"))
                    if own
                    else winning_class(scores)
                )
                if proba:
                    scores = np.hstack([scores, ask("predict_proba")])
                rows = [[words[k], *row] for k, row in zip(codes, scores.tolist(), strict=True)]
            else:
                rows = [[value] for value in ask("predict").tolist()]
            for each in further:
                more = each.rows(X, ask)
                rows = [[*row, *cells] for row, cells in zip(rows, more, strict=True)]
            yield rows
            bar.update(len(rows))
