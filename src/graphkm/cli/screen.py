"""`graphkm screen`: all rows of one class, the likeliest first, and what is still missed."""

from __future__ import annotations

import csv
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Data, LearningFileOptions, Missing, Task, UsageError
from .spreading import spread

if TYPE_CHECKING:
    from .learning_rows import Rows
    from .random_draw import Draw

EXAMPLES = (
    "graphkm screen few_labels.csv --relevant cat --out next.csv",
    "graphkm screen texts.csv --relevant good --text review --ranker linear",
    "graphkm screen few_labels.csv --relevant cat --drawn drawn.csv",
)


class Ranker(StrEnum):
    """The models that rank rows."""

    mixture = "mixture"
    linear = "linear"


@spread
def screen(
    data: Data,
    relevant: Annotated[
        str, typer.Option(metavar="CLASS", help="The class, or the label, to look for.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="The CSV file of the rows to screen next, the likeliest first."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="How many rows; all by default.")
    ] = None,
    ranker: Annotated[
        Ranker,
        typer.Option(
            help="mixture: the front door, with the graph of all rows. linear: logistic regression "
            "on the screened rows, which is quicker."
        ),
    ] = Ranker.mixture,
    drawn: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="A random order of the rows that are left, to find out what is missed. It is "
            "written if it is not there; screen its rows in its order, and give it again.",
        ),
    ] = None,
    target: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of relevant rows that is enough.")
    ] = 0.95,
    alpha: Annotated[
        float, typer.Option(help="The probability with which what --drawn tells may be wrong.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="The same number gives the same order.")] = 0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Default: every core.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    files: LearningFileOptions = LearningFileOptions(),  # noqa: B008
) -> None:
    """Find all rows of one class: which to screen next, and how many are missed so far.

    A row of DATA that has a label is screened. Screen the first rows of --out, write their labels
    into DATA, and call this again. The columns of --out are row (numbered from 1, without the
    header) or the column that --id names, and chance, the probability of being relevant. Several
    labels per row are read as graphkm train reads them.
    """
    from ..io import DataFileError
    from .output import check_output, show, whole_or_not
    from .random_draw import drawn_rows

    _check(data, files, target, alpha)
    for written in (out, drawn):
        if written is not None:
            check_output(written, data)
    rows, names = _read(data, files)
    labels = _relevant(rows, relevant)
    screened, found = labels == labels, labels == 1.0
    draw = None
    if drawn is not None:
        called = files.id or "row"
        draw = drawn_rows(drawn, called, names, screened, found, target, alpha, seed)
    if screened.all():
        raise DataFileError(f"{data}: all of its {len(labels):,} rows are screened.")
    order, chances = _ranked(rows, labels, ranker, seed, threads, files.encoder)
    expected = float(chances.sum())
    recall = int(found.sum()) / (int(found.sum()) + expected)
    if out is not None:
        with whole_or_not(out, keep_previous=True) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([files.id or "row", "chance"])
            some = zip(order[:count].tolist(), chances[:count].round(4).tolist(), strict=True)
            writer.writerows([names[row], chance] for row, chance in some)
    facts = {
        **{"rows": len(labels), "screened": int(screened.sum()), "relevant": int(found.sum())},
        **{"expected_left": expected, "expected_recall": recall, "target": target},
        **{"drawn": None if draw is None else draw.facts, "out": out},
    }
    if as_json:
        show({}, facts, True)
    else:
        print("\n".join(_told(facts, relevant, draw)))


def _check(data: str, files: LearningFileOptions, target: float, alpha: float) -> None:
    """Raise for options that do not go together, before anything is read."""
    from .folder_rows import is_folder
    from .options import Method
    from .train import check_encoded

    if is_folder(data):
        raise UsageError(
            f"{data} is a folder; screen reads tables, whose rows have numbers or ids."
        )
    if files.skip_bad_rows or files.missing is Missing.drop:
        raise UsageError(
            "--skip-bad-rows, --missing drop: rows that are left out would never be screened, and "
            "the numbers of the others would change."
        )
    for flag, share in (("--target", target), ("--alpha", alpha)):
        if not 0.0 < share < 1.0:
            raise UsageError(f"{flag} {share:g}: it must be above 0 and below 1.")
    check_encoded(data, files, Method.mixture, False)


def _read(data: str, files: LearningFileOptions) -> tuple[Rows, list[str]]:
    """Return the rows, and what each is called: its id, or its number from 1."""
    from .learning_rows import read_rows
    from .opening import Source
    from .row_ids import training_ids

    source = Source.at(data)
    rows = read_rows(source, files, Task.classify)
    ids = training_ids(source, None, files, rows.note)
    return rows, [str(each) for each in (range(1, len(rows.y) + 1) if ids is None else ids)]


def _relevant(rows: Rows, name: str) -> Any:
    """Return 1 where a row is relevant, 0 where it is not, and NaN where it is not screened."""
    import numpy as np

    from ..estimators.labels import missing_mask
    from .learning_rows import label_text

    known = rows.note.targets if rows.note.several else [label_text(each) for each in rows.classes]
    if name not in known:
        raise UsageError(
            f"--relevant {name}: no row has this label; the labels are {', '.join(known)}. To rank "
            "rows, one that is relevant must be known."
        )
    if rows.note.several:
        labels = np.array(rows.y[:, known.index(name)], dtype=np.float64)
    else:
        gaps = missing_mask(rows.y)
        told = [0.0 if gap else label_text(y) == name for y, gap in zip(rows.y, gaps, strict=True)]
        labels = np.where(gaps, np.nan, np.array(told, dtype=np.float64))
    if not (labels == 1.0).any() or not (labels == 0.0).any():
        raise UsageError(
            f"--relevant {name}: the screened rows are all alike in it. To rank rows, one that is "
            "relevant and one that is not must be known."
        )
    return labels


def _ranked(
    rows: Rows, labels: Any, ranker: Ranker, seed: int, threads: int | None, encoder: str
) -> tuple[Any, Any]:
    """Return the rows that are left, the likeliest first, and their probabilities."""
    from dataclasses import replace

    import numpy as np
    from sklearn.linear_model import LogisticRegression

    from .estimators import make_estimator
    from .fit_options import FitOptions
    from .options import Scale
    from .preparing import fit_prepared

    model = make_estimator("mixture", "classify", FitOptions(seed=seed, threads=threads))
    if ranker is Ranker.linear:
        model.set_params(estimator=LogisticRegression(C=10.0, max_iter=300), graph=None)
    note = replace(rows.note, targets=[], separator=None)
    one = replace(rows, y=labels, note=note)
    fitted, _ = fit_prepared(model, Scale.auto, one, encoder=encoder)
    left = np.flatnonzero(labels != labels)
    chances = fitted.predict_proba(rows.X[left])[:, 1]
    order = np.argsort(-chances, kind="stable")
    return left[order], chances[order]


def _told(facts: dict[str, Any], relevant: str, draw: Draw | None) -> list[str]:
    """Return sentences: where the search is, what is expected, and whether it is enough."""
    left, out = facts["rows"] - facts["screened"], facts["out"]
    lines = [
        f"{facts['screened']:,} of {facts['rows']:,} rows are screened, and {facts['relevant']:,} "
        f"of them are {relevant}.",
        f"The model expects about {facts['expected_left']:,.0f} more among the other {left:,}: if "
        f"it is right, {100 * facts['expected_recall']:.1f} % are found.",
    ]
    if draw is not None:
        lines += draw.told(relevant)
    elif facts["expected_recall"] >= facts["target"]:
        lines.append(
            "That is enough if the model is right. To know it whatever the model is, pass --drawn "
            "FILE.csv, and screen rows at random."
        )
    else:
        lines.append(f"Go on with the likeliest rows: --out {out or 'FILE.csv'} has them in order.")
    return lines
