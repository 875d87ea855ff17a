"""The tables of fields, from lines of results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from _common import table

Lines = Sequence[dict[str, str]]

TITLES = {
    "covtype-2": "COVTYPE, 2 classes",
    "covtype-7": "COVTYPE, 7 classes",
    "mnist": "MNIST",
    "ijcnn1": "IJCNN1",
    "cod-rna": "COD-RNA",
    "a1a": "A1A",
    "w8a": "W8A",
    "mushrooms": "MUSHROOMS",
}
PEERS = {
    "own": "ours",
    "spreading": "label spreading",
    "laplace": "Laplace learning",
    "poisson": "Poisson learning",
    "self_training": "self-training",
    "tri_training": "tri-training",
}
MANY = tuple(TITLES)  # the sets beyond 4,000 rows


def count(text: str) -> str:
    return f"{int(text):,}"


def main(lines: Lines) -> str:
    """Return our classifier beside a tuned SVC."""
    heads = ["set", "rows", "labels", "hidden", "test", "CPU s", "MB", "calibration error"]
    shown = ("hidden", "test", "cpu_seconds", "mb", "calibration_error")
    beside = ("svc_test", "svc_cpu_seconds")
    return table(
        [*heads, "tuned SVC, test", "its CPU s"],
        [
            [
                TITLES[line["set"]],
                count(line["rows"]),
                count(line["labels"]),
                *(line[name] for name in (*shown, *beside)),
            ]
            for line in lines
        ],
    )


def peers(lines: Lines) -> str:
    """Return what the peers reach within ten times our CPU time."""
    return table(
        ["set", "labels", *PEERS.values()],
        [
            [TITLES[line["set"]], count(line["labels"]), *(line[name] for name in PEERS)]
            for line in lines
        ],
    )


def bases(lines: Lines, *, many: bool) -> str:
    """Return other models alone and as `estimator`, on sets of up to or beyond 4,000 rows."""
    heads = ["set", "labels", "base", "alone hidden / test", "with the graph", "difference", "cost"]
    return table(
        heads,
        [
            [
                *(line[name] for name in ("set", "labels", "base")),
                f"{line['base_hidden']} / {line['base_test']}",
                f"{line['hidden']} / {line['test']}",
                f"{float(line['hidden_gain']):+.1f} / {float(line['test_gain']):+.1f}",
                f"{line['cost']} x",
            ]
            for line in lines
            if (line["set"] in MANY) == many
        ],
    )


def gains(lines: Lines, *, many: bool) -> str:
    """Return in a sentence how far the mixtures are from the models alone."""
    own = [line for line in lines if (line["set"] in MANY) == many]
    hidden, test = (
        np.array([float(line[name]) for line in own]) for name in ("hidden_gain", "test_gain")
    )
    return (
        f"{len(own)} rows. More than 0.5 points below the base: {(hidden < -0.5).sum()} on hidden, "
        f"{(test < -0.5).sum()} on test rows.\nLeast differences: {hidden.min():+.1f}, "
        f"{test.min():+.1f}. Means: {hidden.mean():+.1f}, {test.mean():+.1f}."
    )


def growth(lines: Lines) -> str:
    """Return CPU seconds by the number of rows."""
    heads = ["rows", "inside", "CPU s at 50,000, 100,000, 200,000, 500,000", "exponent"]
    names = ("rows", "inside", "cpu_seconds", "exponent")
    return table(heads, [[line[name] for name in names] for line in lines])
