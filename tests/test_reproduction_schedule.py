"""What is run when, and what is not run at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reproduction.cells import NO_FIT, OVER, Cell, fits, in_order
from reproduction.experiments import EXPERIMENTS, plan
from reproduction.protocol import Protocol
from reproduction.schedule import Drop, Known, Ready, Schedule, Wait
from reproduction.sets import PAPER_12, PAPER_13

DEFAULT = Protocol.named("economical")
FIT = Cell("fit", "g50c", "lapsvm", 90, 0)
CHOICE = replace(FIT, kind="choice")
CHOSEN = {CHOICE.key: {"status": "ok", "parameters": {"gamma": 0.5}}}


def decide(cell, done=None, still_open=(), protocol=DEFAULT):
    return Schedule(protocol, done or {}, set(still_open)).decide(cell)


def ended(cell, status="ok", seconds=1.0):
    return {cell.key: {"status": status, "cpu_seconds": seconds}}


def test_a_fit_waits_for_its_parameters():
    assert decide(FIT, {}, [CHOICE.key]) == Wait()
    assert decide(FIT) == Drop()  # its set could not be read
    assert decide(FIT, CHOSEN) == Ready({"gamma": 0.5})


def test_without_parameters_a_fit_is_what_their_choice_was():
    decision = decide(FIT, {CHOICE.key: {"status": OVER}})
    assert isinstance(decision, Known) and decision.row["status"] == OVER


@pytest.mark.parametrize("status", [OVER, NO_FIT])
def test_a_limit_is_not_run_into_twice(status):
    again, easier = replace(FIT, run=1), replace(FIT, hidden=80)
    done = CHOSEN | ended(FIT, status)
    assert decide(again, done) == Drop()
    done |= {replace(CHOICE, hidden=80).key: {"status": "ok", "parameters": {}}}
    decision = decide(easier, done)
    assert isinstance(decision, Known)
    assert decision.row["status"] == status and "90 %" in decision.row["reason"]


def test_what_follows_a_dropped_run_is_dropped_and_a_running_one_is_waited_for():
    third, second = replace(FIT, run=2), replace(FIT, run=1)
    assert decide(third, CHOSEN | ended(FIT)) == Drop()
    assert decide(third, CHOSEN | ended(FIT), [second.key]) == Wait()


def test_slow_fits_are_not_repeated_unless_all_is_asked_for():
    again, done = replace(FIT, run=1), CHOSEN | ended(FIT, seconds=61.0)
    assert decide(again, done) == Drop()
    full = Protocol.named("full", choose_once=True)
    assert decide(again, done, protocol=full) == Ready({"gamma": 0.5})
    assert decide(again, CHOSEN | ended(FIT, seconds=59.0)) == Ready({"gamma": 0.5})


def test_fewer_labels_first_if_they_are_planned():
    easier = replace(CHOICE, hidden=80)
    assert decide(easier, {}, [FIT.key]) == Wait()
    assert isinstance(decide(easier, {}), Ready)


def test_choices_are_shared_and_made_anew_as_the_protocol_says():
    slow, fast = replace(FIT, run=3), replace(FIT, method="gkm-hinge-p1", run=3)
    assert slow.needs(DEFAULT).run == 0
    assert fast.needs(DEFAULT).run == 3
    assert replace(fast, dataset="ijcnn1").needs(DEFAULT).run == 0
    assert slow.needs(Protocol.named("full")).run == 3
    assert replace(FIT, method="gkm-best").needs(DEFAULT) is None


def test_experiments_have_the_paper_sets_and_share_cells():
    cells = {name: plan(name, None, DEFAULT) for name in EXPERIMENTS}
    assert {cell.dataset for cell in cells["losses"]} == set(PAPER_13)
    assert {cell.dataset for cell in cells["comparison"]} == set(PAPER_12)
    assert {cell.hidden for cell in cells["unlabeled"]} == {50, 60, 70, 80, 90}
    assert len(cells["convergence"]) == 6 and len(cells["graph"]) == 1
    assert set(cells["unlabeled"]) & set(cells["losses"])
    together = in_order(plan("all", None, DEFAULT))
    assert len(together) == len(set(together)) < sum(map(len, cells.values()))


def test_all_labels_are_fitted_once_whatever_is_hidden():
    cells = fits(("g50c",), ("svm-all-labels",), (80, 90), DEFAULT)
    assert {cell.hidden for cell in cells} == {0}
