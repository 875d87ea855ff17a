"""
A random forest, corrected over a graph
=======================================

:class:`~graphkm.GraphCorrectedClassifier` takes any classifier and a table with few labels. It fits
the classifier to the labelled rows. Its errors there, on labels that it has not seen, become a
field over the graph of all rows. The field is added to the classifier's answers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from graphkm import GraphCorrectedClassifier
from graphkm.datasets import hide_labels, make_two_moons

# %%
# Wrap the forest
# ---------------
# A thousand points, 30 labels in each class, and a thousand other points for testing.

X, truth = make_two_moons(2000, noise=0.1, random_state=0)
X, X_test, truth, truth_test = X[::2], X[1::2], truth[::2], truth[1::2]
y = hide_labels(truth, n_per_class=30, random_state=0)

model = GraphCorrectedClassifier(RandomForestClassifier(random_state=0), random_state=0)
model.fit(X, y)
forest = model.estimator_  # fitted to the 60 labelled rows, and nothing else
accuracy = [each.score(X_test, truth_test) for each in (forest, model)]
print(f"forest alone          {accuracy[0]:6.1%}")
print(f"forest and field      {accuracy[1]:6.1%}")
print(f"expected gain         {model.unlabeled_gain_:+6.1%} by held-out labels")
print(f"chosen                {model.best_params_}")

# %%
# One draw of labels says little. The mean of ten:

draws = [hide_labels(truth, n_per_class=30, random_state=seed) for seed in range(10)]
fits = [clone(model).fit(X, drawn) for drawn in draws]
alone = np.mean([each.estimator_.score(X_test, truth_test) for each in fits])
both = np.mean([each.score(X_test, truth_test) for each in fits])
print(f"mean of ten draws     {alone:6.1%} alone, {both:6.1%} corrected")

# %%
# Where neighbours help more
# --------------------------
# Images of digits lie near curved sheets, and their neighbours are nearly always of the same class.
# With so few labels the field is often better without the forest. That is one of the choices, and
# ``estimator_weight_`` is 0 then.

digits, digit = load_digits(return_X_y=True)
hidden = hide_labels(digit, n_per_class=10, random_state=0)
other = hidden < 0
on_digits = clone(model).fit(digits, hidden)
alone = on_digits.estimator_.score(digits[other], digit[other])
both = on_digits.score(digits[other], digit[other])
print(f"digits, 100 labels    {alone:6.1%} alone, {both:6.1%} corrected")
print(f"the forest counts     {on_digits.estimator_weight_:g}")

# %%
# What was added
# --------------
# Back to the moons. On the left is the forest's probability of class 1. A forest cuts along the
# axes. In the middle is the field g: positive where the forest says too little of class 1, negative
# where it says too much. It follows the moons, because the graph joins neighbours, and it fades far
# from all points. On the right is the sum of both. It decides: the black line is where it is 1/2.

x0, x1 = np.meshgrid(np.linspace(-1.7, 2.7, 220), np.linspace(-1.2, 1.7, 145))
grid = np.c_[x0.ravel(), x1.ravel()]
f = forest.predict_proba(grid)[:, 1].reshape(x0.shape)
g = model.field_(grid)[:, 0].reshape(x0.shape)


def draw(ax, values, title, middle):
    """Draw values of the grid, with the points on top, and return the picture."""
    limits = {"vmin": middle - 0.5, "vmax": middle + 0.5}
    image = ax.pcolormesh(x0, x1, values, cmap="RdBu_r", rasterized=True, **limits)
    ax.scatter(*X[y < 0].T, s=2, color="0.3", alpha=0.5, label=f"{(y < 0).sum()} unlabelled")
    for label, color, marker in ((0, "tab:blue", "o"), (1, "tab:red", "s")):
        own = X[y == label].T
        ax.scatter(*own, s=26, c=color, marker=marker, edgecolors="w", label=f"class {label}")
    if values is not g:
        ax.contour(x0, x1, values, levels=[0.5], colors="black", linewidths=1.5)
    ax.set(aspect="equal", xlabel="first column", title=title)
    return image


figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained", sharey=True)
left = draw(axes[0], f, f"forest alone, f: {accuracy[0]:.1%}", 0.5)
centre = draw(axes[1], g, "the field, g", 0.0)
right = draw(axes[2], f + g, f"the sum, f + g: {accuracy[1]:.1%}", 0.5)
for ax, image, name in (
    (axes[0], left, "probability of class 1"),
    (axes[1], centre, "what is added to it"),
    (axes[2], right, "f + g"),
):
    extend = "neither" if image is left else "both"
    figure.colorbar(image, ax=ax, label=name, location="bottom", shrink=0.9, extend=extend)
axes[0].set_ylabel("second column")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
plt.show()
