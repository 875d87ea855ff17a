"""Answers of several people: shares, reliabilities, agreement and what to ask again."""

import itertools
import re

import numpy as np
import pytest
from scipy.stats import dirichlet_multinomial

from graphkm.annotators import DawidSkene, RepeatedAnswersWarning, agreement
from graphkm.annotators.answers import read_answers
from graphkm.annotators.asking import information
from graphkm.annotators.matrices import (
    MEAN,
    PATTERN,
    RIGHT,
    STRENGTHS,
    matrices_of,
    pattern_of,
    weights_of_strengths,
)
from graphkm.annotators.posterior import posterior, standard_errors

FIVE = np.linspace(0.6, 0.95, 5)

# Dawid and Skene (1979), table 1: five observers, of whom the first saw each of 45 patients three
# times.
ANAESTHESIA = """
111 1 1 1 1|333 4 3 3 4|112 2 1 2 2|222 3 1 2 1|222 3 2 2 2|222 3 3 2 2|122 2 1 1 1|333 3 4 3 3|
222 2 2 2 3|232 2 2 2 3|444 4 4 4 4|222 3 3 4 3|111 1 1 1 1|222 3 2 1 2|121 1 1 1 1|111 2 1 1 1|
111 1 1 1 1|111 1 1 1 1|222 2 2 2 1|222 1 3 2 2|222 2 2 2 2|222 2 2 2 1|222 3 2 2 2|221 2 2 2 2|
111 1 1 1 1|111 1 1 1 1|232 2 2 2 2|111 1 1 1 1|111 1 1 1 1|112 1 1 2 1|111 1 1 1 1|333 3 2 3 3|
111 1 1 1 1|222 2 2 2 2|222 3 2 3 2|433 4 3 4 3|221 2 2 3 2|232 3 2 3 3|333 3 4 3 2|111 1 1 1 1|
111 1 1 1 1|121 2 1 1 1|232 2 2 2 2|121 1 1 1 1|222 2 2 2 2
"""
# Krippendorff (2011), example C: four observers, twelve units.
UNITS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)


def simulated(seed, n, k, right, per_row, errors="any"):
    """Return true classes, and answers of people who are right so often."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    more = rng.random(n) < per_row % 1
    lines = [
        (i, j) for i in range(n) for j in rng.permutation(len(right))[: int(per_row) + more[i]]
    ]
    rows, who = np.array(lines).T
    off = rng.integers(1, k, size=len(rows)) if errors == "any" else 1
    wrong = rng.random(len(rows)) > np.asarray(right)[who]
    return truth, (rows, who, (truth[rows] + wrong * off) % k)


def anaesthesia():
    lines = [
        (patient, observer, int(grade))
        for patient, cells in enumerate("".join(ANAESTHESIA.split("\n")).split("|"))
        for observer, grades in enumerate(cells.split())
        for grade in grades
    ]
    return tuple(np.array(lines).T)


def literal_dawid_skene(rows, who, said, n_steps=300):
    """The paper's algorithm, with loops: no prior, from the votes."""
    n, m, k = rows.max() + 1, who.max() + 1, said.max() + 1
    shares = np.zeros((n, k))
    for i, c in zip(rows, said, strict=True):
        shares[i, c] += 1
    shares /= shares.sum(axis=1, keepdims=True)
    for _ in range(n_steps):
        sizes, matrices = shares.mean(axis=0), np.zeros((m, k, k))
        for i, j, c in zip(rows, who, said, strict=True):
            matrices[j, :, c] += shares[i]
        matrices /= np.maximum(matrices.sum(axis=2, keepdims=True), 1e-300)
        shares = np.tile(sizes, (n, 1))
        for i, j, c in zip(rows, who, said, strict=True):
            shares[i] *= matrices[j, :, c]
        shares /= shares.sum(axis=1, keepdims=True)
    return shares, sizes, matrices


def reliabilities(model):
    """Return reliabilities in the order of `annotators_`."""
    by_name = {line.name: line.reliability for line in model.reliability_}
    return np.array([by_name[name] for name in model.annotators_.tolist()])


# ------------------------------------------------------------------ oracles


@pytest.mark.long
def test_the_papers_own_data():
    rows, who, said = anaesthesia()
    shares, sizes, matrices = literal_dawid_skene(rows, who, said - 1)
    assert sizes == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=0.005)  # as published
    assert matrices[0, 1] == pytest.approx([0.07, 0.88, 0.05, 0.0], abs=0.005)  # as published
    with pytest.warns(RepeatedAnswersWarning, match="repeat what the same annotator said"):
        model = DawidSkene().fit((rows, who, said))
    same = model.predict() == 1 + shares.argmax(axis=1)
    assert same.sum() >= 41  # 45 patients do not fill five matrices: ours are drawn to patterns
    hits = [np.trace(sizes[:, None] * each) for each in matrices]
    assert reliabilities(model) == pytest.approx(hits, abs=0.1)


