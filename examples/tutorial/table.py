"""
A table: 569 patients, 20 diagnoses
===================================

Measuring is cheap, and a diagnosis is not. scikit-learn's table of breast cancer has 30
measurements of 569 samples. We pretend that 20 of them have a diagnosis, as at the beginning of a
study, and ask: how good is a model, how sure is it of each patient, and are more diagnoses worth
their cost?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphkm import SemiSupervisedClassifier
from graphkm.datasets import hide_labels
from graphkm.inspection import doubtful_labels, learning_curve, prediction_sets

data = load_breast_cancer()
truth = data.target_names[data.target]
X = StandardScaler().fit_transform(data.data)  # columns have units of their own

# %%
# Twenty labels
# -------------
# The mean of three draws of the labels: one draw says little.

models = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "random forest": RandomForestClassifier(random_state=0),
    "boosting": HistGradientBoostingClassifier(random_state=0),
}
scores = {name: [] for name in (*models, "SemiSupervisedClassifier")}
for seed in range(3):
    y = hide_labels(truth, fraction=1 - 20 / 569, random_state=seed)
    known = np.array([label is not None for label in y])
    hidden = X[~known], truth[~known]
    for name, model in models.items():
        scores[name].append(model.fit(X[known], truth[known]).score(*hidden))
    ours = SemiSupervisedClassifier(random_state=0).fit(X, y)
    scores["SemiSupervisedClassifier"].append(ours.score(*hidden))
for name, values in scores.items():
    print(f"{name:26} mean {np.mean(values):.1%}, worst {np.min(values):.1%}")

# %%
# What did it do?
# ---------------
# ``members_`` lists the ways to learn that were tried, and the weights that held-out labels gave
# them.

print(*str(ours.members_).splitlines()[:6], "...", sep="\n")

# %%
# How sure is it of each patient?
# -------------------------------
# Prediction sets hold the truth as often as is asked for. A set of two classes means: ask a
# doctor. More labels make sets smaller; here are 60.

y = hide_labels(truth, fraction=1 - 60 / 569, random_state=0)
known = np.array([label is not None for label in y])
model = SemiSupervisedClassifier(random_state=0).fit(X, y)
found = prediction_sets(model, X[~known], coverage=0.95)
holds = found.members[np.arange((~known).sum()), np.searchsorted(model.classes_, truth[~known])]
print(f"truth inside the set {holds.mean():.1%}; sets of one class {np.mean(found.sizes == 1):.1%}")

# %%
# Are the labels right?
# ---------------------
# Suppose that three diagnoses were typed wrongly. The model names the labels that it doubts, the
# most doubtful first.

typed = y.copy()
slips = np.flatnonzero(known)[[3, 20, 41]]
typed[slips] = np.where(truth[slips] == "benign", "malignant", "benign")
doubts = doubtful_labels(SemiSupervisedClassifier(random_state=0).fit(X, typed), X)
first = [line.row for line in doubts[:5]]
print(f"{len(set(first) & set(slips))} of the 3 slips are among the first five of 60 labels")

# %%
# Are more labels worth it?
# -------------------------

curve = learning_curve(model, X, more=[60, 200], repeats=1, random_state=0)
print(curve)

# %%
# A picture of all patients
# -------------------------
# Patients are sorted by the probability that the model gives. Where dots of both colours meet, the
# sets have both classes.

share = model.predict_proba(X[~known])[:, list(model.classes_).index("malignant")]
order = np.argsort(share)
rank = np.arange(len(order))
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
both = found.sizes[order] != 1
ax.fill_between(rank, 0, 1, where=both, step="mid", color="0.88", label="set of both classes")
for name, color in (("benign", "tab:blue"), ("malignant", "tab:red")):
    rows = truth[~known][order] == name
    ax.scatter(rank[rows], share[order][rows], s=14, color=color, label=name, linewidths=0)
ax.set(xlabel="patients, sorted", ylabel="probability of malignant", xlim=(0, len(order)))
ax.set_title("60 diagnoses known, 509 predicted")
ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
# With a table of your own
# ------------------------
# Columns with words, dates and gaps are prepared by the command line: ``graphkm train patients.csv
# model.gkm --label diagnosis``. Rows with an empty diagnosis are unlabelled. ``graphkm report
# model.gkm patients.csv --out report.html`` puts all of this page on one page for others.
# :doc:`/guide/tables` goes through a table with categories and gaps.
