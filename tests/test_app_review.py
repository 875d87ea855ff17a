"""Labels that look wrong and what more labels would give, on the labelling page."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

pytest.importorskip("starlette")
pytest.importorskip("pyarrow")

from cli_runner import moons, write_csv
from graphkm.active import Cover
from graphkm.app.journal import Answer
from graphkm.app.live_model import LiveModel, Setting
from graphkm.app.outlook import outlook
from graphkm.app.review import Told, confirmed, doubts_of, nearest
from graphkm.app.targets import OneClass, Quantity, SeveralLabels
from graphkm.inspection.noise import class_doubts, rate_of
from label_server import label_page

pytestmark = pytest.mark.usefixtures("one_model")


def blobs(n=400, spread=1.0, seed=0):
    X, truth = make_blobs(n, centers=3, cluster_std=spread, random_state=seed)
    return X, np.array(["a", "b", "c"])[truth]


# ------------------------------------------------------------------ what is computed


def test_a_fit_to_some_labels_is_kernel_ridge_of_scikit_learn():
    X, words = blobs()
    model, rows = LiveModel(X, Cover(X)), np.arange(0, 120)
    table = OneClass(("a", "b", "c")).table(words[rows].tolist())
    chosen = np.arange(120) % 3 == 0
    for width, power in ((0, 1.0), (1, 4.0)):
        setting = Setting(0.0, 0, width, 0.1)
        found = model.told_by(rows, table, setting, chosen, ~chosen)
        gamma = power * model._gamma
        mean = table[chosen].mean(axis=0)
        ridge = KernelRidge(alpha=0.1, kernel="precomputed")
        ridge.fit(rbf_kernel(X[rows][chosen], gamma=gamma), table[chosen] - mean)
        expected = ridge.predict(rbf_kernel(X[rows][~chosen], X[rows][chosen], gamma=gamma)) + mean
        np.testing.assert_allclose(found, expected, atol=1e-8)


def test_a_fit_to_all_labels_but_one_is_the_held_out_score():
    X, words = blobs(200)
    model, rows = LiveModel(X, Cover(X)), np.arange(0, 60)
    table = OneClass(("a", "b", "c")).table(words[rows].tolist())
    fit = model.fit(rows, table)
    mean = table.mean(axis=0)
    for out in (0, 17, 59):
        tested = np.arange(60) == out
        # The fit takes the mean of all labels away, and so does this one.
        alone = model.told_by(rows, table - mean, fit.setting, ~tested, tested)
        own = (table - mean)[~tested].mean(axis=0)
        K = model._kernel(rows, rows, fit.setting) + fit.setting.noise * np.eye(60)
        shift = (
            own
            - K[out, ~tested] @ np.linalg.solve(K[np.ix_(~tested, ~tested)], np.ones((59, 1))) * own
        )
        np.testing.assert_allclose(alone - shift + mean, fit.held_out[[out]], atol=1e-8)


def test_doubts_are_those_of_held_out_probabilities():
    X, words = blobs(300)
    words = words.copy()
    words[5] = "a" if words[5] != "a" else "b"
    kind, rows = OneClass(("a", "b", "c")), np.arange(100)
    labels = words[rows].tolist()
    table = kind.table(labels)
    fit = LiveModel(X, Cover(X)).fit(rows, table)
    found, wrong = doubts_of(Told(rows, labels, table, fit.held_out, kind))
    assert found[0].row == 5 and found[0].label == words[5]
    shares = np.clip(fit.held_out, 1e-6, 1.0)
    shares /= shares.sum(axis=1, keepdims=True)
    rate = rate_of(shares, table.argmax(axis=1))
    expected = class_doubts(shares, table.argmax(axis=1), rate.value)
    assert found[0].doubt == pytest.approx(expected[5])
    assert all(one.doubt >= two.doubt for one, two in pairwise(found))
    assert all(each.said != each.label for each in found)
    assert wrong.labels == 100 and wrong.low <= 1 <= wrong.high


def test_several_labels_and_quantities_have_an_order_and_no_probability():
    several = SeveralLabels(("red", "old"))
    labels = ["red", "old", "-"]
    scores = np.array([[0.9, 0.1], [0.9, 0.2], [0.1, 0.7]])
    told = Told(np.array([4, 6, 8]), labels, several.table(labels), scores, several)
    found, wrong = doubts_of(told)
    assert [(each.row, each.said, each.doubt) for each in found] == [
        (6, "red", None),
        (8, "old", None),
    ]
    assert wrong is None
    quantity = Quantity(())
    labels = ["1", "2", "3", "9"]
    scores = np.array([[1.1], [2.0], [3.0], [4.0]])
    told = Told(np.arange(4), labels, quantity.table(labels), scores, quantity)
    assert doubts_of(told)[0][0].row == 3


def test_nearest_rows_are_those_of_a_sorted_list():
    rng = np.random.default_rng(0)
    X, labelled = rng.normal(size=(60, 3)), np.arange(0, 60, 3)
    for row in (0, 7):
        others = [k for k in labelled if k != row]
        distances = euclidean_distances(X[[row]], X[others])[0]
        assert nearest(X, row, labelled) == [others[k] for k in np.argsort(distances)[:4]]
    assert nearest(X, 0, np.array([0])) == []


def test_a_label_is_confirmed_by_the_same_answer():
    first = [Answer(1, "label", "a"), Answer(2, "skip"), Answer(1, "label", "a")]
    assert confirmed(first) == {1}
    assert confirmed([*first, Answer(1, "label", "b")]) == set()
    assert confirmed(first[:2]) == set()


@pytest.mark.long
def test_the_outlook_has_the_accuracy_that_more_labels_give():
    """Labels of the next hundred rows are given, and all other rows are tested."""
    inside = 0
    for seed in range(10):
        X, words = blobs(800, spread=2.6, seed=seed)
        kind, cover = OneClass(("a", "b", "c")), Cover(X)
        order = np.random.default_rng(seed).permutation(800)
        model, rows = LiveModel(X, cover), np.sort(order[:80])
        table = kind.table(words[rows].tolist())
        fit = model.fit(rows, table)
        found = outlook(model, fit, kind, table, np.ones(80, bool), 720)
        assert found["more"] == 100 and found["low"] < found["high"]
        later = np.sort(order[:180])
        scores = LiveModel(X, cover).fit(later, kind.table(words[later].tolist())).scores
        others = order[180:]
        said = np.array(kind.words(kind.codes(scores)))[others]
        accuracy = float(np.mean(said == words[others]))
        inside += found["low"] <= accuracy <= found["high"]
    assert inside >= 6  # 8 are expected, and fewer than 6 have a probability of 3 %


def test_where_nothing_is_said_of_more_labels():
    X, words = blobs(200)
    kind, model, rows = OneClass(("a", "b", "c")), LiveModel(X, Cover(X)), np.arange(40)
    table = kind.table(words[rows].tolist())
    fit = model.fit(rows, table)
    drawn = np.arange(40) % 4 == 0
    assert outlook(model, fit, kind, table, drawn, 30)["more"] == 30
    assert outlook(model, fit, kind, table, drawn, 0) is None
    assert outlook(model, fit, kind, table, np.arange(40) < 5, 30) is not None
    assert outlook(model, fit, kind, table, np.arange(40) < 4, 30) is None
    assert outlook(model, fit, Quantity(()), table[:, :1], drawn, 30) is None
    few = model.fit(rows[:19], table[:19])
    assert outlook(model, few, kind, table[:19], drawn[:19], 30) is None


# ------------------------------------------------------------------ the session and the server


@pytest.mark.long
def test_review_keep_change_and_restart(tmp_path):
    X, _, names = moons(120, 0)
    write_csv(tmp_path / "rows.csv", X)
    arguments = ("rows.csv", "--out", "labels.csv", "--classes", "cat,dog")
    wrong = [3, 11]
    with label_page(tmp_path, *arguments) as server:
        for row in range(40):
            label = names[row] if row not in wrong else {"cat": "dog", "dog": "cat"}[names[row]]
            server.post("api/answer", {"row": row, "kind": "label", "label": label})
        server.learnt()
        found = server.get("api/review")
        assert [item["row"] for item in found["items"]][:2] in (wrong, wrong[::-1])
        assert found["wrong"]["labels"] == 40 and found["wrong"]["high"] >= 2
        item = found["items"][0]
        assert item["doubt"] > 0.5 and item["said"] != item["label"]
        assert {near["label"] for near in item["near"]} == {item["said"]}
        assert item["shown"]["row"] == item["row"] and item["shown"]["cells"]
        first, second = item["row"], found["items"][1]["row"]
        seen = {"kind": "label", "label": item["label"]}
        given = {"row": first, "kind": "label", "label": item["said"], "seen": seen}
        server.post("api/answer", given)
        kept = found["items"][1]["label"]
        server.post("api/answer", {"row": second, "kind": "label", "label": kept})
        server.learnt()
        left = [item["row"] for item in server.get("api/review")["items"]]
        assert first not in left and second not in left
    with label_page(tmp_path, *arguments) as server:  # what was confirmed stays so
        server.learnt()
        assert second not in [item["row"] for item in server.get("api/review")["items"]]


@pytest.mark.long
def test_the_page_says_what_more_labels_would_give(tmp_path):
    X, _, names = moons(120, 0)
    write_csv(tmp_path / "rows.csv", X)
    with label_page(tmp_path, "rows.csv", "--out", "labels.csv", "--classes", "cat,dog") as server:
        for _ in range(40):
            row = server.get("api/state")["queue"][0]
            state = server.post("api/answer", {"row": row, "kind": "label", "label": names[row]})
        assert state["labelled"] == 40
        # The outlook comes after the model, because it takes longer.
        # It is that of all labels, or of a tenth fewer.
        found = server.wait(lambda s: s["outlook"] and s["outlook"]["more"] <= 84)["outlook"]
        assert found["more"] >= 80 and found["low"] < found["high"] <= 1


@pytest.mark.long
def test_a_row_of_none_of_the_classes_gets_a_new_one(tmp_path):
    X, _, _ = moons(60, 0)
    write_csv(tmp_path / "rows.csv", X)
    arguments = ("rows.csv", "--out", "labels.csv", "--classes", "cat,dog")
    with label_page(tmp_path, *arguments) as server:
        given = {"row": 0, "kind": "label", "label": "bird"}
        status, _, said = server.request("POST", "api/answer", given)
        assert status == 400 and b"not one of the classes" in said
        state = server.post("api/answer", given | {"new": True})
        assert state["classes"] == ["cat", "dog", "bird"]
        assert (
            server.post("api/answer", {"row": 1, "kind": "label", "label": "Bird"})["counts"][2]
            == 2
        )
    with label_page(tmp_path, *arguments) as server:  # it is there again after a restart
        assert server.get("api/state")["classes"] == ["cat", "dog", "bird"]
        assert server.get("api/row/0")["label"] == "bird"
