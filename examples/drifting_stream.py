"""
Online learning: a stream that drifts
=====================================

Two classes lie on opposite sides of a circle that turns all the time; one row in ten has a label.
Every chunk is predicted first and learnt afterwards. A machine that keeps everything it has seen
is pulled back by its past. A machine with a half-life follows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from graphkm import SGD, GKMClassifier
from graphkm.online import Chunk, prequential

# %%
# The stream
# ----------
# Any iterable of chunks will do; `graphkm.online.read_stream` makes one of a file. -1 marks rows
# without a label.

N_CHUNKS, CHUNK, SHARE = 100, 100, 0.1


def drifting_stream():
    rng = np.random.default_rng(0)
    for chunk in range(N_CHUNKS):
        angle = 2 * np.pi * chunk / N_CHUNKS
        label = rng.integers(2, size=CHUNK)
        centre = 1.5 * np.array([np.cos(angle), np.sin(angle)])
        X = (2 * label[:, None] - 1) * centre + rng.normal(size=(CHUNK, 2))
        y = np.where(rng.random(CHUNK) < SHARE, label, -1)
        yield Chunk(X, y, chunk * CHUNK)


# %%
# Test, then train
# ----------------
# The linear model of scikit-learn learns from labelled rows only; it suits these classes, which a
# line separates at any moment.


def following(half_life=None, **options):
    solver = SGD(steps_per_row=1, half_life=half_life)
    return GKMClassifier(gamma=0.3, solver=solver, random_state=0, **options)


models = {
    "linear (SGDClassifier)": SGDClassifier(random_state=0),
    "GKMClassifier, keeps everything": following(),
    "GKMClassifier, half_life=1000": following(half_life=1000),
    "GKMClassifier, half_life=100": following(half_life=100),
}
results = {
    name: prequential(model, drifting_stream(), classes=[0, 1], window=100, unlabeled=-1)
    for name, model in models.items()
}
for name, result in results.items():
    print(f"{name:32} {result.cumulative_accuracy[-1]:6.1%} right before training on them")

# %%
# Forgetting helps if the half-life is short compared with the drift: after half a turn the classes
# have changed places, and old labels are wrong. Do the unlabelled rows help?

no_graph = following(half_life=100, C_graph=0)
result = prequential(no_graph, drifting_stream(), classes=[0, 1], window=100)
print(f"half_life=100 without a graph    {result.cumulative_accuracy[-1]:6.1%}")

# %%
# They do not: in two dimensions one label in ten rows is enough.

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for name, result in results.items():
    ax.plot(result.n_rows, 100 * result.window_accuracy, label=name)
ax.set(xlabel="rows seen", ylabel="accuracy on the last 100 labelled rows, %", ylim=(0, 102))
ax.grid(alpha=0.3)
ax.legend(loc="lower left")
plt.show()
