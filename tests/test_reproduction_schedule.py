"""What is run when, and what is not run at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reproduction.cells import NO_FIT, OVER, Cell, fits, in_order, sizes_of
from reproduction.experiments import EXPERIMENTS, GROWING, RIVALS, plan
from reproduction.protocol import Protocol
from reproduction.schedule import DROP, WAIT, Decision, Schedule
from reproduction.sets import PAPER_SETS, SETS

FULL = Protocol.named("full")
FIT = Cell("fit", "g50c", "lapsvm", 90, 0)
CHOICE = replace(FIT, kind="choice")
CHOSEN = {CHOICE.key: {"status": "ok", "parameters": {"gamma": 0.5}}}
RUN = Decision("run", {"gamma": 0.5})


def decide(cell, done=None, still_open=()):
    return Schedule(FULL, done or {}, set(still_open)).decide(cell)


def ended(cell, status="ok", seconds=1.0):
    return {cell.key: {"status": status, "cpu_seconds": seconds}}


def test_a_fit_waits_for_its_parameters():
    assert decide(FIT, {}, [CHOICE.key]) == WAIT
    assert decide(FIT) == DROP  # its set could not be read
    assert decide(FIT, CHOSEN) == RUN


def test_without_parameters_a_fit_is_what_their_choice_was():
    decision = decide(FIT, {CHOICE.key: {"status": OVER}})
    assert decision.action == "keep" and decision.values["status"] == OVER


@pytest.mark.parametrize("status", [OVER, NO_FIT])
def test_a_limit_is_not_run_into_twice(status):
    again, easier = replace(FIT, run=1), replace(FIT, hidden=80)
    done = CHOSEN | ended(FIT, status)
    assert decide(again, done) == DROP
    done |= {replace(CHOICE, hidden=80).key: {"status": "ok", "parameters": {}}}
    decision = decide(easier, done)
    assert decision.action == "keep"
    assert decision.values["status"] == status and "90 %" in decision.values["reason"]


def test_what_follows_a_dropped_run_is_dropped_and_a_running_one_is_waited_for():
    third, second = replace(FIT, run=2), replace(FIT, run=1)
    assert decide(third, CHOSEN | ended(FIT)) == DROP
    assert decide(third, CHOSEN | ended(FIT), [second.key]) == WAIT


def test_slow_fits_are_not_repeated():
    again = replace(FIT, run=1)
    assert decide(again, CHOSEN | ended(FIT, seconds=36.1)) == DROP
    assert decide(again, CHOSEN | ended(FIT, seconds=35.9)) == RUN


def test_costs_are_measured_on_more_rows_until_a_limit_is_hit():
    small, larger = (
        Cell("growth", "w8a", "lapsvm", 90, run, rows=rows)
        for run, rows in enumerate(sizes_of("w8a")[:2])
    )
    choice = {small.needs(FULL).key: {"status": "ok", "parameters": {"gamma": 0.5}}}
    assert larger.follows() == small and small.follows() is None
    assert small.needs(FULL) == larger.needs(FULL)
    assert decide(larger, choice, [small.key]) == WAIT
    assert decide(larger, choice | ended(small, seconds=1e4)) == RUN  # slow is no reason here
    assert decide(larger, choice | ended(small, OVER)) == DROP


def test_fewer_labels_first_if_they_are_planned():
    easier = replace(CHOICE, hidden=80)
    assert decide(easier, {}, [FIT.key]) == WAIT
    assert decide(easier, {}).action == "run"


def test_choices_are_shared_and_made_anew_as_the_set_allows():
    slow, fast = replace(FIT, run=3), replace(FIT, method="gkm-hinge-p1", run=3)
    assert slow.needs(FULL).run == 0
    assert fast.needs(FULL).run == 3
    assert replace(fast, dataset="ijcnn1").needs(FULL).run == 0
    assert replace(FIT, method="gkm-best").needs(FULL) is None


def test_experiments_have_the_paper_sets_and_share_cells():
    once = Protocol.named("full", runs=1, quick_runs=1)
    cells = {name: plan(name, None, once) for name in EXPERIMENTS}
    for name in ("sets", "losses", "comparison", "unlabeled"):
        assert {cell.dataset for cell in cells[name]} == set(PAPER_SETS)
    assert {cell.hidden for cell in cells["unlabeled"]} == {50, 60, 70, 80, 90}
    assert len(cells["convergence"]) == 12 and len(cells["graph"]) == 1
    assert set(cells["unlabeled"]) & set(cells["losses"])
    together = in_order(plan("all", None, once))
    assert len(together) == len(set(together)) < sum(map(len, cells.values()))


def test_rivals_on_large_sets_are_measured_once_in_growth():
    costs, compared = ({c for c in plan(name, None, FULL) if c.dataset in GROWING}
                       for name in ("growth", "comparison"))  # fmt: skip
    assert {cell.method for cell in costs} == {"gkm-hinge-p1", *RIVALS}
    assert not {cell.method for cell in compared} & set(RIVALS)
    assert plan("growth", ("g50c",), FULL) == []


def test_both_parts_and_on_small_sets_both_objectives_are_run():
    pairs = (("w5a", "gkm-hinge-p1"), ("w8a", "gkm-hinge-p1"), ("g50c", "cccp"))
    variants = {}
    for name, method in pairs:
        cells = fits((name,), (method,), (90,), FULL)
        variants[name] = {(cell.part, cell.objective) for cell in cells}
    assert len(variants["w5a"]) == 4
    assert variants["w8a"] == {("tenth", "released"), ("fifth", "released")}
    assert variants["g50c"] == {("tenth", ""), ("fifth", "")}


def test_all_labels_are_fitted_once_whatever_is_hidden():
    cells = fits(("g50c",), ("svm-all-labels",), (80, 90), FULL)
    assert {cell.hidden for cell in cells} == {0}


def test_costs_are_measured_on_doubled_numbers_of_rows_up_to_all():
    assert sizes_of("mushrooms") == [1000, 2000, 4000, 7311]
    sizes = sizes_of("covtype")
    assert sizes[-1] == SETS["covtype"].rows * 9 // 10 and 95_000 in sizes
    assert 95_000 not in sizes_of("w8a")
    for name in GROWING:
        assert sizes_of(name) == sorted(set(sizes_of(name)))
