"""`graphkm train`: a model from a file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .dask_options import DaskOptions, refuse
from .fit_options import TrainingOptions
from .options import (
    AsJson,
    Data,
    LearningFileOptions,
    Method,
    Model,
    Scale,
    ScaleOption,
    Task,
    TaskOption,
    UsageError,
)
from .spreading import spread

if TYPE_CHECKING:
    from .holding_out import HeldOut
    from .joining import GivenGraphs
    from .learning_rows import Rows

EXAMPLES = (
    "graphkm train few_labels.csv moons.gkm",
    "graphkm train labelled.csv model.gkm --unlabeled-data unlabelled.csv --label kind",
    "graphkm train few_labels.csv machine.gkm --method gkm --loss logistic --C 10",
    "graphkm train few_labels.csv best.gkm --method gkm --search --cv 3",
    "cat few_labels.csv | graphkm train - moons.gkm --holdout 0.3",
    "graphkm train texts.csv texts.gkm --text review",
    "graphkm train photos/ photos.gkm",
    "graphkm train songs.csv songs.gkm --labels happy,quiet --thresholds f1",
    "graphkm train tagged.csv tagged.gkm --label tags --separator ';'",
    "graphkm train papers.csv papers.gkm --edges cites.csv --id paper",
    "graphkm train rows/ rows.gkm --dask --workers 2 --worker-memory 2GB",
    "graphkm train 'reviews/*.parquet' reviews.gkm --dask --text review",
)

UnlabeledData = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="More rows, which count as unlabelled; their labels are ignored.",
    ),
]

Edges = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]FILE",
        help="A graph of the rows that you have, for --method mixture: a table of edges with the "
        "columns source, target and weight, or two or three columns. They hold ids of the column "
        "that --id names; without --id, row numbers from 0. May be repeated; each file is a graph.",
    ),
]


@spread
def train(
    data: Data,
    model: Model,
    unlabeled_data: UnlabeledData = None,
    edges: Edges = None,
    task: TaskOption = Task.auto,
    scale: ScaleOption = Scale.auto,
    holdout: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0.0,
            max=0.9,
            help="Keep this share of the labelled rows out of training, and test on them.",
        ),
    ] = 0.0,
    method: Annotated[
        Method,
        typer.Option(
            help="mixture: many models, with and without the graph of all rows, weighed by "
            "held-out labels. gkm: the graph-based kernel machine. lapsvm and tsvm: the Laplacian "
            "and the transductive SVM. An option of another method is an error.",
        ),
    ] = Method.mixture,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="With --method gkm: choose its parameters by held-out labels. Lists to choose "
            "from are set like --set Cs=[1,10] or --set C_graphs=[0,1e5].",
        ),
    ] = False,
    as_json: AsJson = False,
    files: LearningFileOptions = LearningFileOptions(),  # noqa: B008
    fit: TrainingOptions = TrainingOptions(),  # noqa: B008
    many: DaskOptions = DaskOptions(),  # noqa: B008
) -> None:
    """Learn from a file in which some rows, or all, have a label.

    It tells which models count, and what the unlabelled rows gave on labels that were held out.
    """
    many.check()
    if many.dask:
        from .part_summary import train_and_tell

        refuse(
            ("--unlabeled-data", unlabeled_data),
            ("--edges", edges),
            ("--holdout", holdout),
            ("--search", search),
            (f"--method {method.value}", method is not Method.mixture),
        )
        return train_and_tell(data, model, files, task, scale, fit, many, as_json)
    from .edge_files import named_files
    from .estimators import SEARCH, check_options, make_estimator
    from .joining import check_edges
    from .label_columns import check_order, check_several
    from .model_files import described_model, found_facts, kept_model, write_model
    from .note_lines import encoder_lines
    from .output import check_output, say, show
    from .preparing import fit_prepared
    from .row_summary import doubts, summary_facts, summary_lines
    from .views import encoders_of

    if search and method is not Method.gkm:
        raise UsageError(f"--search belongs to --method gkm, and the method is {method.value}.")
    paths = named_files(edges or (), data, unlabeled_data)
    if paths:
        check_edges(method.value, files)
    check_encoded(data, files, method, bool(paths))
    check_several(files, fit, task, method)
    check_output(model, data, unlabeled_data, *paths.values())
    start = time.perf_counter()
    asked = SEARCH if search else method.value
    check_options(asked, task, fit)
    rows, given = read_learning(data, unlabeled_data, paths, files, task)
    check_order(fit, rows.note.labels)
    read_in = time.perf_counter() - start
    rows, held_out = _held_out(rows, holdout, fit.seed, bool(paths))
    estimator = make_estimator(asked, rows.note.task, fit)
    fitted, chosen = fit_prepared(estimator, scale, rows, given.for_fit, files.encoder)
    encoders = encoders_of(fitted, rows.names)
    note = replace(rows.note, scale=chosen, method=method.value, encoders=encoders)
    told = described_model(fitted, note), found_facts(fitted)  # the written model has less to tell
    write_model(kept_model(fitted), model, note)
    seconds = time.perf_counter() - start
    measured, scores = _measured(fitted, note, held_out, "held-out score" in told[0])
    times = {"time": f"{seconds:.1f} s, of which {read_in:.1f} s for reading", "model": str(model)}
    show(
        summary_lines(rows) | encoder_lines(note) | told[0] | measured | times,
        summary_facts(rows)
        | told[1]
        | {"scale": chosen, "method": method.value, "seconds": seconds, "model": model}
        | {"encoders": encoders}
        | {"held_out": scores},
        as_json,
    )
    if not as_json:
        for text in doubts(rows):
            say(f"note: {text}")


def check_encoded(data: str, files: LearningFileOptions, method: Method, any_edges: bool) -> None:
    """Raise for options that do not go with texts or pictures, before anything is read."""
    from .folder_rows import is_folder
    from .views import check_encoders

    if files.text is not None and files.text == files.images:
        raise UsageError(f"--text and --images name the same column, {files.text}.")
    flags = [f"--{name}" for name in ("text", "images") if getattr(files, name) is not None]
    if is_folder(data):
        if any_edges:
            raise UsageError(f"--edges: {data} is a folder; edges join the rows of a table.")
        flags = [data]
    check_encoders(method.value, len(flags), files.encoder, " ".join(flags))


def read_learning(
    data: str,
    unlabeled_data: str | None,
    paths: Mapping[str, str],
    files: LearningFileOptions,
    task: Task,
) -> tuple[Rows, GivenGraphs]:
    """Return rows to learn from, and the graphs of them that --edges gives."""
    from .folder_rows import is_folder
    from .folder_training import read_folder_rows
    from .joining import GivenGraphs, read_graphs
    from .learning_rows import read_rows
    from .opening import Source
    from .row_ids import training_ids

    if is_folder(data):
        return read_folder_rows(data, files, task, unlabeled_data), GivenGraphs()
    source = Source.at(data)
    more = None if unlabeled_data is None else Source.at(unlabeled_data)
    rows = read_rows(source, files, task, more)
    ids = training_ids(source, more, files, rows.note) if paths else None
    given = read_graphs(paths, ids, len(rows.y), files.id)
    return replace(rows, note=replace(rows.note, edges=given.counts)), given


def _held_out(rows: Rows, share: float, seed: int, edges: bool) -> tuple[Rows, HeldOut | None]:
    """Return rows to learn from, and those of --holdout."""
    from .holding_out import drawn_rows, labels_hidden, left_out

    if share == 0.0:
        return rows, None
    return (labels_hidden if edges else left_out)(rows, drawn_rows(rows, share, seed))


def _measured(
    fitted: Any, note: Any, held_out: HeldOut | None, judged: bool
) -> tuple[dict[str, str], dict[str, Any] | None]:
    """Return how good a model is on the rows of --holdout, for people and for programs.

    Without such rows people are told what to do, unless the fit has judged the model itself.
    """
    from .evaluate import methods_of, score_lines, scores_of

    if held_out is not None:
        n = len(held_out.y)
        said = [held_out.answers(fitted, method) for method in methods_of(note)]
        scores = scores_of(fitted, note, held_out.y, *said)
        lines = score_lines(note.task, scores).items()
        told = {name: f"{text}  on {n:,} rows held out" for name, text in lines}
        return told, scores | {"rows": n}
    if judged:
        return {}, None
    known = "not measured: pass --holdout 0.2, or test other rows with graphkm evaluate"
    return {"accuracy" if note.task == "classify" else "quality": known}, None