@pytest.mark.long
def test_with_many_answers_the_literal_algorithm_says_the_same():
    _, lines = simulated(0, 1500, 3, FIVE, 5)
    shares, _, matrices = literal_dawid_skene(*lines, n_steps=40)
    model = DawidSkene().fit(lines)
    assert np.abs(model.shares_ - shares).mean() < 0.02
    assert np.abs(model.confusion_ - matrices).mean() < 0.02


def test_shares_are_those_of_all_assignments_of_classes():
    rows, who, said = [0, 0, 1, 2, 2, 2], [0, 1, 0, 0, 1, 2], [0, 1, 1, 2, 2, 0]
    prior = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.3, 0.4, 0.3]])
    model = DawidSkene().fit((rows, who, said), prior)
    total = np.zeros((3, 3))
    for classes in itertools.product(range(3), repeat=3):
        weight = np.prod([prior[i, t] ** model.power_ for i, t in enumerate(classes)])
        for i, j, c in zip(rows, who, said, strict=True):
            weight *= model.confusion_[j, classes[i], c]
        total[np.arange(3), classes] += weight
    assert model.shares_ == pytest.approx(total / total.sum(axis=1, keepdims=True), abs=1e-9)


def test_matrices_are_those_of_the_formulas():
    counts = np.random.default_rng(0).gamma(1.0, size=(3, 4, 4))
    weights = np.random.default_rng(1).dirichlet(np.ones(len(STRENGTHS)), size=3)
    found = matrices_of(counts, weights)
    hits = [sum(counts[j, t, t] for t in range(4)) for j in range(3)]
    mean = found.mean
    assert mean == pytest.approx(
        (PATTERN * found.right.sum() + MEAN * RIGHT) / (3 * PATTERN + MEAN)
    )
    for j, t, c in np.ndindex(counts.shape):
        right = (hits[j] + PATTERN * mean) / (counts[j].sum() + PATTERN)
        pattern = right if t == c else (1 - right) / 3
        wanted = sum(
            w * (counts[j, t, c] + s * pattern) / (counts[j, t].sum() + s)
            for w, s in zip(weights[j], STRENGTHS, strict=True)
        )
        assert found.confusion[j, t, c] == pytest.approx(wanted)
    assert found.confusion.sum(axis=2) == pytest.approx(np.ones((3, 4)))


def test_strengths_are_weighed_by_the_dirichlet_multinomial_distribution():
    counts = np.random.default_rng(0).integers(1, 9, size=(2, 3, 3)).astype(float)
    right, before = np.array([0.5, 0.8]), np.full((2, len(STRENGTHS)), 1.0 / len(STRENGTHS))
    found, pattern = weights_of_strengths(counts, right, before), pattern_of(right, 3)
    for j in range(2):
        logs = [
            sum(
                dirichlet_multinomial.logpmf(counts[j, t].astype(int), s * pattern[j, t], n)
                for t, n in enumerate(counts[j].sum(axis=1).astype(int))
            )
            for s in STRENGTHS
        ]
        wanted = np.exp(logs - np.max(logs))
        assert found[j] == pytest.approx(wanted / wanted.sum())


def test_krippendorffs_alpha_is_as_published():
    lines = [
        (unit, observer, value)
        for observer, values in enumerate(UNITS)
        for unit, value in enumerate(values.split())
        if value != "."
    ]
    found = agreement(tuple(zip(*lines, strict=True)))
    assert found.alpha == pytest.approx(0.743, abs=0.0005)
    assert {(pair.one, pair.other): pair.rows for pair in found.pairs}[0, 2] == 8
    assert found.raw == pytest.approx(43 / 55)


def test_pairs_are_counted_as_by_hand():
    _, (rows, who, said) = simulated(3, 30, 3, FIVE, 2.5)
    found = agreement((rows, who, said))
    for one, other, n, share in found.pairs:
        mine, theirs = (
            dict(zip(rows[who == j], said[who == j], strict=True)) for j in (one, other)
        )
        common = mine.keys() & theirs.keys()
        assert n == len(common)
        assert share == pytest.approx(np.mean([mine[i] == theirs[i] for i in common]))
    alone = agreement(([0, 1, 2], ["eva", "tom", "eva"], [0, 1, 1]))
    assert np.isnan(alone.alpha)
    assert alone.pairs == []


