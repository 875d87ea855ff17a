"""`graphkm evaluate`: how good a model is on rows whose labels are known."""

from __future__ import annotations

from typing import Any

from .grouping import spread
from .options import AsJson, Data, FileOptions, Model

EXAMPLE = "graphkm evaluate moons.gkm test_rows.csv"
MORE_EXAMPLES = ("graphkm evaluate moons.gkm test_rows.csv --label kind --json",)


@spread
def evaluate(
    model: Model,
    data: Data,
    as_json: AsJson = False,
    files: FileOptions = FileOptions(),  # noqa: B008
) -> None:
    """Compare a model's predictions with the labels of a file; rows without one are passed over.

    It is a fair test only if the model has not been trained on these rows.
    """
    import numpy as np

    from .model_files import read_model
    from .printing import show
    from .scores import confusion_lines, judge, score_lines

    fitted, memory = read_model(model)
    n_rows, pairs = labelled_predictions(fitted, memory, data, files)
    truth, predicted = (np.concatenate(column) for column in zip(*pairs, strict=True))
    scores = judge(memory.task, truth, predicted)
    tested = f"{len(truth):,} of {n_rows:,}"
    show(
        {"labelled rows": tested} | score_lines(memory.task, scores),
        {"task": memory.task, "rows": n_rows, "labelled": len(truth)} | scores,
        as_json,
    )
    if memory.task == "classify" and not as_json:
        print("\n" + "\n".join(confusion_lines(scores["classes"], scores["confusion"])))


def labelled_predictions(
    model: Any, memory: Any, data: str, files: FileOptions
) -> tuple[int, list[tuple[Any, Any]]]:
    """Return the number of rows, and labels with predictions of those that have one."""
    from ..io import DataFileError
    from ..machines.labels import missing_mask
    from ..online.chunks import cut_into_chunks
    from .predict import CHUNK
    from .printing import progress_bar
    from .tables import open_known

    n_rows, pairs = 0, []
    with open_known(data, files, memory) as table, progress_bar("testing", "rows") as bar:
        if table.layout is not None and table.layout.label is None:
            called = f" called {memory.label!r}" if isinstance(memory.label, str) else ""
            raise DataFileError(
                f"{table.name} has no column{called} to compare with; name the label's column with "
                "--label."
            )
        for X, y, *_ in cut_into_chunks(table.pieces, CHUNK):
            labeled = ~missing_mask(y)
            if labeled.any():
                pairs.append((y[labeled], model.predict(X[labeled])))
            n_rows += len(y)
            bar.update(len(y))
    if not pairs:
        raise DataFileError(
            f"{table.name}: none of its {n_rows:,} rows has a label to compare with."
        )
    return n_rows, pairs
