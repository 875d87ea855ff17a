"""Labels that look wrong, and how many are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import average_precision_score

from graphkm import GKMClassifier, SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.exchange import load_model, save_model
from graphkm.inspection import doubtful_labels, refit_with_doubts
from graphkm.inspection.doubtful_table import Wrong
from graphkm.inspection.noise import SUREST, Rate, class_doubts, quantity_doubts, rate_of
from graphkm.semi.held import held_of

X, TRUTH = make_blobs(240, centers=4, cluster_std=1.2, random_state=3)
FLIPPED = np.arange(0, 80, 10)
Y = np.where(np.arange(240) < 80, TRUTH, -1)
Y[FLIPPED] = (Y[FLIPPED] + 1) % 4


@pytest.fixture(scope="module")
def model():
    return SemiSupervisedClassifier(LogisticRegression(), random_state=0).fit(X, Y)


# ------------------------------------------------------------------ the formulas


def simulated(rng, n=4000, k=4, rate=0.15):
    """Return clean probabilities and given classes; wrong ones are one class further on."""
    said = rng.dirichlet(np.full(k, 0.15), n)
    true = np.array([rng.choice(k, p=p) for p in said])
    wrong = rng.random(n) < rate
    return said, np.where(wrong, (true + 1) % k, true), wrong


def test_doubts_are_probabilities_of_wrong_labels():
    said, given, wrong = simulated(np.random.default_rng(0))
    doubts = class_doubts(said, given, 0.15)
    for low, high in ((0.0, 0.02), (0.02, 0.2), (0.2, 0.5), (0.5, 0.9), (0.9, 1.0)):
        some = (doubts >= low) & (doubts <= high)
        error = 4 * np.sqrt(0.25 / some.sum())
        assert abs(wrong[some].mean() - doubts[some].mean()) < min(error, 0.08)


def test_doubts_are_those_of_the_literal_algorithm():
    said, given, _ = simulated(np.random.default_rng(1), n=60, k=3)
    rate, k = 0.2, 3
    to = [[0.5 * (t != c) for c in range(k)] for t in range(k)]
    for _ in range(500):
        posterior = []
        for p, g in zip(np.maximum(said, 0.001), given, strict=True):
            row = [p[t] * (1 - rate if t == g else rate * to[t][g]) for t in range(k)]
            posterior.append([value / sum(row) for value in row])
        for t in range(k):
            counts = [
                0.0
                if c == t
                else 0.5 + sum(q[t] for q, g in zip(posterior, given, strict=True) if g == c)
                for c in range(k)
            ]
            to[t] = [count / sum(counts) for count in counts]
    expected = [1 - q[g] for q, g in zip(posterior, given, strict=True)]
    np.testing.assert_allclose(class_doubts(said, given, rate), expected, atol=1e-6)


def test_two_classes_have_no_choice_of_where_wrong_labels_go():
    said = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.6, 0.4]])
    given = np.array([0, 0, 1, 1])
    p = said[np.arange(4), given]
    expected = 0.1 * (1 - p) / (0.1 * (1 - p) + 0.9 * p)
    np.testing.assert_allclose(class_doubts(said, given, 0.1), expected)


def test_the_only_label_of_a_class_has_the_rate():
    said = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.1, 0.9, 0.0], [0.1, 0.9, 0.0]] * 2)
    given = np.array([0, 0, 1, 1, 0, 0, 1, 2])
    assert class_doubts(said, given, 0.07)[7] == 0.07
    given[3] = 2
    assert class_doubts(said, given, 0.07)[7] > 0.5


def test_the_interval_of_the_rate_has_the_true_rate():
    """Probabilities that know of the wrong labels, as those of a fit to them do."""
    hits = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        said, given, wrong = simulated(rng, n=300)
        met = 0.85 * said + 0.15 * np.roll(said, 1, axis=1)
        rate = rate_of(met, given)
        hits.append(rate.low <= wrong.mean() <= rate.high)
    assert np.mean(hits) > 0.85


def test_only_the_surest_rows_count():
    said = np.array([[0.99, 0.01]] * 30 + [[0.6, 0.4]] * 60)
    given = np.zeros(90, dtype=np.int64)
    n = int(SUREST * 90)
    assert rate_of(said, given).value == pytest.approx(0.5 / (n + 1))
    given[n:] = 1
    assert rate_of(said, given).value == pytest.approx(0.5 / (n + 1))
    given[n - 1] = 1
    assert rate_of(said, given).value == pytest.approx(1.5 / (n + 1))


@pytest.mark.long
def test_quantities_of_other_rows_are_found():
    hits, precisions = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        said = rng.normal(size=200)
        told = said + 0.1 * rng.normal(size=200)
        wrong = rng.random(200) < 0.1
        told[wrong] = rng.permutation(told)[wrong]
        doubts, rate = quantity_doubts(said, told)
        precisions.append(average_precision_score(wrong, doubts))
        hits.append(rate.low <= wrong.mean() <= rate.high)
    assert np.mean(hits) > 0.85 and np.mean(precisions) > 0.85


def test_quantities_without_errors_have_no_doubt():
    told = np.arange(30.0)
    doubts, rate = quantity_doubts(told, told)
    assert doubts.max() < 1e-6 and rate.low < 0.01
    assert np.isfinite(quantity_doubts(np.ones(30), np.ones(30))[0]).all()


def test_quantities_that_are_all_equal_have_no_doubt():
    y = np.where(np.arange(240) < 30, 5.0, np.nan)
    model = SemiSupervisedRegressor(Ridge(), graph=None, random_state=0).fit(X, y)
    found = doubtful_labels(model)
    assert (found.doubts == 0).all() and found.estimate == (0.0, 0, 0, 30)
    with pytest.raises(ValueError, match="is the same in all labelled rows"):
        refit_with_doubts(model, X, y)


def test_numbers_of_several_columns_add_up():
    one, two = Wrong.of(Rate(0.1, 0.05, 0.2), 100), Wrong.of(Rate(0.2, 0.1, 0.3), 50)
    assert (one.low, one.high, two.low, two.high) == (5, 20, 5, 15)
    both = Wrong.sum([one, two])
    assert both.number == pytest.approx(20.0) and both.labels == 150
    assert both.low == int(np.floor(20 - np.hypot(5, 5)))
    assert both.high == int(np.ceil(20 + np.hypot(10, 5)))


# ------------------------------------------------------------------ models


def test_wrong_labels_come_first_with_what_was_said(model):
    found, held = doubtful_labels(model), held_of(model)
    assert len(found) == 80 and found.estimate.labels == 80
    assert found.estimate.low <= 8 <= found.estimate.high
    assert len({line.row for line in found[:8]} & set(FLIPPED.tolist())) >= 7
    assert [line.doubt for line in found] == sorted((line.doubt for line in found), reverse=True)
    rate = rate_of(held.said, Y[:80])
    expected = class_doubts(held.said, Y[:80], rate.value)
    np.testing.assert_array_equal(found.doubts, expected)
    for line in found[:10]:
        said = held.said[np.flatnonzero(held.rows == line.row)[0]]
        assert line.given == Y[line.row] and line.given_probability == said[line.given]
        others = np.delete(said, line.given)
        assert line.other_probability == others.max() == said[line.other]
        assert line.doubt == expected[line.row] and line.near == ()


def test_evidence_is_the_nearest_labelled_rows(model):
    found = doubtful_labels(model, X, most=4)
    assert len(found) == 4 and found.doubts.shape == (80,)
    for line in found:
        distances = np.linalg.norm(X[:80] - X[line.row], axis=1)
        distances[line.row] = np.inf
        nearest = np.argsort(distances)[:5]
        assert [each.row for each in line.near] == nearest.tolist()
        assert [each.label for each in line.near] == Y[nearest].tolist()
        np.testing.assert_allclose([each.distance for each in line.near], distances[nearest])


def test_a_model_from_a_file_doubts_the_same(tmp_path):
    live = SemiSupervisedClassifier(None, random_state=0).fit(X, Y)
    save_model(live, tmp_path / "a")
    assert doubtful_labels(load_model(tmp_path / "a"), X) == doubtful_labels(live, X)


@pytest.mark.long
def test_names_of_classes_and_the_table(model):
    pd = pytest.importorskip("pandas")
    names = np.array(["ash", "beech", "cedar", "date"], dtype=object)
    y = np.where(Y >= 0, names[Y], None)
    named = SemiSupervisedClassifier(LogisticRegression(), random_state=0).fit(X, y)
    found = doubtful_labels(named, X)
    assert [line.row for line in found] == [line.row for line in doubtful_labels(model)]
    assert found[0].given == names[Y[found[0].row]]
    text = repr(found).splitlines()
    assert text[0] == (
        f"About {found.estimate.number:.0f} of 80 labels are wrong (90 % interval: "
        f"{found.estimate.low} to {found.estimate.high})."
    )
    assert " ".join(text[1].split()) == "row given other given p other p doubt near"
    assert text[2].startswith(f"{found[0].row} ") and len(text) == 23
    frame = found.frame()
    assert isinstance(frame, pd.DataFrame) and len(frame) == 80
    assert frame["near"][0] == [each.row for each in found[0].near]


@pytest.mark.long
def test_each_of_several_labels_is_judged():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 4))
    truth = (rows[:, :3] > 0).astype(float)
    y = np.where(np.arange(200)[:, None] < 120, truth, np.nan)
    strong = np.flatnonzero(np.abs(rows[:120, 1]) > 1.5)[:6]
    y[strong, 1] = 1 - y[strong, 1]
    y[3, 2] = np.nan
    fitted = SemiSupervisedClassifier(LogisticRegression(), random_state=0).fit(rows, y)
    found = doubtful_labels(fitted, rows)
    assert found.estimate.labels == len(found) == 3 * 120 - 1
    first = {(line.row, line.name) for line in found[:7]}
    assert len(first & {(int(row), 1) for row in strong}) >= 5
    line = found[0]
    assert {line.given, line.other} == {0, 1}
    assert line.given_probability + line.other_probability == pytest.approx(1)
    assert [each.label for each in line.near] == y[[each.row for each in line.near], 1].tolist()
    own = [each.doubt for each in found if each.row == line.row]
    assert found.doubts[line.row] == pytest.approx(np.mean(own)) and len(own) == 3


@pytest.mark.long
@pytest.mark.parametrize("several", [False, True])
def test_quantities_of_rows(several):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    y = rows @ [1.0, 2.0, -1.0] + 0.1 * rng.normal(size=200)
    y[120:] = np.nan
    y[5] += 9.0
    told = np.column_stack([rows[:, 0], y]) if several else y
    told[120:] = np.nan
    fitted = SemiSupervisedRegressor(Ridge(), random_state=0).fit(rows, told)
    found = doubtful_labels(fitted, rows, most=3)
    assert found[0].row == 5 and found[0].name == (1 if several else None)
    assert found[0].doubt > 0.9 and found[0].given == y[5]
    assert abs(found[0].other - (y[5] - 9.0)) < 2.0
    assert found[0].given_probability < 1e-6 and np.isnan(found[0].other_probability)
    assert found.estimate.labels == (240 if several else 120)
    assert [each.label for each in found[0].near] == y[
        [each.row for each in found[0].near]
    ].tolist()
    assert repr(found).splitlines()[-3].startswith("5 ")


@pytest.mark.long
def test_shares_count_as_their_largest_class():
    y = np.full((240, 4), np.nan)
    y[np.arange(80)] = 0.1
    y[np.arange(80), Y[:80]] = 0.7
    shares = SemiSupervisedClassifier(LogisticRegression(), random_state=0).fit(X, y)
    found = doubtful_labels(shares)
    assert all(line.given == Y[line.row] for line in found) and len(found) == 80


@pytest.mark.long
def test_what_cannot_be_judged_is_told(model):
    with pytest.raises(TypeError, match="GKMClassifier holds no labels out"):
        doubtful_labels(GKMClassifier().fit(X, Y))
    with pytest.raises(ValueError, match="most"):
        doubtful_labels(model, most=0)
    with pytest.raises(ValueError, match="X has 50 rows, and row 79 of the fit has a label"):
        doubtful_labels(model, X[:50])
    with pytest.raises(ValueError, match="n_rows=79, but row 79 has a label"):
        doubtful_labels(model).weights(79)


# ------------------------------------------------------------------ fitting again


def test_weights_are_what_is_left_of_the_doubts(model):
    found = doubtful_labels(model)
    weights = found.weights(240)
    assert (weights[80:] == 1).all() and weights.min() > 0
    np.testing.assert_allclose(weights[:80], np.maximum(1 - found.doubts, 0.001))


@pytest.mark.long
def test_the_gain_is_that_of_a_fit_with_these_weights(model):
    found = refit_with_doubts(model, X, Y)
    doubts = doubtful_labels(model)
    again = SemiSupervisedClassifier(LogisticRegression(), random_state=0)
    again.fit(X, Y, sample_weight=doubts.weights(240))
    np.testing.assert_array_equal(found.model.held_out_, again.held_out_)
    hits = [held_of(each).said.argmax(axis=1) == Y[:80] for each in (model, again)]
    right = 1 - doubts.doubts
    before, after = (np.sum(right * each) / right.sum() for each in hits)
    assert (found.before, found.after) == (pytest.approx(before), pytest.approx(after))
    assert found.gain == pytest.approx(after - before)
    assert found.gain_on_all == pytest.approx(np.mean(hits[1]) - np.mean(hits[0]))
    assert found.error >= 0 and f"{found.before:.3f} before" in str(found)


@pytest.mark.long
def test_weights_of_the_first_fit_are_kept():
    rows, truth = make_moons(120, noise=0.2, random_state=0)
    y = np.where(np.arange(120) < 60, truth, -1)
    own = np.where(np.arange(120) % 2, 3.0, 1.0)
    first = SemiSupervisedClassifier(LogisticRegression(), random_state=0)
    first.fit(rows, y, sample_weight=own)
    found = refit_with_doubts(first, rows, y)
    expected = doubtful_labels(first).weights(120)[:60] * own[:60]
    np.testing.assert_allclose(found.model.told_weights_, expected / expected.mean())


def test_other_labels_than_those_of_the_fit_are_told(model):
    other = np.where(np.arange(240) < 90, TRUTH, -1)
    with pytest.raises(ValueError, match="y has 90 labelled rows, and the model was fitted to 80"):
        refit_with_doubts(model, X, other)
