"""`graphkm evaluate`: how good a model is on rows whose labels are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Data, FileOptions, KnownLabels, Model, UsageError
from .predict import Id, NewEdges
from .spreading import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .links import Links
    from .model_files import FileNote
    from .row_table import Table

EXAMPLES = (
    "graphkm evaluate moons.gkm test_rows.csv",
    "graphkm evaluate moons.gkm test_rows.csv --label kind --json",
    "graphkm evaluate papers.gkm new_papers.csv --edges new_cites.csv",
    "graphkm evaluate moons.gkm few_labels.csv --doubtful",
)

_SHOWN = 12  # the most classes of a printed confusion matrix


@spread
def evaluate(
    model: Model,
    data: Data,
    edges: NewEdges = None,
    id: Id = None,
    labels: KnownLabels = None,
    doubtful: Annotated[
        bool,
        typer.Option(
            "--doubtful",
            help="List the labels of the model that look wrong instead, the most doubtful first. "
            "DATA is the file that it was trained on.",
        ),
    ] = False,
    as_json: AsJson = False,
    files: FileOptions = FileOptions(),  # noqa: B008
) -> None:
    """Compare a model's predictions with the labels of a file; rows without a label do not count.

    It is a fair test only if the model has not been trained on these rows. Where rows have several
    labels, those that are not known do not count, and every label has a line of its own.

    With --doubtful it lists labels that look wrong: those against which fits speak that had not
    seen them, each with the probability that it is wrong and the nearest labelled rows.
    """
    import numpy as np

    from .edge_files import named_files
    from .links import open_joined
    from .model_files import read_model
    from .note_lines import label_line, with_asked_labels
    from .output import show
    from .prediction_rows import kept_columns

    paths = named_files(edges or (), data)
    fitted, note = read_model(model)
    if doubtful:
        from .doubts import show_doubts

        if paths:
            raise UsageError("--doubtful looks at labels of training; leave --edges out.")
        asked = with_asked_labels(note, labels, files.label)
        return show_doubts(fitted, asked, data, files, model, as_json)
    kept = kept_columns(note.id if id is None else id, None, note) if paths else []
    asked = with_asked_labels(note, labels, files.label)
    opening = open_joined(data, files, fitted, asked, paths, model=model, kept=kept, labels=True)
    with opening as (table, links):
        n_rows, pairs = labelled_predictions(fitted, asked, table, links)
    truth, *said = (np.concatenate(column) for column in zip(*pairs, strict=True))
    scores = scores_of(fitted, note, truth, *said)
    tested = f"{len(truth):,} of {n_rows:,}"
    label = note.label if files.label is None else files.label
    told = label_line(asked) if asked.label_columns else label_told(label, table.format)
    show(
        {"label": told, "labelled rows": tested} | score_lines(note.task, scores),
        {"task": note.task, "label": label, "rows": n_rows, "labelled": len(truth)} | scores,
        as_json,
    )
    if not as_json:
        print_details(scores)


def label_told(label: Any, format: str) -> str | None:
    """Return where labels come from: a column, or the names of sub-folders."""
    from .model_files import FOLDER

    if format == FOLDER:
        return "the sub-folders"
    return None if label is None else f"the column {label!r}"


def labelled_predictions(
    model: Any, note: FileNote, table: Table, links: Links
) -> tuple[int, list[tuple[Any, ...]]]:
    """Return the number of rows, and pairs of labels and predictions of the labelled rows.

    Several labels come with their probabilities.
    """
    import numpy as np

    from ..io import DataFileError
    from ..online.chunks import cut_into_chunks
    from .learning_rows import labeled_rows
    from .output import progress_bar
    from .prediction_rows import CHUNK

    n_rows, pairs = 0, list[tuple[Any, ...]]()
    if note.label_columns and (table.columns is None or not table.columns.labels):
        raise DataFileError(
            f"{table.name} has no columns called {', '.join(note.label_columns)} to compare with; "
            "name the columns of labels with --labels."
        )
    if not note.label_columns and table.columns is not None and table.columns.label is None:
        called = f" called {note.label!r}" if isinstance(note.label, str) else ""
        raise DataFileError(
            f"{table.name} has no column{called} to compare with; name the label's column with "
            "--label."
        )
    with progress_bar("testing", "rows") as bar, _labels_explained(note, model):
        for X, y, first in cut_into_chunks(table.pieces, CHUNK):
            labeled = np.flatnonzero(labeled_rows(y))
            if len(labeled):
                places = first + labeled
                found = (links.ask(model, each, X[labeled], places) for each in methods_of(note))
                pairs.append((y[labeled], *found))
            n_rows += len(y)
            bar.update(len(y))
    if not pairs:
        raise DataFileError(
            f"{table.name}: none of its {n_rows:,} rows has a label to compare with. "
            "Is --label right?"
        )
    if note.task == "classify" and not note.several:
        _check_known(np.unique(np.concatenate([truth for truth, *_ in pairs])), model, table.name)
    return n_rows, pairs


@contextmanager
def _labels_explained(note: FileNote, model: Any) -> Iterator[None]:
    """Say what labels the model knows where the labels of a file are of another kind."""
    from ..io import DataFileError

    try:
        yield
    except DataFileError as error:
        if note.task != "classify" or note.several or "the label" not in str(error):
            raise
        told = str(error).partition(" Fix it.")[0]
        raise DataFileError(f"{told} {_classes_of(model)} Is --label right?") from None


def _check_known(labels: NDArray[Any], model: Any, name: str) -> None:
    """Raise if no label of a file is a class of the model; note it if some are not."""
    from ..io import DataFileError
    from .learning_rows import label_text
    from .output import say

    known = {label_text(label) for label in model.classes_}
    strange = [text for text in map(label_text, labels) if text not in known]
    shown = ", ".join(strange[:_SHOWN]) + ", ..." * (len(strange) > _SHOWN)
    if len(strange) == len(labels):
        raise DataFileError(
            f"{name}: none of its labels ({shown}) is a class of the model. {_classes_of(model)} "
            "Is --label right?"
        )
    if strange:
        say(f"note: the model does not know these labels of {name}: {shown}.")


def _classes_of(model: Any) -> str:
    from .learning_rows import label_text

    texts = [label_text(label) for label in model.classes_]
    return f"The model's classes are {', '.join(texts[:_SHOWN])}{', ...' * (len(texts) > _SHOWN)}."


def methods_of(note: FileNote) -> list[str]:
    """Return the methods of a model that its scores need."""
    labels = note.several and note.task == "classify"
    return ["predict", "predict_proba"] if labels else ["predict"]


def scores_of(
    model: Any, note: FileNote, truth: NDArray[Any], *said: NDArray[Any]
) -> dict[str, Any]:
    """Return the scores of what the methods of `methods_of` say."""
    from .model_files import last_step
    from .several_scores import judge_labels, judge_quantities

    if not note.several:
        return judge(note.task, truth, said[0])
    if note.task == "regress":
        return judge_quantities(note.targets, truth, said[0])
    return judge_labels(note.targets, truth, said[0], said[1], last_step(model).thresholds_)


def judge(task: str, truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, Any]:
    """Return the scores of predictions.

    Examples
    --------
    >>> import numpy as np
    >>> found = judge("classify", np.array(["a", "b", "b"]), np.array(["a", "b", "a"]))
    >>> found["confusion"], round(found["balanced_accuracy"], 2)
    ([[1, 0], [1, 1]], 0.75)
    """
    import numpy as np
    from sklearn import metrics

    from .learning_rows import label_values

    if task == "regress":
        return {
            "r2": metrics.r2_score(truth, predicted) if len(truth) > 1 else float("nan"),
            "mean_absolute_error": metrics.mean_absolute_error(truth, predicted),
            "root_mean_squared_error": float(np.sqrt(np.mean((truth - predicted) ** 2))),
        }
    classes, codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
    n, k = len(truth), len(classes)
    confusion = np.bincount(k * codes[:n] + codes[n:], minlength=k * k).reshape(k, k)
    there = confusion.sum(axis=1) > 0
    recalls = confusion.diagonal()[there] / confusion.sum(axis=1)[there]
    return {
        "accuracy": float(np.mean(truth == predicted)),
        "balanced_accuracy": float(recalls.mean()),
        "macro_f1": float(metrics.f1_score(truth, predicted, average="macro", zero_division=0)),
        "classes": label_values(classes),
        "confusion": confusion.tolist(),
    }


def score_lines(task: str, scores: Mapping[str, Any]) -> dict[str, str]:
    """Return the scores for people."""
    from .output import percent
    from .several_scores import several_lines

    if "labels" in scores or "targets" in scores:
        return several_lines(scores)
    if task == "regress":
        return {
            "R^2": f"{scores['r2']:.4f}",
            "mean absolute error": f"{scores['mean_absolute_error']:.6g}",
            "root mean squared error": f"{scores['root_mean_squared_error']:.6g}",
        }
    return {
        "accuracy": percent(scores["accuracy"]),
        "balanced accuracy": f"{percent(scores['balanced_accuracy'])} (mean over the classes)",
        "macro F1": f"{scores['macro_f1']:.4f}",
    }


def print_details(scores: Mapping[str, Any]) -> None:
    """Print the table of errors, or a line for each of several labels or quantities."""
    from .several_scores import print_several

    if "confusion" in scores:
        print()
        print_confusion(scores["classes"], scores["confusion"])
    elif "labels" in scores or "targets" in scores:
        print()
        print_several(scores)


def print_confusion(classes: Sequence[Any], confusion: Sequence[Sequence[int]]) -> None:
    r"""Print a table of true against predicted classes.

    Examples
    --------
    >>> print_confusion(["a", "b"], [[1, 0], [1, 1]])
    true \ predicted  a  b
    a                 1  0
    b                 1  1
    """
    from .learning_rows import label_text
    from .output import print_table

    if len(classes) > _SHOWN:
        print(f"({len(classes)} classes: --json has the confusion matrix)")
        return
    names = [label_text(value) for value in classes]
    cells = [[name, *map(str, row)] for name, row in zip(names, confusion, strict=True)]
    print_table([["true \\ predicted", *names], *cells], justify="right")
