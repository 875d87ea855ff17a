r"""Sets of classes and intervals of quantities that hold the truth as often as is asked for.

Every labelled row has a *score*: how far a fit that did not see its label was from the truth. For a
class it is 1 - p(class), and for a quantity the distance between both. A new row gets all answers
whose score is not larger than that of nine in ten labelled rows (if the coverage is 0.9).

What is guaranteed depends on where the scores come from. Let labelled and new rows be
*exchangeable*, such as drawn at random together, and let alpha be 1 - coverage.

- *Split conformal prediction* takes scores from labelled rows that the model never sees. A new row
  is covered with probability 1 - alpha or more, whatever the model and the data are.
- *Jackknife+* and *cross-conformal prediction* use all labels, and compare a new row with the
  very fits that held labels out. They guarantee 1 - 2 alpha, the latter up to a small term (Vovk,
  2015; Barber, Candes, Ramdas and Tibshirani, 2021), and give about 1 - alpha.
- *Here* scores come from fits that held labels out as well, but a new row is told by the one model
  that saw all of them. This is the jackknife. It guarantees nothing for all models: if a model
  changes wholly with every label, coverage may be anything. If hardly any prediction changes when
  a label is left out (the model is stable), coverage is about 1 - alpha (Barber et al., 2021,
  section 5). `benchmarks/sets.py` measures it.

All of them hold on average over draws of the labels. With l labels, the coverage of one draw is
spread around its mean by about sqrt(alpha (1 - alpha) / l): 4 in a hundred with 50 labels.

If a person or a program chose the rows to label, such as those of which a model was unsure, they
are not exchangeable with the others, and no such statement holds. If each row's probability of
being chosen is known, one divided by it is a weight under which the labelled rows stand for all
rows (Tibshirani, Barber, Candes and Ramdas, 2019).

Labelled rows are in the graph of the fit, and so are the unlabelled rows of the fit, which are
exchangeable with them. Rows that come later are not in the graph. If members on the graph count
much, the model is less sure of them, and they are covered less often: fit with them where that
matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .conformal import Array
from .frames import as_frame
from .limits import class_limits, interval_limits


@dataclass(frozen=True, repr=False)
class PredictionSets:
    """A set of classes for every row; it prints how large the sets are.

    Parameters
    ----------
    members : ndarray of bool of shape (n, n_classes)
        Which classes are in the set of each row.
    classes : ndarray of shape (n_classes,)
        The classes.
    coverage : float
        The probability that was asked for.
    thresholds : ndarray of shape (n_classes,)
        A class is in the set if its probability is this or more; minus infinity if labels are too
        few to say.

    Examples
    --------
    >>> members = np.array([[True, False], [True, True], [False, True]])
    >>> found = PredictionSets(members, np.array(["cat", "dog"]), 0.9, np.array([0.3, 0.3]))
    >>> found
    sets that hold the class of 90 % of rows; mean size 1.33
    classes  rows  share
          1     2   66.7
          2     1   33.3
    >>> found.lists()
    [['cat'], ['cat', 'dog'], ['dog']]
    """

    members: NDArray[np.bool_]
    classes: NDArray[Any]
    coverage: float
    thresholds: Array

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many classes each row has."""
        return np.asarray(self.members.sum(axis=1))

    def lists(self) -> list[list[Any]]:
        """Return the classes of each row."""
        return [self.classes[row].tolist() for row in self.members]

    def frame(self) -> Any:
        """Return a frame with a column of truth values for each class, and one of sizes."""
        columns = dict(zip(self.classes.tolist(), self.members.T, strict=True))
        return as_frame(columns | {"size": self.sizes})

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.members)

    def __repr__(self) -> str:
        """Return how many rows have sets of each size."""
        head = f"sets that hold the class of {100 * self.coverage:g} % of rows"
        if not len(self):
            return f"{head}; no rows"
        sizes, counts = np.unique(self.sizes, return_counts=True)
        shares = 100 * counts / len(self)
        lines = [f"{head}; mean size {self.sizes.mean():.2f}", "classes  rows  share"]
        for size, count, share in zip(sizes, counts, shares, strict=True):
            lines.append(f"{size:7d}  {count:4d}  {share:5.1f}")
        return "\n".join(lines)


