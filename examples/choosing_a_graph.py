"""
Choosing the graph, or none
===========================

A graph says which rows should score alike. On two moons neighbours should. For two Gaussians in 241
dimensions that is wrong: noise decides which rows are near each other, and every graph misleads.
:class:`~graphkm.GKMClassifierCV` decides from the labels, and may decide against a graph. With 12
labels it may also be wrong: of six draws of these moons, the default graph was behind no graph in
two.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from graphkm import KNN, Bipartite, Epsilon, Full, GKMClassifier, GKMClassifierCV
from graphkm.datasets import hide_labels, make_g50c, make_two_moons

moons, moon = make_two_moons(400, noise=0.12, random_state=2)
clouds, cloud = make_g50c(400, n_features=241, bayes_error=0.1, random_state=0)
sets = {
    "two moons, 12 labels": (moons, moon, 6),
    "241 dimensions, 50 labels": (clouds, cloud, 25),
}

# %%
# The kinds of graphs
# -------------------
# Nearest neighbours are the default. A radius suits rows of even density. The radius here was
# chosen by eye for the moons and joins no rows of the other set. The full graph and the graph of
# labelled-unlabelled pairs are the paper's, used with its stochastic solver: nothing is stored, and
# weights fall with the distance.


def models(y):
    yield "SVC, labelled rows", SVC(C=10)
    yield "no graph", GKMClassifier(C_graph=0, random_state=0)
    yield "knn", GKMClassifier(graph=KNN(n_neighbors=10), random_state=0)
    if y is y_moons:
        yield "epsilon", GKMClassifier(graph=Epsilon(radius=0.25), random_state=0)
    yield "bipartite", GKMClassifier(graph="bipartite", solver="sgd", random_state=0)
    yield "full", GKMClassifier(graph="full", solver="sgd", random_state=0)
    yield "label spreading", LabelSpreading("knn", n_neighbors=10, alpha=0.9, max_iter=1000)
    yield "GKMClassifierCV", GKMClassifierCV(random_state=0)


y_moons = hide_labels(moon, n_per_class=6, random_state=2)
accuracy = {}
for title, (X, truth, count) in sets.items():
    y = y_moons if X is moons else hide_labels(truth, n_per_class=count, random_state=0)
    print(f"{title}: accuracy on the unlabelled rows")
    for name, model in models(y):
        rows = y >= 0 if isinstance(model, SVC) else slice(None)
        accuracy[title, name] = model.fit(X[rows], y[rows]).score(X[y < 0], truth[y < 0])
        print(f"  {name:20} {accuracy[title, name]:6.1%}")
    print(f"  the search expected to gain {model.unlabeled_gain_:+.1%} from a graph")

# %%
# What the graphs look like
# -------------------------
# Darker edges weigh more. A part's ``build`` makes the graph that an estimator would.

graphs = {
    "knn": KNN(n_neighbors=10, weights="local"),
    "epsilon": Epsilon(radius=0.25, weights=5.0),
    "bipartite": Bipartite(weights=5.0),
    "full": Full(weights=5.0),
}
figure, axes = plt.subplots(2, 2, figsize=(10, 6), layout="constrained")
for ax, (kind, graph) in zip(axes.ravel(), graphs.items(), strict=True):
    edges = graph.build(moons, y_moons >= 0).edges()
    heavy = np.argsort(edges.weight)[-4000:]
    color = np.zeros((len(heavy), 4))
    color[:, 3] = 0.5 * edges.weight[heavy] / edges.weight.max()
    lines = np.stack([moons[edges.u[heavy]], moons[edges.v[heavy]]], axis=1)
    ax.add_collection(LineCollection(lines, colors=color, linewidths=0.6))
    for label, face in enumerate(("tab:blue", "tab:red")):
        own = moon == label
        ax.scatter(*moons[own & (y_moons < 0)].T, s=6, color=face)
        ax.scatter(*moons[own & (y_moons >= 0)].T, s=80, color=face, edgecolors="k", zorder=3)
    ax.set(xticks=[], yticks=[], aspect="equal")
    reached = accuracy["two moons, 12 labels", kind]
    ax.set_title(f"{kind}: {len(edges.u):,} edges, accuracy {reached:.1%}")
plt.show()
