"""Two moons with three labels each, and what a thousand unlabelled points add.

Trains the same kernel machine with and without the unlabelled points, prints accuracy, time
and memory, and draws both decision boundaries to out/two_moons.png.
"""

import pathlib
import sys
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import graphkm
from graphkm import GKMClassifier

N_POINTS, N_LABELS, SEED = 1000, 3, 0
OUT = pathlib.Path(__file__).resolve().parents[1] / "out"


def partly_labelled_moons():
    X, truth = make_moons(2 * N_POINTS, noise=0.1, random_state=SEED)
    X, X_test, truth, truth_test = X[::2], X[1::2], truth[::2], truth[1::2]
    rng = np.random.default_rng(SEED)
    y = np.full(N_POINTS, -1)  # -1: unlabelled
    for label in (0, 1):
        y[rng.choice(np.flatnonzero(truth == label), N_LABELS, replace=False)] = label
    return X, y, X_test, truth_test


def peak_memory_mb():
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def draw(ax, model, X, y, title):
    x0, x1 = np.meshgrid(np.linspace(-1.6, 2.6, 300), np.linspace(-1.1, 1.6, 200))
    f = model.decision_function(np.c_[x0.ravel(), x1.ravel()]).reshape(x0.shape)
    limit = np.abs(f).max()
    ax.contourf(x0, x1, f, levels=np.linspace(-limit, limit, 41), cmap="RdBu_r", alpha=0.6)
    ax.contour(x0, x1, f, levels=[0], colors="black", linewidths=1.5)
    ax.scatter(*X[y < 0].T, s=4, color="0.35", label=f"{(y < 0).sum()} unlabelled")
    for label, color, marker in ((0, "tab:blue", "o"), (1, "tab:red", "s")):
        points = X[y == label].T
        ax.scatter(
            *points, s=90, c=color, marker=marker, edgecolors="white", label=f"class {label}"
        )
    ax.set(title=title, xticks=[], yticks=[], aspect="equal", xlim=(-1.6, 2.6), ylim=(-1.1, 1.6))


def main():
    X, y, X_test, truth = partly_labelled_moons()
    print(f"graphkm {graphkm.__version__}: two moons, {N_POINTS} points, {2 * N_LABELS} labels")
    before, rows = peak_memory_mb(), []
    for name, C_graph in (("labelled points only", 0), ("with the unlabelled points", "auto")):
        model = GKMClassifier(C_graph=C_graph, random_state=SEED)
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        accuracy = model.score(X_test, truth)
        print(f"  {name:28} accuracy {accuracy:6.1%}   fit {seconds:5.2f} s")
        rows.append((model, f"{name}: {accuracy:.1%}"))
    print(f"  memory added by both fits: {peak_memory_mb() - before:.0f} MB")
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained")
    for ax, (model, title) in zip(axes, rows, strict=True):
        draw(ax, model, X, y, title)
    axes[0].legend(loc="lower left", fontsize=8)
    OUT.mkdir(exist_ok=True)
    figure.savefig(OUT / "two_moons.png", dpi=120)
    print("  picture: out/two_moons.png")


if __name__ == "__main__":
    main()
