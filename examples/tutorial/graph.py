"""
A graph: pages that refer to each other
=======================================

Papers cite papers, pages link to pages, people know people. Who is next to whom often tells more
than what a row holds. Here the nodes are functions of SciPy, and the edges are their "See Also"
lists: two functions are joined if one refers to the other. The task is the subject of each
function. First we look at the links alone, then at links and texts together.
"""

import importlib
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path
from sklearn.semi_supervised import LabelSpreading

from graphkm import SemiSupervisedClassifier
from graphkm.datasets import hide_labels

# %%
# Nodes and edges
# ---------------

SUBJECTS = {
    "stats": "statistics",
    "signal": "signals",
    "linalg": "linear algebra",
    "optimize": "optimisation",
    "ndimage": "images",
    "special": "special functions",
}

texts, subjects, referred = {}, {}, {}
for module, subject in SUBJECTS.items():
    home = importlib.import_module(f"scipy.{module}")
    for name in home.__all__:
        page = inspect.getdoc(getattr(home, name)) or ""
        section = re.search(r"See Also\n-+\n(.*?)(?:\n\n\w|\Z)", page, re.DOTALL)
        if section and name not in texts:
            texts[name], subjects[name] = page.split("\n\n")[0], subject
            referred[name] = re.findall(r"[A-Za-z_]\w+", section[1])
names = sorted(texts)
number = {name: k for k, name in enumerate(names)}
edges = [(number[a], number[b]) for a in names for b in referred[a] if b in number and a != b]
print(f"{len(names)} functions, {len(edges)} references")

# %%
# Many functions refer to a few others only. We take the largest connected piece, where references
# cross from subject to subject.


def matrix_of(edges, n):
    rows, columns = np.array(edges).T
    matrix = coo_array((np.ones(len(edges)), (rows, columns)), shape=(n, n)).tocsr()
    return ((matrix + matrix.T) > 0).astype(float)


_, piece = connected_components(matrix_of(edges, len(names)))
inside = np.flatnonzero(piece == np.bincount(piece).argmax())
edges = [tuple(np.searchsorted(inside, edge)) for edge in edges if edge[0] in inside]
names = [names[k] for k in inside]
n, matrix = len(names), matrix_of(edges, len(names))
truth = np.array([subjects[name] for name in names], dtype=object)
print(f"{n} of them are connected, by {len(edges)} references, on {len(set(truth))} subjects")

# %%
# Five labels for each subject
# ----------------------------
#
# The number of labels was chosen after a look at results with three. So take the figures below as
# an illustration, and not as a measurement.

y = hide_labels(truth, n_per_class=5, random_state=0)
known = np.array([label is not None for label in y])


def right(model):
    return np.mean(model.transduction_[~known] == truth[~known])


# %%
# X is None where there are no features. ``affinity`` takes pairs of rows, a sparse matrix, a frame
# or a graph of networkx.

links = SemiSupervisedClassifier(random_state=0).fit(None, y, affinity=edges)
print(f"{known.sum()} labels, links alone     {right(links):.1%}")

# %%
# Texts alone, and both together. Each brings members of its own, and held-out labels weigh them.
# Here the first paragraph of a page says nearly everything, so the links add nothing to it, and
# they do little harm.

words = np.array([texts[name] for name in names], dtype=object)
reading = SemiSupervisedClassifier(random_state=0).fit(words, y)
both = SemiSupervisedClassifier(random_state=0).fit(words, y, affinity=edges)
print(f"{known.sum()} labels, texts alone     {right(reading):.1%}")
print(f"{known.sum()} labels, links and texts {right(both):.1%}")
print(*str(both.members_).splitlines()[:6], "...", sep="\n")

# %%
# scikit-learn's label spreading makes graphs of its own from columns, and takes none that is
# given, except as a kernel matrix of all pairs:

codes = np.unique(truth).searchsorted(truth)
spreading = LabelSpreading(
    kernel=lambda A, B: matrix.toarray() + np.eye(n), alpha=0.9, max_iter=1000
)
spreading.fit(np.zeros((n, 1)), np.where(known, codes, -1))
print(
    f"label spreading, links only   {np.mean(spreading.transduction_[~known] == codes[~known]):.1%}"
)

# %%
# A picture
# ---------
# The nodes are laid out so that the distance between two dots is about that along the links, for
# near nodes above all. Rings are the nodes whose subject was known, and crosses are wrong answers.


def laid_out(steps, rounds=200):
    weights = np.where(steps > 0, steps, np.inf) ** -2.0
    pull = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    places = np.random.default_rng(0).normal(size=(len(steps), 2)) * steps.max()
    for _ in range(rounds):  # each brings distances nearer to the steps: stress majorisation
        apart = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(len(steps))
        push = weights * steps / apart
        places = pull @ (push.sum(axis=1)[:, None] * places - push @ places)
    return places


places = laid_out(shortest_path(matrix, unweighted=True))
answers = both.transduction_
figure, ax = plt.subplots(figsize=(8, 6.2), layout="constrained")
for edge in edges:
    ax.plot(*places[list(edge)].T, color="0.8", linewidth=0.6, zorder=0)
for k, subject in enumerate(both.classes_):
    ax.scatter(*places[answers == subject].T, s=34, color=plt.cm.Dark2(k), label=subject)
wrong = answers != truth
ax.scatter(*places[wrong].T, s=60, marker="x", color="black", linewidths=1, label="wrong")
ax.scatter(*places[known].T, s=110, facecolors="none", edgecolors="black", label="known")
ax.set(xticks=[], yticks=[], title=f"{n} functions, {known.sum()} with a known subject")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
plt.show()

# %%
# With a graph of your own
# ------------------------
# On the command line a graph is a table of edges: ``graphkm train papers.csv model.gkm --edges
# cites.csv --id paper``. New nodes are told by their edges to known ones: ``model.predict(X_new,
# affinity=pairs)``. :doc:`/guide/given_graphs` has the details. A graph that misleads gets little
# weight, because held-out labels weigh it like any other member.
