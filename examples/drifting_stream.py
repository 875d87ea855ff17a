"""A stream whose classes move: how an online machine follows, and what its past is worth.

Two classes lie on opposite sides of a circle that turns once in 15,000 rows; one row in ten has a
label. Every chunk is predicted first and learnt afterwards. A kernel machine that remembers
everything believes what is no longer true; with a half-life it forgets and follows. SGDClassifier,
a linear machine whose steps forget by themselves, stands beside it. The picture goes to
out/drifting_stream.png.
"""

import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from graphkm import GKMClassifier
from graphkm.online import Chunk, prequential

N_CHUNKS, CHUNK, SHARE, SEED = 150, 100, 0.1, 0
OUT = pathlib.Path(__file__).resolve().parents[1] / "out"


def drifting_stream():
    rng = np.random.default_rng(SEED)
    for chunk in range(N_CHUNKS):
        angle = 2 * np.pi * chunk / N_CHUNKS
        label = rng.integers(2, size=CHUNK)
        centre = 1.5 * np.array([np.cos(angle), np.sin(angle)])
        X = (2 * label[:, None] - 1) * centre + rng.normal(size=(CHUNK, 2))
        y = np.where(rng.random(CHUNK) < SHARE, label, -1)  # -1: unlabelled
        yield Chunk(X, y, chunk * CHUNK)


def models():
    yield "SGDClassifier", SGDClassifier(random_state=SEED)
    yield "GKMClassifier", GKMClassifier(random_state=SEED)
    for rows in (500, 150, 50):
        yield f"half_life={rows}", GKMClassifier(half_life=rows, random_state=SEED)


def main():
    chosen = list(models())
    figure, axes = plt.subplots(1, len(chosen), figsize=(4 * len(chosen), 4), sharey=True)
    for ax, (name, model) in zip(axes, chosen, strict=True):
        result = prequential(
            model, drifting_stream(), classes=[0, 1], window=100, unlabeled=-1, verbose=1
        )
        print(f"{name}: {result.cumulative_accuracy[-1]:.1%} right before training on them")
        result.plot(ax)
        ax.set(title=name, ylim=(0, 1.02))
    OUT.mkdir(exist_ok=True)
    figure.tight_layout()
    figure.savefig(OUT / "drifting_stream.png", dpi=120)
    print("picture: out/drifting_stream.png")


if __name__ == "__main__":
    main()
