"""When to stop looking for relevant rows: the literal test, its package, and simulated searches."""

from itertools import combinations
from math import comb, exp, floor, lgamma

import numpy as np
import pytest

from cli_runner import moons, run, write_csv, wrong
from graphkm import SemiSupervisedClassifier
from graphkm.active import ranked_p_value, recall_so_far, suggest
from graphkm.app.journal import Journal
from graphkm.app.live_model import LiveModel
from graphkm.app.reading import read_material
from graphkm.app.session import Session
from graphkm.app.team import Team


def test_the_p_value_is_that_of_drawing_without_replacement():
    # 6 rows are left, of which 3 were drawn at random; 8 relevant ones had been found before.
    said = np.r_[np.ones(8), np.zeros(4), [1, 0, 0]].astype(bool)
    found = recall_so_far(said, 18, drawn=3, target=0.8)
    missed = floor(9 / 0.8 - 8 + 1)  # so many relevant rows among the 6 would miss 80 %
    draws = list(combinations(range(6), 3))
    few = sum(sum(row < missed for row in draw) <= 1 for draw in draws) / len(draws)
    assert missed == 4
    assert found.p_value == pytest.approx(few)


@pytest.mark.parametrize(
    ("n_rows", "n", "target", "expected"),
    # calculate_h0 of buscarpy 0.0.2, the package of Callaghan and Mueller-Hansen
    [
        (300, 30, 0.95, 0.9642857142857143), (300, 100, 0.95, 0.8583690987124464),
        (300, 250, 0.95, 0.2145922746781116), (300, 250, 0.8, 0.001924515697672038),
        (2000, 100, 0.95, 0.9563946505257346), (2000, 250, 0.8, 0.8956653347328938),
    ],
)  # fmt: skip
def test_ranked_p_values_are_those_of_the_papers_package(n_rows, n, target, expected):
    rng = np.random.default_rng(0)
    for size in (300, 2000):  # the draws that the package was asked about
        rng.random(size)
        order = np.argsort(rng.random(size) + np.where(np.arange(size) < size // 20, -0.8, 0))
        if size == n_rows:
            relevant = order < n_rows // 20
    assert ranked_p_value(relevant[:n], n_rows, target) == pytest.approx(expected, rel=1e-9)


def literal_most(n_left, drawn, k, usual, alpha):
    """Return the bound by its definition, with whole numbers and plain sums."""
    b = n_left / usual - 1

    def beta_weight(K):
        def logb(x, y):
            return lgamma(x) + lgamma(y) - lgamma(x + y)

        return comb(n_left, K) * exp(logb(K + 1, n_left - K + b) - logb(1, b))

    chance = {
        K: comb(K, k) * comb(n_left - K, drawn - k) / comb(n_left, drawn)
        for K in range(n_left + 1)
        if k <= K and n_left - K >= drawn - k
    }
    mixed = sum(beta_weight(K) * p for K, p in chance.items())
    return max(K for K, p in chance.items() if mixed < p / alpha)


@pytest.mark.parametrize(
    ("n_left", "drawn", "k"), [(40, 10, 0), (40, 30, 2), (60, 60, 3), (25, 1, 1)]
)
def test_the_bound_is_its_definition(n_left, drawn, k):
    before = np.repeat([True, False], [19, 11])
    said = np.r_[before, np.arange(drawn) < k]
    found = recall_so_far(said, 30 + n_left, drawn=drawn)
    most = literal_most(n_left, drawn, k, max(1.0, 19 * 0.05 / 0.95), 0.05)
    assert found.left_at_most == most - k
    assert found.at_least == pytest.approx((19 + k) / (19 + most))


@pytest.mark.long
@pytest.mark.parametrize("left", [1, 6, 40])
def test_who_looks_after_every_draw_is_rarely_wrong(left):
    """The bound is below the truth at some look in at most 5 % of searches."""
    n_left, before, rng, wrong_ones = 200, 100, np.random.default_rng(left), 0
    for _ in range(200):
        draws = rng.permutation(np.arange(n_left) < left)
        for drawn in range(4, n_left, 8):
            said = np.r_[np.ones(before, bool), draws[:drawn]]
            found = recall_so_far(said, before + n_left, drawn=drawn)
            if found.left_at_most < left - draws[:drawn].sum():
                wrong_ones += 1
                break
    assert wrong_ones <= 18  # of 200: 10 are expected at most, and 18 have a chance of 1 %


def test_the_ends_of_a_search():
    nothing = recall_so_far([], 10)
    assert (nothing.left_at_most, nothing.at_least, nothing.enough) == (10, 0.0, False)
    whole = recall_so_far([True, False, True], 3)
    assert (whole.left_at_most, whole.at_least, whole.enough, whole.p_value) == (0, 1.0, True, 0.0)
    drawn = recall_so_far([True, False, True], 3, drawn=3)
    assert (drawn.left_at_most, drawn.enough) == (0, True)
    none = recall_so_far(np.zeros(5, bool), 5, drawn=5)
    assert (none.found, none.left_at_most, none.at_least, none.enough) == (0, 0, 1.0, True)
    many = recall_so_far(np.zeros(900_000, bool), 1_000_000, drawn=899_000)
    assert many.left_at_most < 10


@pytest.mark.parametrize(
    ("more", "why"),
    [({"n_rows": 1}, "n_rows=1"), ({"drawn": 4}, "drawn=4"), ({"target": 1.0}, "target=1.0"),
     ({"alpha": 0}, "alpha=0"), ({"relevant": [2, 0, 1]}, "True or False")],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(more, why):
    with pytest.raises(ValueError, match=why):
        recall_so_far(**({"relevant": [True, False, True], "n_rows": 9} | more))


@pytest.mark.long
def test_relevant_rows_come_first():
    X, y, names = moons(200, 60)
    y[y == ""] = None
    model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    found = suggest(model, X, 40, y=y, strategy="relevant", relevant="dog")
    chances = model.predict_proba(X)[:, 1]
    free = np.flatnonzero(y == None)  # noqa: E711
    assert len(np.intersect1d(found, free)) == 40
    assert (np.diff(chances[found]) <= 0).all()
    assert chances[found].min() >= np.delete(chances[free], np.searchsorted(free, found)).max()
    assert (names[found] == "dog").mean() > 0.9
    assert len(suggest(model, X, 900, y=y, strategy="relevant", relevant="dog")) == 140
    with pytest.raises(ValueError, match=r"relevant='cow'.*'cat'"):
        suggest(model, X, y=y, strategy="relevant", relevant="cow")
    with pytest.raises(ValueError, match="are not known"):
        suggest(None, X, strategy="relevant", relevant="dog")


@pytest.mark.long
def test_the_command_brings_relevant_rows(tmp_path, capsys):
    X, y, names = moons(200, 60)
    data, model = write_csv(tmp_path / "r.csv", X, y), tmp_path / "m.gkm"
    assert run("train", data, model, "--method", "gkm") == 0
    capsys.readouterr()
    assert run("suggest", model, data, "-n", 30, "--relevant", "dog") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "row,prediction,uncertainty"
    places = [int(line.split(",")[0]) - 1 for line in lines[1:]]
    assert (names[places] == "dog").mean() > 0.9
    code, said = wrong(capsys, "suggest", model, data, "--relevant", "cow")
    assert code in (1, 2)
    assert "cow" in said


def screened(tmp_path, name, answers, **more):
    """Answer on the labelling page as it asks; return the rows in their order, and the team."""
    X, _, names = moons(200, 0, seed=3)
    names[np.arange(200) % 4 > 0] = "dog"  # 25 cats among 200 rows, spread over one moon
    rows = np.column_stack([X, (names == "cat") + np.random.default_rng(0).normal(0, 0.3, 200)])
    write_csv(tmp_path / "rows.csv", rows, names=("x", "z", "w"))
    material = read_material(tmp_path / "rows.csv")
    team = Team(material, Journal(tmp_path / name, material), classes=["cat", "dog"], **more)
    team.learner.model = LiveModel(team.ground.X, team.ground.cover())
    session = Session(team)
    for label in ("cat", "dog"):
        session.answer(int(np.flatnonzero(names == label)[0]), "label", label)
    order = []
    for _ in range(answers):
        team._take(team.learner.learn(team.labels()))
        order.append(session.state()["queue"][0])
        session.answer(order[-1], "label", names[order[-1]])
    team.end()
    return (names[order] == "cat"), team, session


@pytest.mark.long
def test_the_page_brings_relevant_rows(tmp_path):
    first, team, session = screened(tmp_path, "a.csv", 30, relevant="cat")
    usual, _, _ = screened(tmp_path, "b.csv", 30)
    assert first.sum() > usual.sum() + 5
    assert session.state()["relevant"] == "cat"
    assert not {answer.how for answer in team.journal.answers[10:]} & {"check"}


def test_the_page_takes_the_usual_order_until_a_relevant_row_is_known(tmp_path):
    write_csv(tmp_path / "rows.csv", moons(200, 0)[0])
    material = read_material(tmp_path / "rows.csv")
    journal = Journal(tmp_path / "labels.csv", material)
    team = Team(material, journal, classes=["cat", "dog", "cow"], relevant="cow")
    team.learner.model = LiveModel(team.ground.X, team.ground.cover())
    for row, label in enumerate(["cat", "dog"]):
        Session(team).answer(row, "label", label)
    assert "check" in {how for _, how in team.learner.learn(team.labels()).queue}
    Session(team).answer(5, "label", "cow")
    assert {how for _, how in team.learner.learn(team.labels()).queue} == {"suggested"}
    team.end()


def test_the_page_needs_a_class_that_it_offers(tmp_path, capsys):
    data = write_csv(tmp_path / "r.csv", moons(50, 0)[0])
    ask = ("label", data, "--out", tmp_path / "l.csv", "--relevant", "cow", "--no-browser")
    code, said = wrong(capsys, *ask, "--classes", "cat,dog")
    assert code == 2 and "--relevant cow: --classes cat,dog does not have it" in said
    code, said = wrong(capsys, *ask, "--regression")
    assert code == 2 and "--regression has quantities" in said