def test_standard_errors_of_known_classes_are_those_of_a_share():
    truth, lines = simulated(0, 200, 3, FIVE, 2)
    answers = read_answers(lines)
    errors = standard_errors(answers, np.eye(3)[truth], FIVE)
    assert errors == pytest.approx(np.sqrt(FIVE * (1 - FIVE) / (answers.per_annotator + PATTERN)))


@pytest.mark.long
@pytest.mark.parametrize(("k", "per_row"), [(2, 1.5), (2, 3), (5, 1.5), (5, 3)])
def test_standard_errors_cover_the_truth(k, per_row):
    off = []
    for seed in range(25):
        found = posterior(read_answers(simulated(seed, 300, k, FIVE, per_row)[1]))
        off.append(np.abs(found.matrices.right - FIVE) / found.errors)
    assert np.mean(np.array(off) < 2) > 0.85


def test_reliabilities_come_near_the_truth():
    for k in (2, 10):
        _, lines = simulated(0, 2000, k, FIVE, 3)
        assert np.abs(reliabilities(DawidSkene().fit(lines)) - FIVE).max() < 0.05


def test_what_an_answer_tells_is_a_mutual_information():
    rng = np.random.default_rng(0)
    shares, matrix = rng.dirichlet(np.ones(3), size=4), rng.dirichlet(np.ones(3), size=3)
    found = information(shares, matrix)
    for i in range(4):
        joint = shares[i][:, None] * matrix
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        assert found[i] == pytest.approx((joint * np.log2(joint / apart)).sum())


# ------------------------------------------------------------------ what must not matter


def test_the_order_of_answers_does_not_matter():
    _, lines = simulated(0, 200, 3, FIVE, 1.5)
    order = np.random.default_rng(0).permutation(len(lines[0]))
    one, other = DawidSkene().fit(lines), DawidSkene().fit(tuple(part[order] for part in lines))
    assert np.array_equal(one.shares_, other.shares_)


def test_names_do_not_matter():
    _, (rows, who, said) = simulated(0, 200, 3, FIVE, 2)
    one = DawidSkene().fit((rows, who, said))
    people, classes = np.array(["p", "c", "e", "a", "x"]), np.array(["tree", "fox", "sun"])
    other = DawidSkene().fit((rows + 7, people[who], classes[said]))
    order = np.searchsorted(other.classes_, classes)
    assert other.shares_[:, order] == pytest.approx(one.shares_, abs=1e-6)
    places = np.searchsorted(other.annotators_, people)
    assert reliabilities(other)[places] == pytest.approx(reliabilities(one), abs=1e-6)


def test_frames_and_arrays_are_read_alike():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    _, (rows, who, said) = simulated(0, 100, 3, FIVE, 2)
    one = DawidSkene().fit((rows, who, said))
    table = {"item": rows, "by": np.array(list("abcde"))[who], "said": said}
    for frame in (pd.DataFrame(table), pl.DataFrame(table), table):
        other = DawidSkene(columns=("item", "by", "said")).fit(frame)
        assert np.array_equal(one.shares_, other.shares_)
    floats = pd.DataFrame(table).astype({"item": float})
    assert DawidSkene(columns=("item", "by", "said")).fit(floats).rows_.dtype.kind == "i"


# ------------------------------------------------------------------ who counts, and how much


def test_the_same_answers_of_others_sharpen_the_shares():
    _, (rows, who, said) = simulated(0, 200, 3, FIVE, 2)
    once = DawidSkene().fit((rows, who, said))
    twice = DawidSkene().fit((np.tile(rows, 2), np.append(who, who + 5), np.tile(said, 2)))
    assert twice.shares_.max(axis=1).mean() > once.shares_.max(axis=1).mean() + 0.02
    errors = [np.mean([line.error for line in model.reliability_]) for model in (once, twice)]
    assert errors[1] < errors[0]


@pytest.mark.parametrize("sizes", [(0.5, 0.5), (0.85, 0.15)])
@pytest.mark.parametrize("kind", ["constant", "random"])
def test_who_answers_whatever_the_row_has_no_influence(kind, sizes):
    rng = np.random.default_rng(0)
    truth = rng.choice(2, p=sizes, size=600)
    rows, who = np.repeat(np.arange(600), 3), np.tile([0, 1, 2], 600)
    right = np.array([0.9, 0.85, 0.8])
    said = np.where(rng.random(1800) < right[who], truth[rows], 1 - truth[rows])
    without = DawidSkene().fit((rows, who, said))
    noise = np.zeros(600, int) if kind == "constant" else rng.choice(2, p=sizes, size=600)
    more = np.append(rows, np.arange(600)), np.append(who, np.full(600, 3)), np.append(said, noise)
    found = DawidSkene().fit(more)
    matrix = found.confusion_[3]
    told = np.abs(np.log(matrix[0] / matrix[1]))[: noise.max() + 1]  # by answers that they gave
    assert told.max() < 0.35
    assert np.mean(found.predict() != without.predict()) < 0.02
    assert np.abs(found.shares_ - without.shares_).mean() < 0.03


