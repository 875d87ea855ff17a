"""`graphkm demo`: how much the unlabelled points help on two moons."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import AsJson, UsageError
from .spreading import spread

EXAMPLES = ("graphkm demo", "graphkm demo --labels 6 --no-plot --json")


@spread
def demo(
    points: Annotated[int, typer.Option(min=50, help="Training points.")] = 1000,
    labels: Annotated[int, typer.Option(min=2, help="How many of them have a label.")] = 6,
    seed: Annotated[int, typer.Option(min=0, help="The same number gives the same points.")] = 0,
    plot: Annotated[
        bool, typer.Option("--plot/--no-plot", help="Whether to draw both models, with matplotlib.")
    ] = True,
    out: Annotated[Path, typer.Option(help="Where to write the picture.")] = Path("two_moons.png"),
    as_json: AsJson = False,
) -> None:
    """Train on two moons with a few labels, with and without the unlabelled points.

    It needs no data.
    """
    from graphkm import SemiSupervisedClassifier

    from .output import check_output, percent, show

    if labels > points // 2:
        raise UsageError(f"--labels {labels}: of {points} points at most half can be labelled.")
    if plot:
        check_output(out)
    X, y, X_test, truth = made_moons(points, labels, seed)
    models, scores, seconds = [], [], []
    for model in (SemiSupervisedClassifier(graph=None), SemiSupervisedClassifier()):
        start = time.perf_counter()
        models.append(model.set_params(random_state=seed).fit(X, y))
        seconds.append(time.perf_counter() - start)
        scores.append(float(models[-1].score(X_test, truth)))
    picture = draw(models, scores, X, y, out) if plot else None
    gain = 100 * (scores[1] - scores[0])
    if not as_json:
        print(f"Two moons: {points:,} points, of which only {labels} have a label.")
        print(f"Tested on {len(truth):,} other points.\n")
    show(
        {
            "from the labelled points alone": f"{percent(scores[0])} right  ({seconds[0]:.2f} s)",
            "with the unlabelled points too": f"{percent(scores[1])} right  ({seconds[1]:.2f} s)",
        },
        {
            "points": points,
            "labels": labels,
            "accuracy_labelled_only": scores[0],
            "accuracy_with_unlabelled": scores[1],
            "gain": scores[1] - scores[0],
            "seconds": seconds,
            "picture": picture,
        },
        as_json,
    )
    if not as_json:
        print("\n" + in_words(gain, points - labels))
        print(_last_words(picture, plot))


def made_moons(points: int, labels: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return points with labels, -1 for unlabelled ones, and other points to test on."""
    import numpy as np
    from sklearn.datasets import make_moons

    X, truth = make_moons(2 * points, noise=0.1, random_state=seed)
    X, X_test, truth, truth_test = X[::2], X[1::2], truth[::2], truth[1::2]
    rng = np.random.default_rng(seed)
    y = np.full(points, -1)
    for label, count in ((0, labels - labels // 2), (1, labels // 2)):
        y[rng.choice(np.flatnonzero(truth == label), count, replace=False)] = label
    return X, y, X_test, truth_test


def in_words(gain: float, n_unlabeled: int) -> str:
    """Return a sentence on the gain, which is in points of accuracy.

    Examples
    --------
    >>> in_words(-0.2, 10)
    'Here the 10 unlabelled points did not help (-0.2 points of accuracy).'
    """
    if gain <= 0:
        return (
            f"Here the {n_unlabeled:,} unlabelled points did not help ({gain:+.1f} points of "
            "accuracy)."
        )
    return (
        f"The {n_unlabeled:,} unlabelled points improved accuracy by {gain:.1f} points: they show\n"
        "where the moons are, and a label spreads along its moon. Nobody had to label them."
    )


def _last_words(picture: Path | None, wanted: bool) -> str:
    """Return where the picture is, and what to do next."""
    if picture is not None:
        about = f"Picture: {picture}\n"
    else:
        about = 'A picture needs matplotlib: pip install "graphkm[plot]".\n' if wanted else ""
    return f"{about}Now your own data: graphkm train --help"


def draw(models: Any, scores: Any, X: Any, y: Any, path: Path) -> Path | None:
    """Draw the decisions of both models; return None without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return None
    from .._util.files import replacing
    from .output import percent

    figure = Figure(figsize=(11, 3.9), layout="constrained")
    FigureCanvasAgg(figure)
    titles = ("labelled points only", "with the unlabelled points")
    axes = figure.subplots(1, 2)
    for ax, model, title, score in zip(axes, models, titles, scores, strict=True):
        _draw_one(ax, model, X, y)
        ax.set_title(f"{title}: {percent(score)}")
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix.lstrip(".") or "png", dpi=120)
    return path


def _draw_one(ax: Any, model: Any, X: Any, y: Any) -> None:
    import numpy as np

    x0, x1 = np.meshgrid(np.linspace(-1.6, 2.6, 200), np.linspace(-1.1, 1.6, 130))
    f = model.decision_function(np.c_[x0.ravel(), x1.ravel()]).reshape(x0.shape)
    f = np.tanh(f / np.median(np.abs(f)))  # the scores of each model have their own scale
    ax.contourf(x0, x1, f, levels=np.linspace(-1, 1, 41), cmap="RdBu_r", alpha=0.6)
    ax.contour(x0, x1, f, levels=[0], colors="black", linewidths=1.5)
    ax.scatter(*X[y < 0].T, s=4, color="0.35")
    for label, color, marker in ((0, "tab:blue", "o"), (1, "tab:red", "s")):
        ax.scatter(*X[y == label].T, s=90, c=color, marker=marker, edgecolors="white")
    ax.set(xticks=[], yticks=[], aspect="equal")
