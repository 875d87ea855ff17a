"""Options that are parameters of estimators."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from .options import listed_names

# What options are called in Python, where the names differ.
PARAMETERS = {
    "features": "n_features",
    "landmarks": "n_landmarks",
    "neighbors": "n_neighbors",
    "seed": "random_state",
    "threads": "n_jobs",
}
NUMBERS = "numbers"
"""What --ordered says of classes that are numbers."""
_learning_option = functools.partial(typer.Option, rich_help_panel="How it learns")
_machine_option = functools.partial(
    typer.Option, rich_help_panel="Kernel machines (of train: those of --method)"
)


def order_of(text: str) -> list[str] | bool:
    """Return the order of classes as estimators take it.

    Examples
    --------
    >>> order_of("low,high"), order_of("numbers")
    (['low', 'high'], True)
    """
    return True if text == NUMBERS else listed_names(text)


@dataclass(frozen=True)
class FitOptions:
    """Parameters of estimators. No estimator has all of them."""

    graph: Annotated[
        str | None,
        _learning_option(help="knn or anchors; of kernel machines also epsilon, full, bipartite."),
    ] = None
    neighbors: Annotated[
        int | None, _learning_option(min=1, help="Neighbours of every row, for --graph knn.")
    ] = None
    seed: Annotated[int, _learning_option(min=0, help="The same number gives the same model.")] = 0
    threads: Annotated[
        int | None, _learning_option(min=1, help="Default: every core.", show_default=False)
    ] = None
    set: Annotated[
        list[str] | None,
        _learning_option(
            metavar="NAME=VALUE", help="Any other parameter of the estimator; may be repeated."
        ),
    ] = None
    kernel: Annotated[
        str | None, _machine_option(help="rbf, linear, poly, laplacian or cosine.")
    ] = None
    loss: Annotated[
        str | None,
        _machine_option(help="hinge, smooth_hinge, logistic; l1, epsilon_insensitive."),
    ] = None
    p: Annotated[float | None, _machine_option(help="Exponent of the smoothness.")] = None
    C: Annotated[
        str | None, _machine_option("--C", help="Weight of the labelled rows, a number or auto.")
    ] = None
    C_graph: Annotated[
        str | None,
        _machine_option(
            "--C-graph",
            help="Weight of the graph, a number or auto; 0 ignores the unlabelled rows.",
        ),
    ] = None
    gamma: Annotated[
        str | None,
        _machine_option(help="The kernel's coefficient: a number, spread, scale or auto."),
    ] = None
    solver: Annotated[str | None, _machine_option(help="auto, newton, sgd or sums.")] = None
    budget: Annotated[
        int | None,
        _machine_option(min=1, help="The most centres of a model, for --solver sgd and streams."),
    ] = None
    landmarks: Annotated[
        int | None,
        _machine_option(min=2, help="Landmarks of --solver sums or newton; in streams of sums."),
    ] = None


@dataclass(frozen=True)
class TrainingOptions(FitOptions):
    """Parameters of a fit that sees all rows, and may hold labels out."""

    cv: Annotated[
        int | None,
        _learning_option(
            min=2,
            metavar="FOLDS",
            help="Folds of labels that are held out in turn, by the mixture and by --search.",
        ),
    ] = None
    thresholds: Annotated[
        str | None,
        _learning_option(
            metavar="f1|NUMBERS",
            help="The probability above which a row has a label, where it may have several: f1 "
            "lets held-out labels choose one for each. A number, or one for each label, as in "
            "0.5,0.3. Default: 0.5.",
        ),
    ] = None
    ordered: Annotated[
        Any,
        _learning_option(
            parser=order_of,
            metavar="numbers|NAMES",
            help="Classes have an order, which low,mid,high names; numbers: they are numbers. "
            "Predictions are then never far off.",
        ),
    ] = None