@pytest.mark.parametrize("seed", range(8))
def test_who_always_gives_the_same_answer_does_not_pull_the_others(seed):
    """Three of four answers are the same word, and yet the shares follow the other two people."""
    rng = np.random.default_rng(100 + seed)
    truth, right = rng.integers(2, size=120), np.array([0.9, 0.8])
    rows, who = np.repeat(np.arange(120), 3), np.tile([0, 1, 2], 120)
    wrong = rng.random((120, 2)) > right
    said = np.column_stack([truth[:, None] ^ wrong, np.ones(120, int)]).ravel()
    found = DawidSkene().fit((rows, who, said))
    two = who < 2
    alone = DawidSkene().fit((rows[two], who[two], said[two]))
    assert np.mean(found.predict() == truth) > 0.7
    both = {each.name: each.reliability for each in found.reliability_}
    for each in alone.reliability_:
        assert both[each.name] == pytest.approx(each.reliability, abs=0.1)


def test_who_is_always_wrong_is_used_in_reverse():
    truth, (rows, who, said) = simulated(0, 400, 2, [0.8, 0.8, 0.05], 3)
    without = DawidSkene().fit((rows[who < 2], who[who < 2], said[who < 2]))
    model = DawidSkene().fit((rows, who, said))
    assert reliabilities(model)[2] < 0.15
    assert np.mean(model.predict() == truth) > np.mean(without.predict() == truth) + 0.05
    assert np.mean(model.predict() == truth) > 0.93


def test_who_mixes_up_two_classes_is_known_for_it():
    truth, (rows, who, said) = simulated(0, 900, 4, [0.9, 0.85, 0.9, 1.0], 4)
    said[(who == 3) & (truth[rows] == 2)] = 1  # never says 2
    model = DawidSkene().fit((rows, who, said))
    assert model.confusion_[3, 2] == pytest.approx([0, 1, 0, 0], abs=0.06)
    assert model.confusion_[3, 1] == pytest.approx([0, 1, 0, 0], abs=0.06)


@pytest.mark.long
def test_one_answer_a_row_says_nothing_of_reliabilities():
    _, (rows, who, said) = simulated(0, 1500, 10, FIVE, 1)
    model = DawidSkene().fit((rows, who, said))
    assert np.mean(model.predict() == said[np.argsort(rows)]) > 0.98  # no class swallows others
    for line in model.reliability_:
        assert line.error > 0.1  # and the table says so


def test_a_model_tells_who_is_reliable_with_one_answer_a_row():
    truth, lines = simulated(0, 1500, 4, FIVE, 1)
    rng = np.random.default_rng(1)
    said = np.where(rng.random(1500) < 0.85, truth, rng.integers(4, size=1500))
    prior = np.where(np.eye(4)[said] > 0, 0.5, 0.5 / 3)  # it is right 9 times of 10, and unsure
    model = DawidSkene().fit(lines, prior)
    assert model.power_ > 1.3
    assert np.abs(reliabilities(model) - FIVE).max() < 0.06


def test_a_model_that_is_too_sure_is_believed_less():
    truth, lines = simulated(0, 1500, 4, FIVE, 2)
    rng = np.random.default_rng(1)
    said = np.where(rng.random(1500) < 0.6, truth, rng.integers(4, size=1500))
    model = DawidSkene().fit(lines, np.where(np.eye(4)[said] > 0, 0.997, 0.001))
    assert model.power_ < 0.5
    assert np.abs(reliabilities(model) - FIVE).max() < 0.06


def test_a_model_that_knows_nothing_changes_nothing():
    _, lines = simulated(0, 500, 3, FIVE, 2)
    sizes = np.full((500, 3), 1 / 3)
    one, other = DawidSkene().fit(lines), DawidSkene().fit(lines, sizes)
    assert np.abs(one.shares_ - other.shares_).mean() < 0.02