def prediction_sets(
    model: Any,
    X: Any,
    coverage: float = 0.9,
    *,
    by_class: bool = False,
    weights: Any = None,
    affinity: Any = None,
    ids: Any = None,
) -> PredictionSets:
    """Return a set of classes for every row, which holds its class as often as is asked for.

    A set has every class whose probability is not below that of nine in ten labelled rows' own
    classes, as held-out fits gave them (if the coverage is 0.9). A row of which the model is unsure
    has a large set. A set is empty if no class is likely enough. A model that is right more often
    than the coverage has such sets, because it would cover too many rows without them; ask for a
    larger coverage then.

    If labelled and new rows were drawn at random together, and a label more or less hardly changes
    the model, the class of a new row is in its set with probability `coverage`, on average over
    draws of the labels. This is no guarantee for any model whatever (:doc:`/guide/sets` says
    what is proved). It fails where rows were chosen for labelling by a model's doubt, unless
    weights tell how; and for rows of classes that have no label. Rows that were in the fit without
    a label are like labelled ones; of rows that come later a graph tells less, and they may be
    covered less often.

    Parameters
    ----------
    model : SemiSupervisedClassifier
        A fitted model with one class per row, or one that was read from a file.
    X : array, frame or CSR matrix of shape (n, n_features), or None
        The rows.
    coverage : float, default=0.9
        The probability that a set holds the class. If l labels are fewer than
        coverage / (1 - coverage), sets hold all classes, and a warning says so.
    by_class : bool, default=False
        Whether the rows of every class are to be covered so often. Each class then has a threshold
        of its own, from its own labels. Without this, an easy class may be covered more often, and
        a hard one less. A class with too few labels is in every set.
    weights : array-like of shape (n_labeled,), optional
        One divided by the probability that each labelled row was chosen for labelling, in the order
        of `labeled_`. By default all were as likely. Weights of the fit (`sample_weight`) are not
        taken by themselves, for they may mean something else.
    affinity, ids
        Edges of these rows, as in `predict`.

    Returns
    -------
    PredictionSets
        `members`, `sizes`, `lists()` and `frame()`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> X, truth = make_moons(300, noise=0.3, random_state=0)
    >>> y = np.where(np.arange(300) < 40, truth, -1)
    >>> model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    >>> found = prediction_sets(model, X[40:], coverage=0.95)
    >>> covered = found.members[np.arange(260), truth[40:]]
    >>> bool(covered.mean() > 0.9)
    True
    """
    limits = class_limits(model, coverage, by_class, weights)
    said = np.asarray(model.predict_proba(X, affinity, ids))
    inside = 1.0 - said <= limits
    return PredictionSets(inside, np.asarray(model.classes_), float(coverage), 1.0 - limits)


def prediction_intervals(
    model: Any,
    X: Any,
    coverage: float = 0.9,
    *,
    weights: Any = None,
    affinity: Any = None,
    ids: Any = None,
) -> Array:
    """Return an interval for every row, which holds its quantity as often as is asked for.

    An interval is the prediction, plus and minus the distance within which held-out predictions of
    nine in ten labelled rows were (if the coverage is 0.9). So all intervals of a quantity are of
    one length. What holds of `prediction_sets` holds of them: they cover with the probability asked
    for if labelled and new rows were drawn together and the model is stable. That is no guarantee
    for any model whatever.

    Parameters
    ----------
    model : SemiSupervisedRegressor
        A fitted model, or one that was read from a file.
    X : array, frame or CSR matrix of shape (n, n_features), or None
        The rows.
    coverage : float, default=0.9
        The probability that an interval holds the quantity; of several quantities, each has its
        own intervals. If l labels are fewer than coverage / (1 - coverage), intervals are infinite,
        and a warning says so.
    weights, affinity, ids
        As in `prediction_sets`.

    Returns
    -------
    ndarray of shape (n, 2) or (n, n_columns, 2)
        The lower and upper ends.

    Examples
    --------
    >>> from graphkm import SemiSupervisedRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> truth = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 200)
    >>> y = np.where(np.arange(200) % 5 == 0, truth, np.nan)
    >>> model = SemiSupervisedRegressor(random_state=0).fit(X, y)
    >>> low, high = prediction_intervals(model, X).T
    >>> bool(0.8 < np.mean((low <= truth) & (truth <= high)) < 1.0)
    True
    """
    limits: Any = interval_limits(model, coverage, weights)
    said = np.asarray(model.predict(X, affinity, ids))
    if said.ndim == 1:
        limits = limits[0]
    return np.stack([said - limits, said + limits], axis=-1)
