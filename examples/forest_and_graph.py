"""
A forest of your own, and what the graph adds
=============================================

:class:`~graphkm.SemiSupervisedClassifier` takes any classifier as its ``estimator``. It fits the
classifier to the labelled rows, and beside it members that follow a graph of all rows. Held-out
labels decide how much each of them counts.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphkm import SemiSupervisedClassifier
from graphkm.datasets import hide_labels, make_two_moons

# %%
# Pass the forest
# ---------------
# A thousand points, 30 labels in each class, and a thousand other points for testing. With
# ``oob_score=True`` each tree is tested on the labels that it has not seen, and no further forest
# is needed.

X, truth = make_two_moons(2000, noise=0.1, random_state=0)
X, X_test, truth, truth_test = X[::2], X[1::2], truth[::2], truth[1::2]
y = hide_labels(truth, n_per_class=30, random_state=0)

forest = RandomForestClassifier(oob_score=True, random_state=0)
models = {
    "forest alone": SemiSupervisedClassifier(forest, graph=None, random_state=0),
    "graph alone": SemiSupervisedClassifier(estimator=None, random_state=0),
    "forest and graph": SemiSupervisedClassifier(estimator=forest, random_state=0),
}
accuracy = {}
for name, model in models.items():
    accuracy[name] = model.fit(X, y).score(X_test, truth_test)
    print(f"{name:22}{accuracy[name]:6.1%}")
both = models["forest and graph"]
print(f"expected gain         {both.unlabeled_gain_:+6.1%} by held-out labels")

# %%
# ``members_`` says what was done. The first lines are the heaviest members:

for member in both.members_[:3]:
    print(f"{member.name:30}{member.weight:6.1%} of the weight, {member.score:.1%} held out")

# %%
# Several models
# --------------
# A list of models is fine, too. On images of digits the neighbours say most. In the table below the
# rows fill a cube evenly, and two columns of six decide. Neighbours say little there, and the
# forest gets the weight: as it is, or corrected a little along the graph.

digits, digit = load_digits(return_X_y=True)
table = np.random.default_rng(0).uniform(-1, 1, (1500, 6))
kind = ((table[:, 0] > 0) & (table[:, 1] > -0.5)).astype(int)


def of_the_forest(model):
    """Return the weight of the forest, and of its corrections."""
    names = ("RandomForestClassifier", "correction")
    return sum(member.weight for member in model.members_ if member.name.startswith(names))


for name, rows, labels, count in (("digits", digits, digit, 4), ("table", table, kind, 60)):
    partly = hide_labels(labels, n_per_class=count, random_state=0)
    other = partly < 0
    alone = clone(forest).fit(rows[~other], partly[~other])
    line = make_pipeline(StandardScaler(), LogisticRegression())
    model = SemiSupervisedClassifier([forest, line], random_state=0).fit(rows, partly)
    scores = [each.score(rows[other], labels[other]) for each in (alone, model)]
    print(
        f"{name:7}{scores[0]:6.1%} forest alone, {scores[1]:6.1%} all members; "
        f"{of_the_forest(model):.1%} of the weight is the forest's"
    )

# %%
# What the unlabelled rows changed
# --------------------------------
# Back to the moons. On the left is the forest's probability of class 1. A forest cuts along the
# axes. In the middle is what the members on the graph say: they follow the moons, because the graph
# joins neighbours, and they say one half far from all points. On the right is the mixture. The
# black line is where a probability is 1/2.

x0, x1 = np.meshgrid(np.linspace(-1.7, 2.7, 220), np.linspace(-1.2, 1.7, 145))
grid = np.c_[x0.ravel(), x1.ravel()]


def draw(ax, name):
    """Draw the probabilities of a model, with the points on top, and return the picture."""
    values = models[name].predict_proba(grid)[:, 1].reshape(x0.shape)
    image = ax.pcolormesh(x0, x1, values, cmap="RdBu_r", vmin=0, vmax=1, rasterized=True)
    ax.scatter(*X[y < 0].T, s=2, color="0.3", alpha=0.5, label=f"{(y < 0).sum()} unlabelled")
    for label, color, marker in ((0, "tab:blue", "o"), (1, "tab:red", "s")):
        own = X[y == label].T
        ax.scatter(*own, s=26, c=color, marker=marker, edgecolors="w", label=f"class {label}")
    ax.contour(x0, x1, values, levels=[0.5], colors="black", linewidths=1.5)
    ax.set(aspect="equal", xlabel="first column", title=f"{name}: {accuracy[name]:.1%}")
    return image


figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained", sharey=True)
for ax, name in zip(axes, models, strict=True):
    image = draw(ax, name)
figure.colorbar(image, ax=axes, label="probability of class 1", shrink=0.8)
axes[0].set_ylabel("second column")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
plt.show()