@pytest.mark.long
def test_many_people_with_two_answers_each():
    rng = np.random.default_rng(0)
    n, truth = 400, np.random.default_rng(1).integers(3, size=400)
    who, right = np.repeat(np.arange(1000), 2), rng.uniform(0.5, 1.0, 1000)
    rows = rng.permutation(np.repeat(np.arange(n), 5))
    wrong = rng.random(2000) > right[who]
    said = (truth[rows] + wrong * rng.integers(1, 3, 2000)) % 3
    once = np.unique(np.column_stack([rows, who, said]), axis=0)
    model = DawidSkene().fit(tuple(once.T))
    assert np.all(np.diff([line.reliability for line in model.reliability_]) <= 0)
    assert reliabilities(model).min() > 0.4  # nobody is damned for two answers
    votes = np.zeros((n, 3))
    np.add.at(votes, (rows, said), 1)
    assert np.mean(model.predict() == truth) >= np.mean(votes.argmax(axis=1) == truth) - 0.005
    assert "... and 980 further lines" in repr(model.reliability_)


def test_two_different_answers_of_one_person_both_count():
    rows, who, said = [0, 0, 1, 1, 2, 2], ["a", "b"] * 3, [0, 0, 1, 1, 0, 1]
    one = DawidSkene().fit((rows, who, said))
    other = DawidSkene().fit(([*rows, 0], [*who, "a"], [*said, 1]))
    assert other.shares_[0, 0] < one.shares_[0, 0]


# ------------------------------------------------------------------ what to ask


def test_undecided_rows_are_asked_again():
    _, (rows, who, said) = simulated(0, 300, 2, FIVE, 2)
    model = DawidSkene().fit((rows, who, said))
    asked = model.ask_again(20)
    assert len(asked) == 20
    assert asked == sorted(asked, key=lambda line: -line.gain)
    sure = model.shares_.max(axis=1)
    assert sure[[line.row for line in asked]].max() < np.median(sure)
    for line in asked:
        assert line.annotator not in who[rows == line.row]
        assert line.share == pytest.approx(sure[line.row])
    assert repr(asked).startswith("row  ask  gain in bits  likeliest\n")


def test_one_person_is_asked_what_they_have_not_answered():
    _, (rows, who, said) = simulated(0, 100, 2, FIVE, 2)
    model = DawidSkene().fit((rows, who, said))
    asked = model.ask_again(1000, annotator=4)
    assert {line.row for line in asked} == set(range(100)) - set(rows[who == 4])
    assert {line.annotator for line in asked} == {4}
    best, worst = model.ask_again(5, annotator=4), model.ask_again(5, annotator=0)
    assert np.mean([line.gain for line in best]) > np.mean([line.gain for line in worst])
    assert len(model.ask_again(1000, annotator="new")) == 100


def test_nobody_is_asked_if_all_have_answered():
    _, lines = simulated(0, 50, 2, FIVE, 5)
    assert list(DawidSkene().fit(lines).ask_again(5)) == []


# ------------------------------------------------------------------ errors for people


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"row": [0], "who": ["a"], "answer": [1]}, "no column 'annotator'; their columns are"),
        (
            ([0, 1], ["a", None], [0, 1]),
            "1 answers have an empty cell in 'annotator', the first in",
        ),
        (([0, np.nan], ["a", "b"], [0, 1]), "empty cell in 'row'"),
        (([0, 1], ["a", "b"], ["x", ""]), "empty cell in 'answer'"),
        (([0, 1], ["a", "b"], [0, 1, 1]), "2 of 'row', 2 of 'annotator', 3 of 'answer'"),
        (([0, 1], ["a", "b"], ["x", 1]), "'answer' mixes texts with numbers"),
        (([0, 1], ["a", "a"], [0, 1]), "All answers are of 'a'"),
        (([0, 1], ["a", "b"], ["x", "x"]), "All answers are 'x'"),
        (([], [], []), "There are no answers"),
    ],
)
def test_answers_that_cannot_be_used(answers, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        DawidSkene().fit(answers)


def test_other_things_are_no_answers():
    with pytest.raises(TypeError, match="frame with the columns row, annotator and answer"):
        DawidSkene().fit(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="columns are three names"):
        DawidSkene(columns=("row", "answer")).fit({"row": [0], "answer": [1]})


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (np.ones((3, 2)), "prior has the shape (3, 2), but 2 rows have answers, of 2 classes"),
        (np.full((2, 2), np.nan), "prior holds probabilities"),
        (np.array([[1.0, 0.0], [0.0, 0.0]]), "prior holds probabilities"),
    ],
)
def test_priors_are_probabilities_of_all_rows(prior, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        DawidSkene().fit(([0, 1], ["a", "b"], [0, 1]), prior)
