"""
Texts: sort 240 pages with 24 labels
====================================

You have many texts, and time to read a few of them. Here the texts are real: the descriptions of
SciPy's functions, which are installed with it. The task is to say what each is about: statistics,
signals, images, and so on. SciPy's own modules are the truth, so we can see how good the answers
are.
"""

import importlib
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import TSNE
from sklearn.pipeline import make_pipeline

from graphkm import SemiSupervisedClassifier
from graphkm.active import suggest
from graphkm.datasets import hide_labels
from graphkm.embed import TextEmbedder

# %%
# The texts
# ---------
# A text is what a page says before its first section, without the line that shows how the function
# is called. Of a module with more than 40 pages we take every n-th.

SUBJECTS = {
    "stats": "statistics",
    "signal": "signals",
    "linalg": "linear algebra",
    "optimize": "optimisation",
    "ndimage": "images",
    "special": "special functions",
}


def description(thing):
    """Return the paragraphs before the first section."""
    paragraphs = re.split(r"\n\s*\n", inspect.getdoc(thing) or "")
    before = []
    for paragraph in paragraphs:
        if "\n---" in paragraph:
            break
        before.append(paragraph)
    return " ".join(" ".join(before[not before[0].endswith(".") :]).split())


texts, truth = [], []
for module, subject in SUBJECTS.items():
    home = importlib.import_module(f"scipy.{module}")
    pages = [description(getattr(home, name)) for name in sorted(home.__all__)]
    pages = [text for text in pages if len(text) > 60]
    texts += pages[:: max(1, len(pages) // 40)][:40]
    truth += [subject] * (len(texts) - len(truth))
texts, truth = np.array(texts, dtype=object), np.array(truth, dtype=object)
print(f"{len(texts)} texts, for example: {texts[40][:70]} ...")

# %%
# Four labels for each subject
# ----------------------------
# ``hide_labels`` plays the part of a person who has read 24 of the texts. The others have no
# label: None.

y = hide_labels(truth, n_per_class=4, random_state=0)
known = np.array([label is not None for label in y])
print(f"{known.sum()} labels, {(~known).sum()} texts without one")

# %%
# What most people do: words and a linear model of the labelled texts.

words = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(texts[known], truth[known])
print(f"words and a linear model     {words.score(texts[~known], truth[~known]):.1%}")

# %%
# The front door takes the texts as they are. It sees them in two views, as vectors of their
# meaning and as words, and it learns from the texts without a label, too.

model = SemiSupervisedClassifier(random_state=0).fit(texts, y)
print(f"SemiSupervisedClassifier     {model.score(texts[~known], truth[~known]):.1%}")

# %%
# How good is it, if you do not know the truth?
# ---------------------------------------------
# Held-out labels tell. ``best_score_`` is the accuracy on labels that were hidden in turn, and
# ``unlabeled_gain_`` is how much of it is due to the texts without a label. With 24 labels both
# are rough.

print(f"on held-out labels           {model.best_score_:.1%}")
print(f"gained by unlabelled texts   {100 * model.unlabeled_gain_:+.1f} points")
print(*str(model.members_).splitlines()[:6], "...", sep="\n")

# %%
# Which texts to read next?
# -------------------------
# ``suggest`` names the rows whose labels would help most. We answer 24 of them, and compare with
# 24 answers to texts that were drawn by chance.

chosen, drawn = y.copy(), y.copy()
asked = suggest(model, texts, 24, y=y, random_state=0)
chosen[asked] = truth[asked]
by_chance = np.random.default_rng(0).permutation(np.flatnonzero(~known))[:24]
drawn[by_chance] = truth[by_chance]
for name, answers in (("24 more, suggested", chosen), ("24 more, by chance", drawn)):
    again = SemiSupervisedClassifier(random_state=0).fit(texts, answers)
    hidden = np.array([label is None for label in answers])
    print(f"{name:28} {again.score(texts[hidden], truth[hidden]):.1%}")
    if answers is chosen:
        best = again

# %%
# A map
# -----
# Texts that mean the same lie close together. Rings are the texts that were read, and crosses are
# wrong answers: most of them lie where subjects meet.

places = TSNE(perplexity=20, random_state=0).fit_transform(
    TextEmbedder(cache=None).fit_transform(texts)
)
answers = best.predict(texts)
read = np.array([label is not None for label in chosen])
figure, ax = plt.subplots(figsize=(8, 6.2), layout="constrained")
for k, subject in enumerate(SUBJECTS.values()):
    rows = answers == subject
    ax.scatter(
        *places[rows].T, s=26, color=plt.cm.Dark2(k), alpha=0.75, linewidths=0, label=subject
    )
wrong = answers != truth
ax.scatter(*places[wrong].T, s=60, marker="x", color="black", linewidths=1, label="wrong")
ax.scatter(
    *places[read].T, s=80, facecolors="none", edgecolors="black", linewidths=1.2, label="read"
)
ax.set(xticks=[], yticks=[], title=f"{len(texts)} texts, {read.sum()} of them read")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
plt.show()

# %%
# With texts of your own
# ----------------------
# A list, a column of pandas or a folder of files will do:
#
# .. code-block:: python
#
#     table = pandas.read_csv("reviews.csv")  # the columns text and label; empty labels are unknown
#     model = SemiSupervisedClassifier().fit(table["text"], table["label"])
#
# On the command line it is ``graphkm train reviews.csv model.gkm --text text``, and ``graphkm
# label reviews.csv --text text --out labels.csv`` opens a page on which you answer the suggested
# texts. :doc:`/guide/texts_and_images` has other encoders.
