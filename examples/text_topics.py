"""
Text: sparse features
=====================

Documents as sparse rows of tf-idf values, 2,000 words wide. The documents are synthetic: every
topic is a random distribution over words, and a document mixes its own topic with others, so that
no text needs to be downloaded and the truth is known. Real text is harder; :doc:`/leaderboard` has
a set of it.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from graphkm import GKMClassifier
from graphkm.datasets import hide_labels

N_DOCUMENTS, N_WORDS, N_TOPICS, LENGTH = 400, 2000, 4, 60

# %%
# Documents drawn from topics
# ---------------------------
# Each document takes about half of its words from its own topic and the others from a mixture of
# all topics, which share a common vocabulary.

rng = np.random.default_rng(0)
common = rng.dirichlet(np.full(N_WORDS, 0.1))
topics = 0.5 * common + 0.5 * rng.dirichlet(np.full(N_WORDS, 0.05), size=N_TOPICS)
truth = rng.integers(N_TOPICS, size=N_DOCUMENTS)
shares = 0.5 * np.eye(N_TOPICS)[truth] + 0.5 * rng.dirichlet(np.ones(N_TOPICS), size=N_DOCUMENTS)
counts = csr_array([rng.multinomial(LENGTH, share @ topics) for share in shares])
X = TfidfTransformer().fit_transform(counts)
print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} of them in each")

# %%
# Sparse rows stay sparse
# -----------------------
# Rows of tf-idf have length 1, so their inner products are cosines: a linear kernel. No dense copy
# of the rows is made.

methods = {
    "SVC, labelled documents only": SVC(kernel="linear"),
    "label spreading": LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.9, max_iter=1000),
    "GKMClassifier": GKMClassifier(kernel="linear", random_state=0),
}
per_class, draws = (1, 2, 5, 20, 50), 3
accuracy = {name: np.zeros((len(per_class), draws)) for name in methods}
for i, count in enumerate(per_class):
    for seed in range(draws):
        y = hide_labels(truth, n_per_class=count, random_state=seed)
        for name, model in methods.items():
            rows = np.flatnonzero(y >= 0) if isinstance(model, SVC) else np.arange(len(y))
            model.fit(X[rows], y[rows])
            accuracy[name][i, seed] = model.score(X[y < 0], truth[y < 0])

print("labels per topic              " + "".join(f"{count:8}" for count in per_class))
for name, values in accuracy.items():
    print(f"{name:30}" + "".join(f"{value:8.1%}" for value in values.mean(axis=1)))

# %%
# The graph pays while labels are few. With many labels it adds little, and ``C_graph="auto"``
# leaves it out where held-out labels say so.

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, values), marker in zip(accuracy.items(), "osD", strict=True):
    low, mean, high = 100 * values.min(axis=1), 100 * values.mean(axis=1), 100 * values.max(axis=1)
    (line,) = ax.plot(per_class, mean, marker=marker, label=name)
    ax.fill_between(per_class, low, high, color=line.get_color(), alpha=0.15)
ax.set(xscale="log", xlabel="labels per topic", ylabel="accuracy on the other documents, %")
ax.set_xticks(per_class, [str(count) for count in per_class])
ax.minorticks_off()
ax.grid(alpha=0.3)
ax.legend(title=f"mean and range of {draws} draws of labels")
plt.show()
