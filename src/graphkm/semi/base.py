"""What the front door's classifier and regressor share: the fit, the table, the mixture."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.utils import check_random_state

from .._util.parameters import count_threads
from ..estimators.data_checks import check_range, check_scale, checked_weights
from ..estimators.given_rows import require_labels
from ..estimators.labels import as_label_array, checked_classes, plain_labels, refuse_ambiguous
from ..estimators.nested_parameters import Composed, Resolver
from ..estimators.transduction import (
    forget_transduced,
)
from ..expansion import default_threads
from ..graphs import Anchors, NodeGraph, NodesPart
from ..graphs.given_edges import Ids
from ..graphs.row_ids import without_ids
from ..judge.folds import Splitter, check_folds, make_folds
from ..judge.held_out import take_rows
from ..judge.mixture import Verdict
from ..members import Known, Member, Scope, named_member, usual_models
from ..members.along_edges import Edges
from ..members.averages import unit_rows
from ..members.of_all_rows import learns_from_all
from ..neighbours.distinct import Copies
from .answers import Answering
from .asked import asked_models, asked_nodes
from .block_rows import joined
from .blocks import Blocks, Reading, as_blocks
from .given_graphs import Given, links_to_themselves, step_to_nearest
from .member_list import fit_members
from .mixed_views import mixture_of
from .report import MemberReport, MemberTable
from .sides import LabelNames, Side, side_of
from .training import Elsewhere, Training
from .views import View, Views, as_given, asked_views, copies_of, fit_views, rows_of_names


class SemiSupervised(MetaEstimatorMixin, Answering, Composed):
    """The fit of the front door."""

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
    def _encode(
        self, y: Any, rows: Any, counts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the labelled rows that count, and their labels, checked."""

    @abstractmethod
    def _splitter(self, known: NDArray[Any], seed: int) -> Splitter:
        """Return what makes folds of labels."""

    @abstractmethod
    def _judge(self, members: Sequence[Member], known: Known) -> Verdict:
        """Return the weights of the members."""

    @abstractmethod
    def _prior(self, known: Known) -> NDArray[np.float64]:
        """Return the prediction for a row that is far from all others."""

    @abstractmethod
    def _check_model(self, model: Any) -> None:
        """Raise if a classifier was passed for quantities, or a regressor for classes."""

    def _names(self, views: dict[str, View]) -> LabelNames | None:
        """Return texts that name labels, and the labels; quantities have none."""
        return None

    def _given_sizes(
        self, y: NDArray[Any], weights: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """Return the shares of the classes that a person gave; quantities have none."""
        return None

    def _meet_sizes(self, training: Training, looked_at: Training, known: Known) -> None:
        """Make the classes of the mixture as large as `class_sizes` says; quantities have none.

        Parameters
        ----------
        training : Training
            The rows that are to have the sizes.
        looked_at : Training
            The rows from which sizes are estimated, if that is asked for.
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
        y : array-like of shape (n_samples,)
            Labels or targets. Unknown ones are `unlabeled`, NaN, None, NA or masked.
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
        rows, labeled, y_known, weights = self._labelled_rows(X, y, sample_weight)
        if rows.shape[0] < 2:
            raise ValueError("1 sample has no neighbours; pass at least 2 rows.")
        given = as_given(X, rows)
        theirs = None if affinity is None else Given.of(affinity, Ids(rows.shape[0], names))
        own = take_rows(rows, labeled)
        some = own if given is None else take_rows(given, labeled)
        order, known = self._known(some, own, y_known, weights, sample_weight, seed)
        links = None if theirs is None else links_to_themselves(rows.shape[0])
        training = Training(given, rows, labeled[order], links)
        sides = self._sides(part, theirs, training, known, seed)
        judged = known if len(labeled) else sides[0].known  # names alone are labelled
        self._learn(models, judged, sides, seed)
        looked_at = training
        if sides[0].graph is not None and theirs is None and isinstance(part, Anchors):
            looked_at = Training.of_nodes(_nodes_of(sides), given)  # as for rows in blocks
        self._meet_sizes(training, looked_at, judged)
        self._keep_answers(training, known)
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
        """Return what the members of every view see; the first also sees the given graphs."""

        def nodes(rows: Any, labeled: NDArray[np.int64] | None) -> NodeGraph | None:
            if part is None:
                return None
            shown, threads = bool(self.verbose), self.n_threads()
            return part.nodes(rows, labeled, seed=seed, n_jobs=threads, verbose=shown)

        given, rows, labeled = training.given, training.rows, training.labeled
        if not isinstance(rows, Views):
            if theirs is None:
                return [Side("", given, known, labeled, nodes(rows, labeled))]
            return [self._beside_edges("", given, rows, known, labeled, nodes(rows, None), theirs)]
        names, sides = self._names(self.views_), list[Side]()
        for name, view in self.views_.items():
            if not len(labeled) and not view.reads_texts:
                continue  # only texts can be told by names
            own = replace(known, rows=known.rows[name])
            if theirs is not None and not sides:
                graph = nodes(rows[name], None)
                about = name, given[name], rows[name], own, labeled, graph, theirs
                sides.append(replace(self._beside_edges(*about), alike=view.alike))
                continue
            told = None
            if names is not None and view.reads_texts:
                told = rows_of_names(view, names[0]), names[1]
            side = side_of(name, given[name], rows[name], own, labeled, nodes, told)
            sides.append(replace(side, alike=view.alike))
        return sides

    def _beside_edges(
        self,
        name: str,
        given: Any,
        rows: Any,
        known: Known,
        labeled: NDArray[np.int64],
        graph: NodeGraph | None,
        theirs: Given,
    ) -> Side:
        """Return a view with given graphs; `graph` has the weights of all rows."""
        threads = self.n_threads()
        near = step_to_nearest(rows, graph, threads)
        if graph is not None:
            graph = graph._replace(rows=graph.rows[labeled])
        own = None if given is None else partial(unit_rows, rows, len(labeled))
        edges = Edges(theirs.ids, theirs.graphs, own, near, labeled, threads)
        return Side(name, given, known, labeled, graph, edges)

    def _anchors(self, part: NodesPart | None) -> Anchors:
        """Return the graph of blocks of rows, which is one of anchors."""
        if isinstance(part, Anchors):
            return part
        if self.graph != "auto":
            raise ValueError(f"Blocks of rows need graph='anchors'; got graph={self.graph!r}.")
        return Anchors()

    def fit_nodes(
        self,
        graph: NodeGraph,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        seed: int | None = None,
    ) -> Self:
        """Learn from labelled rows, and from a graph that was made elsewhere.

        The unlabelled rows are in the graph only. So `transduction_` is not known.

        Parameters
        ----------
        graph : NodeGraph
            The nodes and their graph. Its `rows` join the rows of X to the nodes.
        X : array, frame or CSR matrix of shape (n_labeled, n_features)
            The labelled rows.
        y : array-like of shape (n_labeled,)
            Their labels or targets; none may be missing.
        sample_weight : array-like of shape (n_labeled,), optional
            Their weights, all of them positive.
        seed : int, optional
            The seed that the nodes were made with, from `draw_seed`. By default a new one is drawn.

        Returns
        -------
        self
        """
        models = self.models_for_nodes()
        seed = self.draw_seed() if seed is None else seed
        rows, labeled, y_known, weights = self._labelled_rows(X, y, sample_weight)
        if not len(labeled) == rows.shape[0] == graph.rows.shape[0]:
            raise ValueError(
                f"The graph was made for {graph.rows.shape[0]} labelled rows, but {len(labeled)} "
                f"of the {rows.shape[0]} rows of X are labelled; pass the graph's labelled rows."
            )
        given = X if hasattr(X, "columns") else rows
        order, known = self._known(given, rows, y_known, weights, sample_weight, seed)
        graph = graph._replace(rows=graph.rows[order])
        self._learn(models, known, [Side("", given, known, labeled[order], graph)], seed)
        every = Training.of_nodes(graph.nodes.points, given)  # only the graph has seen all rows
        self._meet_sizes(every, every, known)
        forget_transduced(self)
        return self

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
        rows, _, y_known, weights = self._labelled_rows(X, y, sample_weight)
        given = X if X is None or hasattr(X, "columns") else rows
        some = rows if given is None else given
        order, known = self._known(some, rows, y_known, weights, sample_weight, seed)
        labeled = elsewhere.numbers[order]
        training, edges = elsewhere.training(given, labeled), elsewhere.edges(labeled)
        if graph is None:
            models = _models_without_rows(models)
        else:
            graph = graph._replace(rows=graph.rows[order])
        self._learn(models, known, [Side("", training.given, known, labeled, graph, edges)], seed)
        self._meet_sizes(training, training, known)
        self._keep_answers(training, known)
        return self

    def _fit_blocks(self, blocks: Blocks, part: Anchors, seed: int) -> Self:
        """Learn from rows that are read block by block."""
        self.models_for_nodes()  # a wrong parameter raises before rows are read
        classes = is_classifier(self)
        reading = Reading(blocks, part, seed, self.n_threads(), bool(self.verbose))
        found = reading.labelled(self.unlabeled, classes)
        require_labels(found.numbers, reading.n_rows, self.unlabeled)
        if classes:  # before the rows are read again
            refuse_ambiguous(joined([found.labels, found.marker]), self.unlabeled)
            checked_classes(plain_labels(found.labels))
        graph = reading.graph(found.rows)
        return self.fit_nodes(graph, found.rows, found.labels, found.weights, seed)

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
    ) -> tuple[Any, NDArray[np.int64], NDArray[Any], NDArray[np.float64]]:
        """Return all rows as numbers; and the places, labels and weights of the labelled ones.

        Without X, rows differ by their numbers alone.
        """
        if X is None:
            self.n_features_in_ = 0
            self.__dict__.pop("feature_names_in_", None)
            rows: Any = np.arange(len(as_label_array(y)))[:, None]
        else:
            rows = self._numbers(X, reset=True)
            for each in rows.values() if isinstance(rows, Views) else [rows]:
                check_range(each, np.dtype(np.float64))
                check_scale(each, each.dtype)
        weights = checked_weights(sample_weight, rows.first if isinstance(rows, Views) else rows)
        labeled, known = self._encode(y, rows, weights > 0)
        return rows, labeled, known, weights[labeled]

    def _learn(
        self, models: dict[str, Any] | None, known: Known, sides: list[Side], seed: int
    ) -> None:
        """Fit the members of every view, and weigh them."""
        self.__dict__.pop("label_distributions_", None)  # of an earlier fit
        found = []
        for side in sides:
            own = models
            if own is None:
                about = side.known, side.given, seed, self.n_jobs
                own = usual_models(*about, alike=side.alike)
            scope = None if side.graph is None else Scope(side.graph, self.n_threads())
            seen = side.known, side.given, side.labeled, scope, side.edges
            members = fit_members(own, *seen, self._judge, alike=side.alike)
            if side.compares_names:
                assert side.names is not None
                members.append(named_member(side.known, side.given, *side.names))
            found.append([side.judged(member, len(known.y)) for member in members])
        if not any(found):
            raise ValueError(
                f"{len(known.y)} labels of {len(known.copies.first)} different rows are too few "
                f"to hold any out. Fields on graph={self.graph!r} need held-out labels, and "
                "estimator=None leaves no other member. Label two different rows of a class, or "
                "pass estimator='auto'."
            )
        self._decide(found, known, sides)

    def n_threads(self) -> int:
        """Return the threads that `n_jobs` asks for."""
        return count_threads(self.n_jobs, default_threads())

    def _known(
        self,
        given: Any,
        rows: Any,
        y: NDArray[Any],
        weights: NDArray[np.float64],
        sample_weight: Any,
        seed: int,
    ) -> tuple[NDArray[np.int64], Known]:
        """Return the labelled rows with their folds, sorted by what they hold.

        Forests and other models draw rows by number. With sorted rows they draw the same rows,
        whatever the order of X.

        Parameters
        ----------
        given, rows
            The labelled rows as they were given, and as numbers.
        y, weights, sample_weight, seed
            Their labels and weights, `sample_weight` as it was passed, and the seed of the folds.
        """
        if not len(y):  # names alone are labelled
            return np.empty(0, np.int64), Known(
                given,
                y,
                weights,
                None,
                getattr(self, "classes_", None),
                [],
                Copies.of(y),
                self._given_sizes(y, weights),
            )
        copies, seen = copies_of(rows), given.first if isinstance(given, Views) else given
        folds = make_folds(self.cv, seen, y, partial(self._splitter, seed=seed), copies)
        order = np.argsort(copies.place, kind="stable")
        to = np.empty_like(order)
        to[order] = np.arange(len(order))
        own = weights[order] / weights.mean()
        return order, Known(
            take_rows(given, order),
            y[order],
            own,
            None if sample_weight is None else own,
            getattr(self, "classes_", None),
            [(np.sort(to[train]), np.sort(to[test])) for train, test in folds],
            Copies(to[copies.first], copies.place[order]),
            self._given_sizes(y[order], own),
        )

    def _decide(self, found: list[list[Member]], known: Known, sides: list[Side]) -> None:
        """Weigh the members, and keep their mixture."""
        members = [member for some in found for member in some]
        verdict = self._judge(members, known)
        order = np.argsort(-verdict.weights, kind="stable")
        self.members_ = MemberTable(
            MemberReport(
                members[i].name,
                float(verdict.weights[i]),
                float(verdict.scores[i]),
                float(verdict.losses[i]),
                not members[i].labels_only,
                members[i].how,
                members[i].seconds,
            )
            for i in order.tolist()
        )
        self.best_score_ = verdict.score
        alone = [member for member in members if member.labels_only]
        labels_only = self._judge(alone, known).score if alone else np.nan
        self.unlabeled_gain_ = float(verdict.score - labels_only)
        self.mixture_ = mixture_of(found, verdict, sides, self._prior(known), known.classes)

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
