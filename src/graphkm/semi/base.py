"""What the front door's classifier and regressor share: the fit, the table, the mixture."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.utils import check_random_state

from .._util.parameters import count_threads
from .._util.threads import one_blas_thread
from ..estimators.data_checks import check_range, check_scale, checked_weights
from ..estimators.given_rows import require_labels
from ..estimators.labels import as_label_array, refuse_ambiguous
from ..estimators.nested_parameters import Composed, Resolver
from ..estimators.transduction import (
    forget_transduced,
)
from ..expansion import default_threads
from ..graphs import Anchors, NodeGraph, NodesPart
from ..graphs.given_edges import Ids
from ..graphs.row_ids import without_ids
from ..judge.folds import check_folds
from ..judge.held_out import take_rows
from ..judge.mixture import Verdict
from ..members import Known, Member, Scope, named_member, usual_models
from ..members.of_all_rows import learns_from_all
from .answers import Answering
from .asked import asked_models, asked_nodes
from .block_labels import joined, targets_of
from .blocks import Blocks, Reading, as_blocks
from .evidence import Evidence
from .given_graphs import Given, links_to_themselves
from .judging import judge, prior_of
from .label_tables import Table
from .labelled import keep_held, known_rows
from .member_list import fit_members
from .mixed_views import mixture_of
from .report import MemberTable
from .sides import LabelNames, Side
from .target import Target
from .training import Elsewhere, Training
from .view_sides import side_of, sides_of_nodes, sides_of_views
from .views import View, Views, as_given, asked_views, fit_views


class SemiSupervised(MetaEstimatorMixin, Answering, Composed):
    """The fit of the front door."""

    labeled_: NDArray[np.int64]

    def __init__(
        self,
        estimator: Any = "auto",
        *,
        graph: Any = "auto",
        views: Any = None,
        unlabeled: Any = -1,
        cv: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.graph = graph
        self.views = views
        self.unlabeled = unlabeled
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _resolvers(self) -> Mapping[str, Resolver]:
        return {"graph": asked_nodes}

    # ------------------------------------------------------------------ what subclasses know

    @abstractmethod
    def _encode(self, y: Any, rows: Any, counts: NDArray[np.bool_]) -> Target:
        """Return the labels of rows that count, checked."""

    @abstractmethod
    def _check_model(self, model: Any) -> None:
        """Raise if a classifier was passed for quantities, or a regressor for classes."""

    def _names(self, views: dict[str, View]) -> LabelNames | None:
        """Return texts that name labels, and the labels; quantities have none."""
        return None

    def given_sizes(
        self, y: NDArray[Any], weights: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """Return the shares of the classes that a person gave; quantities have none."""
        return None

    def _finish(
        self, verdict: Verdict, training: Training, looked_at: Training, known: Known
    ) -> None:
        """Decide what is left to decide: sizes of classes, or thresholds of labels.

        Parameters
        ----------
        verdict : Verdict
            What the judge said.
        training : Training
            The rows that are to have the sizes.
        looked_at : Training
            The rows from which sizes and thresholds are estimated, if that is asked for.
        known : Known
            The labelled rows.
        """

    # ------------------------------------------------------------------ the fit

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        affinity: Any = None,
        ids: Any = None,
    ) -> Self:
        """Learn from labelled and unlabelled rows, and from graphs of them, if there are any.

        Rows need not fit in memory. Blocks of rows are read one by one, several times, and only
        the labelled rows are kept. The graph then lives on `Anchors`. With ``graph="anchors"`` a
        memory-mapped array is read in blocks, too.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features), or iterable
            All rows, with a number in every place. Or an iterable of blocks: pairs (rows, labels),
            triples (rows, labels, weights), or the chunks of `graphkm.online.read_stream`. With
            blocks, y is None. With an affinity X may be None: the edges alone are learnt from.
        y : array-like of shape (n_samples,) or (n_samples, n_columns), or lists
            Labels or targets. Unknown ones are `unlabeled`, NaN, None, NA or masked. A row may have
            several: a column for each label, share or quantity, or a list of names.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the labelled rows. Only their ratios matter. A label of weight 0 is not used,
            and `transduction_` does not keep it.
        affinity : matrix, edges, graph, or list or dict of them, optional
            Which rows belong together, as you know it: a sparse or dense matrix of weights of
            shape (n_samples, n_samples); pairs of rows, or triples with weights, as an array, a
            list or a frame; a graph of networkx or PyTorch Geometric; AnnData with neighbours.
            An edge counts in both directions, with the larger weight. Repeated edges of a list
            add up, and edges from a row to itself are left out.
        ids : array-like of shape (n_samples,) or str, optional
            What edges call the rows: one id each, or the name of a column of X, which is then no
            feature. By default edges have the index of a frame, or the numbers of the rows.

        Returns
        -------
        self
        """
        part, models = self._asked()
        seed = self.draw_seed()
        views = asked_views(self.views, X)
        if affinity is None:
            if ids is not None:
                raise ValueError("ids name the rows of an affinity; pass both, or none of them.")
            blocks = as_blocks(X, y, sample_weight) if views is None else None
            if blocks is not None and (y is None or isinstance(part, Anchors)):
                return self._fit_blocks(blocks, self._anchors(part), seed)
        X, names = (X, None) if affinity is None else without_ids(X, ids)
        X = self._fit_views(views, X)
        if X is None:
            part, models = None, _models_without_rows(models)
        rows, target, weights = self._labelled_rows(X, y, sample_weight)
        labeled = target.labeled
        if rows.shape[0] < 2:
            raise ValueError("1 sample has no neighbours; pass at least 2 rows.")
        given = as_given(X, rows)
        theirs = None if affinity is None else Given.of(affinity, Ids(rows.shape[0], names))
        own = take_rows(rows, labeled)
        some = own if given is None else take_rows(given, labeled)
        order, known = known_rows(self, some, own, target, weights, seed)
        links = None if theirs is None else links_to_themselves(rows.shape[0])
        training = Training(given, rows, labeled[order], links)
        sides = self._sides(part, theirs, training, known, seed)
        judged = known if len(labeled) else sides[0].known  # names alone are labelled
        verdict = self._learn(models, judged, sides, seed)
        looked_at = training
        if sides[0].graph is not None and theirs is None and isinstance(part, Anchors):
            looked_at = Training.of_nodes(_nodes_of(sides), given)  # as for rows in blocks
        self._finish(verdict, training, looked_at, judged)
        self._keep_answers(training, target.at(order, labeled[order]))
        return self

    def _fit_views(self, views: dict[str, View] | None, X: Any) -> Any:
        """Fit the encoders, and return the rows that they make; X itself if there are none."""
        self.__dict__.pop("views_", None)
        if views is None:
            return X
        self.views_, rows = fit_views(views, X)
        return rows

    def _sides(
        self,
        part: NodesPart | None,
        theirs: Given | None,
        training: Training,
        known: Known,
        seed: int,
    ) -> list[Side]:
        """Return what the members of every view see."""
        shown, threads = bool(self.verbose), self.n_threads()

        def nodes(rows: Any, labeled: NDArray[np.int64] | None) -> NodeGraph | None:
            if part is None:
                return None
            return part.nodes(rows, labeled, seed=seed, n_jobs=threads, verbose=shown)

        if not isinstance(training.rows, Views):
            return [side_of("", training, known, nodes, theirs, threads)]
        # The name of a class is a row of that class; of other labels a name would say nothing.
        names = self._names(self.views_) if known.kind == "classes" else None
        return sides_of_views(self.views_, training, known, nodes, theirs, threads, names)

    def _anchors(self, part: NodesPart | None) -> Anchors:
        """Return the graph of blocks of rows, which is one of anchors."""
        if isinstance(part, Anchors):
            return part
        if self.graph != "auto":
            raise ValueError(f"Blocks of rows need graph='anchors'; got graph={self.graph!r}.")
        return Anchors()

    @one_blas_thread()
    def fit_nodes(
        self,
        graph: NodeGraph | dict[str, NodeGraph],
        X: Any,
        y: Any,
        sample_weight: Any = None,
        seed: int | None = None,
        numbers: NDArray[np.int64] | None = None,
        views: dict[str, View] | None = None,
    ) -> Self:
        """Learn from labelled rows, and from a graph that was made elsewhere.

        The unlabelled rows are in the graph only. So `transduction_` is not known.

        Parameters
        ----------
        graph : NodeGraph or dict of them
            The nodes and their graph, or those of each view. `rows` join the rows of X to the
            nodes.
        X : array, frame or CSR matrix of shape (n_labeled, n_features), or Views
            The labelled rows.
        y : array-like of shape (n_labeled,) or (n_labeled, n_columns)
            Their labels or targets; every row must have some.
        sample_weight : array-like of shape (n_labeled,), optional
            Their weights, all of them positive.
        seed : int, optional
            The seed that the nodes were made with, from `draw_seed`. By default a new one is drawn.
        numbers : ndarray of int, optional
            The numbers of the labelled rows among all rows; by default they are not known.
        views : dict of View, optional
            How each view is made, with fitted encoders; None for plain rows. Names of labels are
            no rows of these views.

        Returns
        -------
        self
        """
        models = self.models_for_nodes()
        self.__dict__.pop("views_", None)
        if views is not None:
            self.views_ = views
        seed = self.draw_seed() if seed is None else seed
        rows, target, weights = self._labelled_rows(X, y, sample_weight)
        labeled = target.labeled
        n_labeled = len(np.unique(labeled))
        graphs = {"": graph} if isinstance(graph, NodeGraph) else graph
        for each in graphs.values():
            if not n_labeled == rows.shape[0] == each.rows.shape[0]:
                raise ValueError(
                    f"The graph was made for {each.rows.shape[0]} labelled rows, but {n_labeled} "
                    f"of the {rows.shape[0]} rows of X are labelled; pass the graph's labelled "
                    "rows."
                )
        given = as_given(X, rows)
        own = take_rows(given, labeled), take_rows(rows, labeled)
        order, known = known_rows(self, *own, target, weights, seed)
        places = labeled[order]
        joined_to = {name: each._replace(rows=each.rows[places]) for name, each in graphs.items()}
        sides = sides_of_nodes(views, given, known, places, joined_to)
        verdict = self._learn(models, known, sides, seed)
        every = Training.of_nodes(_nodes_of(sides), given)  # only the graph has seen all rows
        self._finish(verdict, every, every, known)
        if numbers is not None and known.folds:
            self.labeled_ = numbers[self.labeled_]
        forget_transduced(self)
        return self

    @one_blas_thread()
    def fit_edges(
        self,
        elsewhere: Elsewhere,
        graph: NodeGraph | None,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        seed: int | None = None,
    ) -> Self:
        """Learn from labelled rows, and from given graphs of all rows, which lie elsewhere.

        Parameters
        ----------
        elsewhere : Elsewhere
            All rows, and the given graphs.
        graph : NodeGraph or None
            As in `fit_nodes`; None if X is None.
        X, y, sample_weight, seed
            As in `fit_nodes`. X may be None: the edges alone are learnt from.

        Returns
        -------
        self
        """
        models = self.models_for_nodes()
        seed = self.draw_seed() if seed is None else seed
        rows, target, weights = self._labelled_rows(X, y, sample_weight)
        given = X if X is None or hasattr(X, "columns") else rows
        places = target.labeled
        some, own = (take_rows(rows if each is None else each, places) for each in (given, rows))
        order, known = known_rows(self, some, own, target, weights, seed)
        places = places[order]
        labeled = elsewhere.numbers[places]
        training, edges = elsewhere.training(given, labeled), elsewhere.edges(labeled)
        if graph is None:
            models = _models_without_rows(models)
        else:
            graph = graph._replace(rows=graph.rows[places])
        sides = [Side("", training.given, known, labeled, graph, edges)]
        verdict = self._learn(models, known, sides, seed)
        self._finish(verdict, training, training, known)
        self._keep_answers(training, target.at(order, labeled))
        return self

    def _fit_blocks(self, blocks: Blocks, part: Anchors, seed: int) -> Self:
        """Learn from rows that are read block by block."""
        self.models_for_nodes()  # a wrong parameter raises before rows are read
        reading = Reading(blocks, part, seed, self.n_threads(), bool(self.verbose))
        found = reading.labelled(self.unlabeled, targets_of(self))
        require_labels(found.numbers, reading.n_rows, self.unlabeled)
        if is_classifier(self) and not isinstance(found.labels, Table):
            refuse_ambiguous(joined([as_label_array(found.labels), found.marker]), self.unlabeled)
        self._encode(found.labels, found.rows, np.ones(len(found.numbers), bool))  # checks labels
        graph = reading.graph(found.rows)
        about = found.rows, found.labels, found.weights, seed, found.numbers
        return self.fit_nodes(graph, *about)

    def models_for_nodes(self) -> dict[str, Any] | None:
        """Check all parameters, and return the models for `fit_nodes` by name; None for "auto".

        This needs no rows. So a wrong parameter raises before rows are read.
        """
        _, models = self._asked()
        for name, model in (models or {}).items():
            if learns_from_all(model):
                raise ValueError(
                    f"The model {name!r} learns from unlabelled rows, which are read in blocks; "
                    "pass rows that fit in memory, or another model."
                )
        return models

    def draw_seed(self) -> int:
        """Return the seed of one fit: of its anchors, its folds and all its draws."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _asked(self) -> tuple[NodesPart | None, dict[str, Any] | None]:
        """Check the parameters, and return the graph's part and the models."""
        check_folds(self.cv)
        part = None if self.graph is None else asked_nodes(self.graph)
        return part, asked_models(self.estimator, self._check_model, any_graph=part is not None)

    def _labelled_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, Target, NDArray[np.float64] | None]:
        """Return all rows as numbers; and the labels, and their weights if any were given.

        Without X, rows differ by their numbers alone.
        """
        if X is None:
            self.n_features_in_ = 0
            self.__dict__.pop("feature_names_in_", None)
            rows: Any = np.arange(y.shape[0] if hasattr(y, "shape") else len(y))[:, None]
        else:
            rows = self._numbers(X, reset=True)
            for each in rows.values() if isinstance(rows, Views) else [rows]:
                check_range(each, np.dtype(np.float64))
                check_scale(each, each.dtype)
        weights = checked_weights(sample_weight, rows.first if isinstance(rows, Views) else rows)
        target = self._encode(y, rows, weights > 0)
        own = None if sample_weight is None else weights[target.labeled]
        if target.shares is not None:
            own = target.shares if own is None else own * target.shares
        return rows, target, own

    def _learn(
        self, models: dict[str, Any] | None, known: Known, sides: list[Side], seed: int
    ) -> Verdict:
        """Fit the members of every view, and weigh them."""
        self.__dict__.pop("label_distributions_", None)  # of an earlier fit
        found = []
        for side in sides:
            members = self._members_of(side, models, seed)
            found.append([side.judged(member, len(known.y)) for member in members])
        if not any(found):
            raise ValueError(
                f"{len(known.y)} labels of {len(known.copies.first)} different rows are too few "
                f"to hold any out. Fields on graph={self.graph!r} need held-out labels, and "
                "estimator=None leaves no other member. Label two different rows of a class, or "
                "pass estimator='auto'."
            )
        verdict = self._decide(found, known, sides)
        keep_held(self, verdict, known, sides[0].labeled[: len(known.y)])
        return verdict

    def _members_of(self, side: Side, models: dict[str, Any] | None, seed: int) -> list[Member]:
        """Return the members of one view, fitted."""
        if models is None:
            side = replace(side, known=side.known.coded())  # a person's models learn what y says
            about = side.known, side.given, seed, self.n_jobs
            models = usual_models(*about, alike=side.alike)
        scope = None if side.graph is None else Scope(side.graph, self.n_threads())
        seen = side.known, side.given, side.labeled, scope, side.edges
        members = fit_members(models, *seen, judge, alike=side.alike)
        if side.compares_names:
            assert side.names is not None
            members.append(named_member(side.known, side.given, *side.names))
        return members

    def n_threads(self) -> int:
        """Return the threads that `n_jobs` asks for."""
        return count_threads(self.n_jobs, default_threads())

    def _decide(self, found: list[list[Member]], known: Known, sides: list[Side]) -> Verdict:
        """Weigh the members, and keep their mixture."""
        members = [member for some in found for member in some]
        verdict = judge(members, known)
        weights = verdict.weights.reshape(len(members), -1).mean(axis=1)
        self.members_ = MemberTable.of(members, weights, verdict)
        self.best_score_ = verdict.score
        alone = [member for member in members if member.labels_only]
        labels_only = judge(alone, known).score if alone else np.nan
        self.unlabeled_gain_ = float(verdict.score - labels_only)
        about = prior_of(known), known.kind, known.classes
        self.mixture_ = mixture_of(found, verdict, sides, *about)
        self.evidence_ = Evidence.of(found, verdict, sides, known, prior_of(known))
        return verdict

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _nodes_of(sides: list[Side]) -> Any:
    """Return the nodes of all views; of plain rows, those of the only one."""
    points = {side.name: side.graph.nodes.points for side in sides if side.graph is not None}
    return points[""] if "" in points else Views(points)


def _models_without_rows(models: dict[str, Any] | None) -> dict[str, Any]:
    """Return the models where X is None: there are none, and none may be asked for."""
    if models:
        raise ValueError("estimator needs rows, and X is None; pass estimator='auto'.")
    return {}
