"""A classifier and its annotators learn from each other."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression

from graphkm import SemiSupervisedClassifier
from graphkm.annotators import AnnotatedClassifier, DawidSkene
from graphkm.annotators.answers import read_answers
from graphkm.annotators.posterior import posterior
from graphkm.annotators.shares import DULL, LIGHT, training_shares

pytestmark = pytest.mark.usefixtures("one_model")

FIVE = np.linspace(0.6, 0.95, 5)


def answered(seed=0, n=600, n_answered=300, right=FIVE, per_row=1):
    """Return rows of two moons, their classes, and answers to the first of them."""
    X, truth = make_moons(n, noise=0.1, random_state=seed)
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n_answered), per_row)
    who = np.concatenate([rng.permutation(len(right))[:per_row] for _ in range(n_answered)])
    wrong = rng.random(len(rows)) > np.asarray(right)[who]
    return X, truth, (rows, who, truth[rows] ^ wrong)


def front_door():
    """Return a front door that is fitted in a second."""
    return SemiSupervisedClassifier(None, random_state=0, n_jobs=1)


def reliabilities(model):
    by_name = {line.name: line.reliability for line in model.reliability_}
    return np.array([by_name[name] for name in model.annotators_.tolist()])


class Sure(BaseEstimator):
    """Keeps what it is fitted to, and says the same of every row."""

    def __init__(self, targets="auto", says=(0.5, 0.5), holds=True):
        self.targets, self.says, self.holds = targets, says, holds

    def fit(self, X, y):
        self.seen_, self.columns_ = y.to_numpy(), y.columns
        if self.holds:
            self.labeled_ = np.flatnonzero(np.nansum(self.seen_, axis=1) > 0)
            self.held_out_ = np.tile(self.says, (len(self.labeled_), 1))
        return self


@pytest.mark.long
def test_one_answer_a_row_is_enough_to_know_who_is_reliable():
    X, truth, lines = answered()
    alone = DawidSkene().fit(lines)
    model = AnnotatedClassifier(front_door()).fit(X, lines)
    rows, who, said = lines
    share = np.array([np.mean(said[who == j] == truth[rows[who == j]]) for j in range(5)])
    assert np.abs(reliabilities(model) - share).max() < 0.05
    assert np.abs(reliabilities(alone) - share).max() > 0.1
    assert np.mean(model.predict(X) == truth) > 0.97
    assert np.mean(model.classes_[model.shares_.argmax(axis=1)] == truth[:300]) > 0.97
    for line in model.reliability_:
        assert abs(line.reliability - FIVE[line.name]) < 3 * line.error


@pytest.mark.long
def test_priors_do_not_know_the_rows_own_answers():
    """Rows of noise tell nothing: a model that had seen their answers would say them again."""
    rng = np.random.default_rng(0)
    X, said = rng.normal(size=(200, 3)), rng.integers(2, size=200)
    lines = np.arange(200), rng.integers(3, size=200), said
    model = AnnotatedClassifier(front_door()).fit(X, lines)
    held = model.estimator_.held_out_
    assert np.mean(held.argmax(axis=1) == said) < 0.6
    # Nothing tells how reliable people are. So they are taken to be better than a guess.
    assert model.shares_[np.arange(200), said].mean() > 0.55
    assert min(line.error for line in model.reliability_) > 0.1


@pytest.mark.long
def test_rows_have_numbers_ids_or_an_index():
    pd = pytest.importorskip("pandas")
    X, _, (rows, who, said) = answered(n=200, n_answered=80)
    one = AnnotatedClassifier(front_door(), max_rounds=1).fit(X, (rows, who, said))
    names = np.array([f"r{i:03d}" for i in range(200)])
    frame = pd.DataFrame(X, columns=["a", "b"])
    answers = pd.DataFrame({"row": names[rows], "annotator": who, "answer": said})
    for given, ids in (
        (frame, names),
        (frame.assign(name=names), "name"),
        (frame.set_axis(names), None),
    ):
        other = AnnotatedClassifier(front_door(), max_rounds=1).fit(given, answers, ids=ids)
        assert np.array_equal(one.shares_, other.shares_)
        assert np.array_equal(one.predict(X), other.estimator_.predict(frame))


@pytest.mark.long
def test_classes_may_be_words_and_columns_have_other_names():
    X, truth, (rows, who, said) = answered(n=200, n_answered=80)
    words = np.array(["moon", "arch"])
    frame = {"item": rows, "by": who, "label": words[said]}
    model = AnnotatedClassifier(front_door(), columns=("item", "by", "label"), max_rounds=1)
    model.fit(X, frame)
    assert model.classes_.tolist() == model.estimator_.classes_.tolist() == ["arch", "moon"]
    assert np.mean(model.predict(X) == words[truth]) > 0.9
    assert model.score(X, words[truth]) == np.mean(model.predict(X) == words[truth])
    assert model.predict_proba(X).shape == (200, 2)


def test_edges_are_handed_on():
    X, truth, lines = answered(n=200, n_answered=80)
    near = np.abs(X[:, None] - X[None]).sum(axis=2) < 0.3
    model = AnnotatedClassifier(front_door(), max_rounds=1).fit(None, lines, affinity=near * 1.0)
    assert np.mean(model.estimator_.transduction_ == truth) > 0.9


def test_rounds_end_when_reliabilities_are_settled():
    X, _, lines = answered(n_answered=100, per_row=3, right=[0.9, 0.8, 0.7])
    model = AnnotatedClassifier(Sure()).fit(X, lines)
    assert model.n_rounds_ == 1  # it says nothing, and changes nothing
    right = DawidSkene().fit(lines)
    assert reliabilities(model) == pytest.approx(reliabilities(right), abs=0.01)


def test_without_held_out_labels_answers_count_alone():
    X, _, lines = answered(n_answered=60, per_row=2)
    model = AnnotatedClassifier(Sure(holds=False)).fit(X, lines)
    assert np.array_equal(model.shares_, DawidSkene().fit(lines).shares_)


def test_the_estimator_learns_shares_that_count_as_much_as_answers_tell():
    X, _, lines = answered(n=100, n_answered=60, per_row=2)
    model = AnnotatedClassifier(Sure(), max_rounds=1).fit(X, lines)
    found, seen = DawidSkene().fit(lines), model.estimator_.seen_
    assert np.isnan(seen[60:]).all()
    assert seen[:60].sum(axis=1) == pytest.approx(np.maximum(found.weights_, DULL))
    large = found.shares_ > LIGHT
    assert not seen[:60][~large].any()
    ratio = seen[:60, 0] / seen[:60].sum(axis=1)
    assert ratio[large.all(axis=1)] == pytest.approx(found.shares_[large.all(axis=1), 0])
    assert model.estimator_.columns_ == [0, 1]


def test_rows_that_only_guessers_answered_hardly_count():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=300)
    rows, who = np.repeat(np.arange(300), 3), np.tile([0, 1, 2], 300)
    said = np.where(rng.random(900) < 0.9, truth[rows], 1 - truth[rows])
    more = np.arange(200, 400), np.full(200, 3), rng.integers(2, size=200)
    lines = tuple(np.append(a, b) for a, b in zip((rows, who, said), more, strict=True))
    answers, prior = read_answers(lines), np.full((400, 2), 0.5)
    prior[300:] = [0.99, 0.01]  # a model is sure of rows of which the guesser alone spoke
    weights = training_shares(posterior(answers, prior)).sum(axis=1)
    assert weights[300:].max() < 0.1
    assert weights[:200].mean() > 0.7


def test_it_is_an_estimator():
    model = clone(AnnotatedClassifier(front_door(), max_rounds=2))
    assert model.get_params()["estimator__random_state"] == 0
    with pytest.raises(AttributeError, match="not fitted"):
        model.predict(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("answers", "options", "words"),
    [
        (([0, 700], ["a", "b"], [0, 1]), {}, "1 of the 2 rows with answers is no row of X (700)"),
        (([0, -1], ["a", "b"], [0, 1]), {}, "is no row of X (-1); X has the rows 0 to 599"),
        ((["x", "y"], ["a", "b"], [0, 1]), {}, "2 of the 2 rows with answers are no rows of X"),
        (([0, 1], ["a", "a"], [0, 1]), {}, "All answers are of 'a'"),
        (([0, 1], ["a", "b"], [0, 1]), {"max_rounds": 0}, "max_rounds must be a whole number"),
    ],
)
def test_errors_are_for_people(answers, options, words):
    X = np.zeros((600, 2))
    with pytest.raises(ValueError, match=re.escape(words)):
        AnnotatedClassifier(front_door(), **options).fit(X, answers)


def test_other_models_go_inside_the_front_door():
    X, _, lines = answered(n=60, n_answered=40)
    with pytest.raises(TypeError, match=re.escape("SemiSupervisedClassifier(estimator=...)")):
        AnnotatedClassifier(LogisticRegression()).fit(X, lines)


def test_a_class_that_nobody_believes_in_keeps_its_column():
    X, truth, (rows, who, said) = answered(n=120, n_answered=60, right=[1.0, 1.0, 1.0], per_row=3)
    said = said.astype(int)
    said[5] = 2  # one slip of one person
    model = AnnotatedClassifier(front_door(), max_rounds=1).fit(X, (rows, who, said))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (120, 3)
    assert np.mean(model.predict(X) == truth) > 0.9


@pytest.mark.long
def test_minus_one_is_a_class_if_somebody_answered_it():
    X, truth = make_moons(200, noise=0.1, random_state=0)
    rows = np.arange(60)
    answers = rows, np.array(["eva", "tom"])[rows % 2], 2 * truth[rows] - 1
    model = AnnotatedClassifier(SemiSupervisedClassifier(None, random_state=0)).fit(X, answers)
    said = np.full(200, 1)  # half of them are wrong
    assert model.score(X, said) == pytest.approx(np.mean(model.predict(X) == said))
    words = rows, answers[1], np.array(["no", "yes"])[truth[rows]]
    model = model.fit(X, words)
    hidden = np.where(np.arange(200) < 100, np.array(["no", "yes"])[truth], None)
    assert model.score(X, hidden) > 0.9  # None marks unknown rows, as ever
