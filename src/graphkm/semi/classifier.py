"""The front door for classes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from ..estimators.array_kinds import own_names
from ..estimators.classes import winning_class
from ..estimators.data_checks import require_memory_for_classes
from ..estimators.given_rows import require_labels, weights_to_score
from ..estimators.labels import (
    as_label_array,
    checked_classes,
    labeled_mask,
    plain_labels,
    refuse_ambiguous,
)
from ..judge.held_out import check_classifier
from ..judge.mixture import Verdict
from ..judge.sizes import checked_sizes, contradiction, drawn_by_class, sizes_of_rows, tilt_to_sizes
from ..judge.thresholds import best_threshold, checked_thresholds
from ..members import Known, Member
from ..members.of_all_rows import check_kind
from ..members.ranked import as_numbers, ranked_members
from .base import SemiSupervised
from .class_scores import finite_log_odds, labels_to_score
from .label_names import names_of, with_named
from .label_tables import Table, is_table, table_of
from .ordered import asked_order, nearest_class
from .sides import LabelNames, Side
from .target import Target, kind_of, label_target, refuse_positives_alone, share_target
from .training import Training
from .views import View, Views, unmeasured

_ENOUGH = 4000  # unlabelled rows: their mean probabilities are known to one in a hundred
_DOUBT = 1e-3  # of drawn labels: the sizes of classes would hardly change


@own_names
class SemiSupervisedClassifier(ClassifierMixin, SemiSupervised):
    """A classifier that learns from few labels and many unlabelled rows.

    It fits *members*: models of the labelled rows alone (kernel ridge, a linear model, a forest,
    boosting), and models that follow a graph of all rows. Each says what it thinks of every
    labelled row without having seen that row's label. These held-out labels decide how much each
    member counts. A prediction is the mixture of all members,

        P(y | x) = sum_m w_m p_m(y | x) .

    So it is a forest where a forest is best, and follows the unlabelled rows where they help.
    `members_` says what was done, and `unlabeled_gain_` what the unlabelled rows gave.

    Parameters
    ----------
    estimator : "auto", classifier, list of classifiers or None, default="auto"
        The models of the labelled rows. "auto" takes kernel ridge, logistic regression, a forest,
        extra trees and boosting; only the first two for wide sparse rows. None takes no model.
    graph : "auto", {"knn", "anchors"}, NodesPart or None, default="auto"
        The graph of all rows: `graphkm.graphs.KNN` has a value at every row, `Anchors` at fewer
        nodes. None takes no graph.
    views : dict or None, default=None
        Several views of the same rows, each with members of its own: encoders by name, such as
        ``{"vectors": TextEmbedder(), "words": Words()}``, or pairs of an encoder and the columns
        that it gets. None takes the rows as they are; texts get these two views.
    class_sizes : "auto", None, "labels" or mapping, default="auto"
        How large the classes are, if that is known: a share or a number of rows for every class,
        or "labels" for the shares of the labelled rows. Probabilities are changed so that the
        classes have these sizes over all training rows, up to a tenth of each. It helps most with
        few labels. Given sizes add a member that cuts the graph of nearest rows into such classes.
        "auto": where about as many rows of every class are labelled, the labels say nothing of the
        sizes, and they are estimated from the unlabelled rows; else nothing is changed. None never
        changes anything. "auto" does not change `members_` and `best_score_`.
    label_names : "auto", mapping or None, default="auto"
        What the labels are called, where rows are texts: a text for each label. Every view of
        texts then has these names as further labelled rows, so that a label may have a name and
        no labelled row. "auto" takes the labels themselves if all of them are words. None takes no
        names.
    targets : {"auto", "classes", "shares", "labels"}, default="auto"
        What y holds: one class per row; a column of shares for each class; or a column for each of
        several labels, 0 or 1. "auto" looks: one column has classes, several columns of 0, 1 and
        gaps have labels, and other columns have shares. Lists of names are labels.
    thresholds : None, "f1", float, list or mapping, default=None
        The probability above which a row has a label, where it may have several; None is one half.
        "f1": held-out labels choose one for each label, so that F1 is largest.
    ordered : "auto", bool or list, default="auto"
        Whether classes have an order. Predictions then have the least expected distance from the
        truth, in steps along the order. "auto" looks whether y is an ordered categorical. True
        takes the order of numbers, and a list names the classes in their order.
    unlabeled : default=-1
        The mark of unlabelled rows in y. NaN, None, NA and empty texts always mark them, too;
        unlabeled=None means that nothing else does.
    cv : int, splitter or list of (train, test), optional
        Folds of the labelled rows; by default 10 with up to 200 labels, and 5 with more (fewer
        where a class has fewer rows). Held-out labels are hidden; their rows stay in the graph.
    random_state : int, RandomState or None, default=None
        Decides the folds and all draws. Given models have their own.
    n_jobs : int or None, default=None
        Threads; None is every core of the process for the graph, and one for the models.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    members_ : MemberTable
        Name, weight, held-out accuracy and log loss of every member; it prints as a table.
    best_score_ : float
        Accuracy of the mixture on held-out labels. The weights for the labels of one fold come
        from the other folds. NaN if labels are too few to hold any out.
    unlabeled_gain_ : float
        `best_score_` minus the same score of a mixture of only the members that did not see the
        unlabelled rows. NaN if there are no such members.
    mixture_ : Mixed
        The fitted mixture.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows; given labels are kept.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Probabilities of the training rows. Only a fit with an affinity has them: others ask
        `predict_proba`.
    class_sizes_ : ndarray of shape (n_classes,)
        The share of every class that is assumed: given, estimated, or that of the labels. Several
        labels per row have none.
    thresholds_ : ndarray of shape (n_labels,)
        The threshold of every label, where a row may have several.
    order_ : ndarray of shape (n_classes,) or None
        The classes in their order; None if they have none.
    labeled_ : ndarray of int
        The numbers of the labelled rows. Only a fit that can hold labels out has this, and the
        next three.
    held_out_ : ndarray of shape (n_labeled, n_columns)
        Probabilities of the labelled rows, in the order of `labeled_`, from members and weights
        that did not see the row's labels. NaN where a label of several is not known. They are not
        changed to meet `class_sizes_`.
    told_ : ndarray of shape (n_labeled, n_columns)
        What y says of the labelled rows, in the shape of `held_out_`: 1 for the class of a row and
        0 for others, shares of classes, or several labels.
    told_weights_ : ndarray of shape (n_labeled,)
        The weights of the labelled rows; their mean is 1 unless rows have shares of classes.
    evidence_ : Evidence or None
        What `graphkm.inspection.explain` needs; copies and files do not have it. It holds the graph
        of all rows in memory until it is deleted.
    views_ : dict of View
        The views with their fitted encoders; only where there are several.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> X, truth = make_moons(300, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(300) < 20, truth, -1)
    >>> model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    >>> print(f"{model.score(X, truth):.2f}")
    0.99
    """

    def __init__(
        self,
        estimator: Any = "auto",
        *,
        graph: Any = "auto",
        views: Any = None,
        class_sizes: Any = "auto",
        label_names: Any = "auto",
        targets: Any = "auto",
        thresholds: Any = None,
        ordered: Any = "auto",
        unlabeled: Any = -1,
        cv: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            graph=graph,
            views=views,
            unlabeled=unlabeled,
            cv=cv,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_sizes = class_sizes
        self.label_names = label_names
        self.targets = targets
        self.thresholds = thresholds
        self.ordered = ordered

    def _check_model(self, model: Any) -> None:
        check_kind(model, classes=True)
        check_classifier(model)

    def _encode(self, y: Any, rows: Any, counts: NDArray[np.bool_]) -> Target:
        for name in ("order_", "thresholds_", "class_sizes_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        table = table_of(y, self.unlabeled) if is_table(y) else None
        kind = kind_of(self.targets, y, table)
        if table is not None:
            check_consistent_length(rows, table.values)
            return self._encode_table(table, counts, kind)
        values = as_label_array(y)
        check_consistent_length(rows, values)
        labeled = np.flatnonzero(labeled_mask(values, self.unlabeled) & counts)
        named = isinstance(self.label_names, Mapping) and isinstance(rows, Views)
        if not named:  # names of texts stand for labels
            require_labels(labeled, len(values), self.unlabeled)
        refuse_ambiguous(values, self.unlabeled)
        known = plain_labels(values[labeled]) if len(labeled) else values[:0]
        self.classes_ = checked_classes(with_named(known, self.label_names))
        self._check_kind("classes", y)
        require_memory_for_classes(len(known), len(self.classes_))
        return Target(labeled, known, "classes")

    def _check_kind(self, kind: str, y: Any) -> None:
        """Check the parameters that only one kind of targets has."""
        if kind == "labels":
            for name in ("class_sizes", "label_names"):
                if isinstance(getattr(self, name), Mapping):
                    raise ValueError(f"{name} is for one class per row, and y has several labels.")
            if not (self.ordered is None or self.ordered is False or self.ordered == "auto"):
                raise ValueError("ordered is for one class per row, and y has several labels.")
            checked_thresholds(self.thresholds, self.classes_)
            return
        if self.thresholds is not None:
            raise ValueError("thresholds are for several labels per row; y has one class per row.")
        checked_sizes(self.class_sizes, self.classes_, np.ones(len(self.classes_)))  # before work
        self.order_ = asked_order(self.ordered, y, self.classes_)

    def _encode_table(self, table: Table, counts: NDArray[np.bool_], kind: str) -> Target:
        """Return the labels of a table: several of a row, or shares of classes."""
        n, k = table.values.shape
        names = np.arange(k) if table.names is None else table.names
        if kind == "labels":
            self.classes_, target = names, label_target(table, counts)
            refuse_positives_alone(target)
        else:
            order = np.argsort(names, kind="stable")
            self.classes_ = names[order]
            ordered = Table(table.values[:, order], self.classes_)
            target = share_target(ordered, counts, self.classes_)
            if len(target.y):
                checked_classes(target.y)
        self._check_kind(kind, None)
        require_labels(target.labeled, n, self.unlabeled)
        require_memory_for_classes(len(target.labeled), k)
        return target

    def _names(self, views: dict[str, View]) -> LabelNames | None:
        return names_of(self.label_names, self.classes_, views)

    def _members_of(self, side: Side, models: dict[str, Any] | None, seed: int) -> list[Member]:
        found = super()._members_of(side, models, seed)
        order = getattr(self, "order_", None)
        if order is None:
            return found
        ranks = np.argsort(np.searchsorted(self.classes_, order))
        numbers = replace(side, known=as_numbers(side.known, ranks), names=None)
        more = super()._members_of(numbers, None if models is None else {}, seed)
        return [*found, *ranked_members(more, side.known, ranks)]

    def _finish(
        self, verdict: Verdict, training: Training, looked_at: Training, known: Known
    ) -> None:
        if known.kind == "labels":
            self._choose_thresholds(verdict, looked_at, known)
        else:
            self._meet_sizes(training, looked_at, known)

    def _choose_thresholds(self, verdict: Verdict, looked_at: Training, known: Known) -> None:
        """Set the probability above which a row has a label."""
        asked = checked_thresholds(self.thresholds, self.classes_)
        if asked is None:
            asked, cells = np.full(len(self.classes_), 0.5), known.cells
            rows = looked_at.unlabelled(_ENOUGH)
            others = np.empty((0, len(asked)))
            if len(rows):
                others = looked_at.said(self.mixture_, rows)
            for place in range(len(asked)) if known.folds else ():
                told = cells[:, place] > 0
                own = verdict.held[told, place], known.y[told, place], cells[told, place]
                asked[place] = best_threshold(*own, others[:, place])
        self.thresholds_ = asked

    def _counts(self, y: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the labels of every class, by weight; a class known by its name alone has one."""
        codes, k = np.searchsorted(self.classes_, y), len(self.classes_)
        counts = np.bincount(codes, weights, minlength=k).astype(np.float64)
        return counts if counts.all() else counts + 1.0

    def given_sizes(
        self, y: NDArray[Any], weights: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """Return the shares of the classes that a person gave; None if she gave none."""
        if self.class_sizes is None or self._estimates_sizes:
            return None
        counts = self._counts(y, weights)
        return checked_sizes(self.class_sizes, self.classes_, counts / counts.sum())

    @property
    def _estimates_sizes(self) -> bool:
        return isinstance(self.class_sizes, str) and self.class_sizes == "auto"

    def _meet_sizes(self, training: Training, looked_at: Training, known: Known) -> None:
        """Make the classes of the mixture as large as `class_sizes` says."""
        counts, tilt = self._counts(known.y, known.weights), None
        own = counts / counts.sum()
        self.class_sizes_ = own if known.sizes is None else known.sizes
        if self._estimates_sizes:
            rows = looked_at.unlabelled(_ENOUGH)
            if len(rows) and drawn_by_class(counts) > _DOUBT:
                self.class_sizes_ = sizes_of_rows(looked_at.said(self.mixture_, rows), counts)
                tilt = np.log(self.class_sizes_ / own)
        elif known.sizes is not None:
            self._warn_of_sizes(training, known)
            tilt = tilt_to_sizes(training.said(self.mixture_), self.class_sizes_)
        self.mixture_ = replace(self.mixture_, tilt=tilt)

    def _warn_of_sizes(self, training: Training, known: Known) -> None:
        """Warn if a class has more labels than rows by the sizes that a person gave."""
        labeled = training.labeled  # empty for rows in blocks, and twice for shares of two classes
        whole = len(np.unique(labeled)) == len(known.y)
        if not (whole and isinstance(self.class_sizes, Mapping)):
            return
        counts = np.bincount(known.codes, minlength=len(self.classes_))
        said = contradiction(self.class_sizes_, counts, training.rows.shape[0], self.classes_)
        if said is not None:
            warnings.warn(said, UserWarning, stacklevel=4)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that a row may have several labels."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags

    def numbers(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Return classes as their numbers; several labels are numbers already."""
        if answers.ndim == 2:
            return answers.astype(np.uint8)
        codes = np.searchsorted(self.classes_, answers)
        return codes.astype(np.min_scalar_type(len(self.classes_) - 1))

    def _answers(self, found: NDArray[np.float64]) -> NDArray[Any]:
        if self.mixture_.kind == "labels":
            return (found > self.thresholds_).astype(np.int64)
        if self.order_ is not None:
            places = np.searchsorted(self.classes_, self.order_)
            return np.asarray(self.order_[nearest_class(found[:, places])])
        return np.asarray(self.classes_[winning_class(found)])

    def _keep_answers(self, training: Training, target: Target) -> NDArray[np.float64] | None:
        found = super()._keep_answers(training, target)
        if found is not None:
            self.label_distributions_ = found
        return found

    def predict_proba(self, X: Any, affinity: Any = None, ids: Any = None) -> NDArray[np.float64]:
        """Return the probability of every class, or of every label; parameters as of predict."""
        return self._mixed(X, affinity, ids)

    def predict_log_proba(
        self, X: Any, affinity: Any = None, ids: Any = None
    ) -> NDArray[np.float64]:
        """Return the logarithms of the classes' probabilities; parameters as of predict."""
        return np.asarray(np.log(self._mixed(X, affinity, ids)))

    def decision_function(
        self, X: Any, affinity: Any = None, ids: Any = None
    ) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities; for two classes their difference.

        Several labels have the logarithms of their odds, above 0 where `predict` gives the label.
        """
        found = self._mixed(X, affinity, ids)
        if self.mixture_.kind == "labels":
            return np.asarray(finite_log_odds(found) - finite_log_odds(self.thresholds_))
        logs = np.log(found)
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        affinity: Any = None,
        ids: Any = None,
    ) -> float:
        """Return the accuracy on the labelled rows of (X, y).

        A share of a class counts as that much of a label. With several labels per row it is the
        share of rows of which all labels are right, as in scikit-learn; rows with unknown labels
        do not count.
        """
        found = self.predict(X, affinity, ids)
        kind = self.mixture_.kind
        target, n = labels_to_score(y, kind, self.unlabeled, self.classes_)
        labeled = np.isin(np.arange(n), target.labeled)
        weights_to_score(labeled if unmeasured(X) else X, labeled, sample_weight)  # checks them
        hits = found[target.labeled] == target.y
        weights = np.ones(len(hits)) if target.shares is None else target.shares
        if sample_weight is not None:
            weights = weights * np.asarray(sample_weight)[target.labeled]
        return float(np.average(hits.reshape(len(hits), -1).all(axis=1), weights=weights))
