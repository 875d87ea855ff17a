"""The paper's numbers are all there, and Figure 2's are what they claim to be."""

from __future__ import annotations

import joblib
import numpy as np
import pytest

from reproduction.cells import Cell
from reproduction.experiments import COMPARISON
from reproduction.figures import TOLERANCE, run_convergence
from reproduction.paper import paper_values, unlabeled_values
from reproduction.protocol import Protocol
from reproduction.sets import PAPER_12, PAPER_13, SETS


def test_all_of_the_tables_are_shipped():
    values = paper_values()
    for name in PAPER_13:
        for hidden in (80, 90):
            for method in (f"gkm-{loss}-p{p}" for loss in ("hinge", "logistic") for p in (1, 2, 3)):
                assert 50 < values[name, method, hidden, "accuracy"] <= 100
                assert values[name, method, hidden, "seconds"] > 0
    for name in PAPER_12:
        for method in ("gkm", "lapsvm", "cccp", "self-knn", "svm-all-labels"):
            assert values[name, method, 90, "memory_mb"] > 0
        for hidden in (50, 60, 70, 80, 90):
            assert unlabeled_values()[name, hidden, "f1"] > 10
    assert {"lapsvm", "cccp", "self-knn", "svm-all-labels"} <= set(COMPARISON.methods)


def test_some_numbers_are_the_printed_ones():
    values = paper_values()
    assert values["covtype", "gkm-hinge-p2", 90, "accuracy"] == 85.29
    assert values["coil20", "gkm-hinge-p3", 90, "seconds"] == 0.015
    assert values["w8a", "gkm", 90, "accuracy"] == 98.0
    assert values["mushrooms", "gkm-logistic-p1", 80, "accuracy"] == 100.0
    assert unlabeled_values()["w5a", 50, "accuracy"] == 91.128


@pytest.mark.dear
@pytest.mark.parametrize("method", ["gkm-hinge-p1", "gkm-logistic-p3"])
def test_convergence_is_below_the_bound_and_shrinks(method, tmp_path):
    protocol = Protocol.named("quick", runs=3)
    path = tmp_path / "data.joblib"
    X, y = SETS["made_g50c"].load()
    joblib.dump((X[:200], y[:200]), path)
    row = run_convergence(path, Cell("convergence", "made_g50c", method, 90, 0), protocol)
    gaps = np.array(row["gaps"])
    assert gaps.shape == (3, len(row["steps"]))
    assert (gaps > -1e-6 * row["minimum"]).all()  # nothing is below the minimum
    assert row["minimum_certified_to"] <= TOLERANCE
    assert (gaps.mean(axis=0) * row["steps"] <= row["bound"]).all()
    assert gaps.mean(axis=0)[-1] < 0.2 * gaps.mean(axis=0)[0]
    assert 0 < row["minimum"] < row["at_zero"]
