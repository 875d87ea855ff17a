"""`graphkm predict`: labels for the rows of a file."""

from __future__ import annotations

import csv
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from .dask_options import DaskOptions, refuse
from .options import AsJson, Data, FileOptions, Model, UsageError
from .spreading import spread

EXAMPLES = (
    "graphkm predict moons.gkm new_rows.csv --out predictions.csv",
    "graphkm predict moons.gkm new_rows.csv --proba --out predictions.csv",
    "cat new_rows.csv | graphkm predict moons.gkm -",
    "graphkm predict moons.gkm new_rows.csv --sets 0.9 --out predictions.csv",
    "graphkm predict moons.gkm new_rows.csv --novelty --out predictions.csv",
    "graphkm predict rows.gkm rows/ --dask --workers 2 --out predictions/",
    "graphkm predict papers.gkm new_papers.csv --edges new_cites.csv --out predictions.csv",
)


class OutFormat(StrEnum):
    """Formats of predictions."""

    csv = "csv"
    parquet = "parquet"


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
        typer.Option(
            help="The CSV file to write; standard output by default. With --dask a folder, which "
            "gets a file for each part of DATA."
        ),
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
    many: DaskOptions = DaskOptions(),  # noqa: B008
    out_format: Annotated[
        OutFormat,
        typer.Option(
            help="With --dask: the format of the files that are written.",
            rich_help_panel="Files larger than memory, on worker processes",
        ),
    ] = OutFormat.csv,
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
    many.check()
    if many.dask:
        from .part_predictions import Asked, predict_parts

        refuse(("--edges", edges), ("--id", id))
        if out is None:
            raise UsageError("--dask writes many files; name a folder for them with --out.")
        asked = Asked(proba, sets, novelty, keep, out_format is OutFormat.parquet)
        return predict_parts(model, data, out, asked, files, many, as_json)
    from .categories import UnknownCategories
    from .edge_files import named_files
    from .links import open_joined
    from .model_files import read_model
    from .output import STDOUT, check_output, say, show, whole_or_not
    from .prediction_rows import header, kept_columns, predictions

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
        first: list[list[Any]] = next(
            found, []
        )  # an error with the first rows leaves standard output empty
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
