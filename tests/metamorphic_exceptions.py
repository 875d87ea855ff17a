"""What does change a model: the one table of exceptions, with reasons.

`tests/test_metamorphic.py` expects every entry to make a difference, on one of two sets of data,
and fails if it makes none any more. `docs/guide/unchanged.md` shows this table to readers.
"""

from __future__ import annotations

from typing import NamedTuple


class Exempt(NamedTuple):
    """Models that a change makes others of, and why."""

    change: str
    models: tuple[str, ...]
    reason: str


EXCEPTIONS = (
    Exempt(
        "sample weights times ten",
        (
            "GKMClassifier",
            "GKMClassifier(C=0.1, solver=RowNewton())",
            "GKMClassifier(solver=SGD())",
            "GKMClassifierCV",
            "GKMClassifierCV(Cs=...)",
            "GKMClassifierCV(Cs=..., cv=5)",
            "GKMRegressor",
            "GKMRegressor(solver=SGD())",
            "TransductiveSVC",
        ),
        'A weight multiplies C, as in `SVC`; neither a given C nor "auto" looks at the weights.',
    ),
    Exempt(
        "sample weights times ten",
        ("LaplacianSVC", "LaplacianRegressor"),
        "A weight multiplies the loss of its row, and `gamma_A` and `gamma_I` are numbers.",
    ),
    Exempt(
        "rows in another order",
        ("GKMClassifier(solver=SGD())", "GKMRegressor(solver=SGD())"),
        "The steps are drawn by row numbers. Another `random_state` changes as much.",
    ),
    Exempt(
        "rows in another order",
        ("GKMClassifier(solver=Sums())", "GKMRegressor(solver=Sums())"),
        "C is chosen by two halves of the rows, and row numbers decide which row is in which.",
    ),
    Exempt(
        "rows in another order",
        (
            "SemiSupervisedClassifier(graph=Anchors())",
            "SemiSupervisedRegressor(graph=Anchors())",
        ),
        "Anchors start from rows that are drawn by their numbers.",
    ),
    Exempt(
        "columns in another order",
        ("SemiSupervisedClassifier", "SemiSupervisedRegressor"),
        "Trees take the first of columns that split rows equally well.",
    ),
    Exempt(
        "every column twice",
        ("SemiSupervisedRegressor",),
        "A forest draws among columns that split rows equally well.",
    ),
    Exempt(
        "targets far from zero",
        ("SemiSupervisedRegressor",),
        "Targets lose digits there, which decide between splits of a tree that are equally good.",
    ),
    Exempt(
        "sparse",
        ("SemiSupervisedClassifier", "SemiSupervisedRegressor"),
        "Boosting takes no sparse rows, and is left out. The linear model does not centre columns.",
    ),
    Exempt(
        "a first chunk of another size",
        (
            "GKMClassifier(solver=SGD())",
            "GKMClassifier(solver=Sums())",
            "GKMRegressor(solver=SGD())",
            "GKMRegressor(solver=Sums())",
        ),
        'A gamma such as "spread", and the units of targets, come from the first chunk.',
    ),
)


def exemption(model: str, change: str) -> Exempt | None:
    """Return the entry of a model and a change, if there is one. It holds for any size of data."""
    name = model.removesuffix(", 3,000 rows").removesuffix(", 4,500 rows")
    found = [each for each in EXCEPTIONS if each.change == change and name in each.models]
    assert len(found) < 2, f"{name} and {change} stand twice in the table"
    return found[0] if found else None


def rendered() -> str:
    """Return the table as a page shows it."""
    lines = ["| change | models | why the model is another one |", "|---|---|---|"]
    for each in EXCEPTIONS:
        models = ", ".join(f"`{name}`" for name in each.models)
        lines.append(f"| {each.change} | {models} | {each.reason} |")
    return "\n".join(lines) + "\n"
