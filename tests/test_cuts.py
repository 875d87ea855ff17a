"""How members cut the graph into classes, and what it says for them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_moons
from sklearn.metrics import accuracy_score

from graphkm import SemiSupervisedClassifier
from graphkm.judge.mixture import ALONE, PRIOR
from graphkm.members import Known, Member
from graphkm.members.cuts import Cut, cut_graph
from graphkm.neighbours.distinct import Copies
from graphkm.semi.odds import CUT, odds_of


def graph_of(n=30, seed=0):
    found = sp.random_array((n, n), density=0.2, random_state=seed, format="csr")
    return sp.csr_array(found + found.T)


def test_edges_are_counted_one_by_one():
    similarity, rng = graph_of(), np.random.default_rng(0)
    scores = rng.normal(size=(30, 3))
    codes, dense = scores.argmax(axis=1), similarity.toarray()
    cut = sum(dense[i, j] for i in range(30) for j in range(30) if codes[i] != codes[j])
    sizes = np.array([dense[codes == k].sum() for k in range(3)]) / dense.sum()
    found = cut_graph(scores, similarity)
    assert found.edges == pytest.approx(
        (cut / dense.sum() + 0.01) / (1 - np.sum(sizes**2) + 0.01), rel=1e-9
    )
    np.testing.assert_allclose(found.sizes, sizes, atol=0.01)
    assert found.sizes.sum() == pytest.approx(1.0)


def test_random_classes_cut_what_chance_gives():
    scores = np.random.default_rng(0).normal(size=(2000, 4))
    ring = sp.csr_array(sp.diags_array([1.0, 1.0], offsets=[1, -1], shape=(2000, 2000)))
    assert cut_graph(scores, ring).edges == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e4])
def test_units_of_the_edges_do_not_matter(factor):
    scores = np.random.default_rng(1).normal(size=(30, 2))
    one, two = cut_graph(scores, graph_of()), cut_graph(scores, factor * graph_of())
    assert two.edges == pytest.approx(one.edges, rel=1e-9)
    np.testing.assert_allclose(two.sizes, one.sizes, rtol=1e-9)


def test_one_class_everywhere_is_no_good_cut():
    """It cuts no edge, and neither would chance."""
    assert cut_graph(np.eye(2)[np.zeros(30, int)], graph_of()).edges == pytest.approx(1.0)


def test_a_graph_without_edges_says_nothing():
    found = cut_graph(np.eye(2)[[0, 1, 0]], sp.csr_array((3, 3)))
    assert found.edges == 1.0
    assert found.sizes.tolist() == [0.5, 0.5]


def known_of(codes):
    codes = np.asarray(codes)
    rows, ones = np.arange(len(codes))[:, None], np.ones(len(codes))
    classes = np.unique(codes)
    return Known(rows, codes, ones, None, classes, [], Copies(np.arange(len(codes)), rows[:, 0]))


def member(rank, cut=None):
    return Member("some", np.zeros((4, 2)), rank=rank, cut=cut, labels_only=False)


def test_odds_are_for_simple_members_with_good_cuts():
    known, even = known_of([0, 0, 0, 1]), np.array([0.5, 0.5])
    fitting = np.array([0.75, 0.25])
    members = [member(3, Cut(0.1, even)), member(3, Cut(0.2, even)), member(7, Cut(0.1, even))]
    members += [member(3, Cut(0.1, fitting))]
    odds = odds_of(members, known)
    assert odds[0] - odds[1] == pytest.approx(CUT * np.log(2.0))
    assert odds[0] - odds[2] == pytest.approx(np.log(2.0))
    gain = 3 * np.log(1.5) + np.log(0.5)
    assert odds[3] - odds[0] == pytest.approx(ALONE * gain)


def test_an_unknown_cut_is_as_others_are():
    known, even = known_of([0, 0, 1, 1]), np.array([0.5, 0.5])
    cuts = [member(3, Cut(0.1, even)), member(3, Cut(0.4, even))]
    odds = odds_of([*cuts, member(3)], known)
    assert odds[2] == pytest.approx(odds[:2].mean())
    alone = odds_of([member(3), member(7)], known)
    assert alone[0] - alone[1] == pytest.approx(np.log(2.0))


def test_members_on_the_graph_know_their_cuts():
    X, truth = make_moons(200, noise=0.05, random_state=0)
    y = np.where(np.arange(200) < 10, truth, -1)
    seen = []

    class Recorded(SemiSupervisedClassifier):
        def _decide(self, found, known, sides):
            seen.extend(member for members in found for member in members)
            return super()._decide(found, known, sides)

    Recorded(random_state=0).fit(X, y)
    for each in seen:
        assert (each.cut is None) == each.labels_only
    best = max((each for each in seen if each.cut), key=lambda each: -each.cut.edges)
    assert accuracy_score(truth[y < 0], best.values().argmax(axis=1)[y < 0]) > 0.95


@pytest.mark.parametrize("n", [8, 10, 12, 100])
def test_what_a_cut_says_fades_beyond_the_labels_of_the_prior(n):
    """There is no step: with one more label than the prior is worth, a cut says a little less."""
    known, even = known_of(np.arange(n) % 2), np.array([0.5, 0.5])
    odds = odds_of([member(3, Cut(0.1, even)), member(3, Cut(0.2, even))], known)
    assert odds[0] - odds[1] == pytest.approx(min(1.0, PRIOR / n) * CUT * np.log(2.0))


def test_weights_of_labels_count_in_their_classes():
    known, half = known_of([0, 1]), np.array([0.9, 0.1])
    heavy = replace(known, weights=np.array([1.9, 0.1]))
    members = [member(1, Cut(1.0, half)), member(1, Cut(1.0, half[::-1]))]
    odds = odds_of(members, heavy)
    assert odds[0] > odds[1]
    assert np.ptp(odds_of(members, known)) == pytest.approx(0.0, abs=1e-12)
