"""`graphkm predict`: labels for the rows of a file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import AsJson, Data, FileOptions, Model, UsageError, spread

EXAMPLES = (
    "graphkm predict moons.gkm new_rows.csv --out predictions.csv",
    "cat new_rows.csv | graphkm predict moons.gkm -",
)

CHUNK = 10_000  # rows in memory at a time


@spread
def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(help="The CSV file to write; standard output by default."),
    ] = None,
    as_json: AsJson = False,
    files: FileOptions = FileOptions(),  # noqa: B008
) -> None:
    """Write a prediction for every row, with the decision values behind it.

    The output's columns are prediction and, for two classes, decision: it is above 0 for the
    second class, and the farther from 0 the surer. For several classes there is one
    decision_CLASS each, and the largest wins. Columns of DATA are found by name, in any order;
    columns that the model does not know are skipped, whatever they hold.
    """
    from .models import read_model
    from .output import STDOUT, check_output, show, whole_or_not
    from .tables import open_known

    if as_json and str(out or STDOUT) == STDOUT:
        raise UsageError("--json takes standard output for its summary; pass --out FILE as well.")
    if out is not None and str(out) != STDOUT:
        check_output(out, model, data)
    fitted, note = read_model(model)
    count = 0
    with open_known(str(data), files, note, labels=False) as table, whole_or_not(out) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header(fitted))
        for rows in predictions(fitted, table):
            writer.writerows(rows)
            count += len(rows)
    if as_json:
        show({}, {"rows": count, "columns": header(fitted), "out": out}, True)


def header(model: Any) -> list[str]:
    """Return the names of the output's columns."""
    from .rows import label_text

    if not hasattr(model, "classes_"):
        return ["prediction"]
    if len(model.classes_) == 2:
        return ["prediction", "decision"]
    return ["prediction", *(f"decision_{label_text(label)}" for label in model.classes_)]


def predictions(model: Any, table: Any) -> Iterator[list[list[Any]]]:
    """Yield rows of predictions, in chunks."""
    import numpy as np

    from ..machines.classes import winning_class
    from ..online.chunks import cut_into_chunks
    from .models import last_step
    from .output import progress_bar
    from .rows import label_text

    # Without a field the estimator's own predict decides, which scores may not tell.
    corrected = hasattr(last_step(model), "field_")
    words = [label_text(label) for label in getattr(model, "classes_", ())]
    with progress_bar("predicting", "rows") as bar:
        for X, *_ in cut_into_chunks(table.pieces, CHUNK):
            if words:
                scores = np.asarray(model.decision_function(X)).reshape(X.shape[0], -1)
                codes = (
                    np.searchsorted(model.classes_, model.predict(X))
                    if corrected
                    else winning_class(scores)
                )
                rows = [[words[k], *row] for k, row in zip(codes, scores.tolist(), strict=True)]
            else:
                rows = [[value] for value in model.predict(X).tolist()]
            yield rows
            bar.update(len(rows))
