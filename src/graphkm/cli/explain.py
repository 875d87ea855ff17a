"""`graphkm explain`: why rows of a file have their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from .fit_options import TrainingOptions
from .options import (
    AsJson,
    Data,
    LearningFileOptions,
    Method,
    Scale,
    ScaleOption,
    Task,
    TaskOption,
    UsageError,
)
from .spreading import spread
from .train import UnlabeledData

if TYPE_CHECKING:
    from ..inspection import Explanation

EXAMPLES = (
    "graphkm explain few_labels.csv --row 5 --row 17",
    "graphkm explain few_labels.csv --row 5 --of cat --json",
)

_MEMBERS = 5  # members, and columns, that are printed


class Calls(NamedTuple):
    """What rows and columns are called."""

    rows: list[str]
    columns: list[str]

    def row(self, number: int) -> str:
        """Return what a row is called; names of labels count as rows, too, behind all others."""
        return self.rows[number] if number < len(self.rows) else "the name of a label"


@spread
def explain(
    data: Data,
    row: Annotated[
        list[str],
        typer.Option(
            metavar="ROW",
            help="A row to explain: its number from 1, without the header; with --id, its id. May "
            "be repeated.",
            show_default=False,
        ),
    ],
    of: Annotated[
        str | None,
        typer.Option(
            "--of", metavar="CLASS", help="The class to explain. Default: the likeliest one."
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="How many labels to show for each row.")] = 5,
    unlabeled_data: UnlabeledData = None,
    task: TaskOption = Task.auto,
    scale: ScaleOption = Scale.auto,
    as_json: AsJson = False,
    files: LearningFileOptions = LearningFileOptions(),  # noqa: B008
    fit: TrainingOptions = TrainingOptions(),  # noqa: B008
) -> None:
    """Tell why rows have their answers: which labelled rows speak for them, and by which way.

    It trains on DATA as graphkm train does, because model files keep no graph of all rows. The
    answer is the sum of what is said before labels count, of what every label adds to it or takes,
    and of what is no sum over labels. What columns add is another way to divide it.
    """
    from ..inspection import explain as explained
    from .estimators import check_options, make_estimator
    from .label_columns import check_order, check_several
    from .model_files import last_step
    from .output import show
    from .preparing import fit_prepared
    from .train import check_encoded, read_learning

    method = Method.mixture
    check_encoded(data, files, method, False)
    check_several(files, fit, task, method)
    check_options(method.value, task, fit)
    rows, _ = read_learning(data, unlabeled_data, {}, files, task)
    check_order(fit, rows.note.labels)
    names = _names(data, unlabeled_data, files, rows)
    places = [_place(each, names) for each in row]
    wanted = None if of is None else _class(of, rows)
    estimator = make_estimator(method.value, rows.note.task, fit)
    fitted, _ = fit_prepared(estimator, scale, rows, None, files.encoder)
    last = last_step(fitted)
    X = rows.X[places] if last is fitted else fitted[:-1].transform(rows.X[places])
    found = explained(last, X, of=wanted)
    # A category has several columns in a fit, which have no names of their own.
    calls = Calls(names, [] if rows.note.words else rows.names)
    if as_json:
        told = zip(row, found, strict=True)
        show({}, {"rows": [_facts(name, each, calls, most) for name, each in told]}, True)
        return
    for k, (name, each) in enumerate(zip(row, found, strict=True)):
        if k:
            print()
        _print(name, each, calls, most)


def _names(data: str, more: str | None, files: LearningFileOptions, rows: Any) -> list[str]:
    """Return what rows are called: their ids, or their numbers from 1."""
    from ..io.files import STDIN
    from .opening import Source
    from .row_ids import training_ids

    n = len(rows.y)
    if files.id is None:
        return [str(k + 1) for k in range(n)]
    if STDIN in (data, more):
        raise UsageError(f"--id {files.id}: standard input cannot be read twice; give a file.")
    source = Source.at(data)
    ids = training_ids(source, None if more is None else Source.at(more), files, rows.note)
    assert ids is not None
    if len(ids) != n:
        raise UsageError(
            f"--id {files.id}: {len(ids) - n:,} rows of {data} are left out, so ids cannot be told "
            "apart. Leave --id out, and name rows by their numbers."
        )
    return [str(each) for each in ids]


def _place(name: str, names: list[str]) -> int:
    try:
        return names.index(name)
    except ValueError:
        raise UsageError(
            f"--row {name}: no row is called that. Rows are called {names[0]} to {names[-1]}; "
            "--id names a column of other names."
        ) from None


def _class(name: str, rows: Any) -> Any:
    """Return the class with a name, as labels have it."""
    from .learning_rows import label_text

    if rows.note.task == "regress" or rows.note.several:
        raise UsageError(f"--of {name}: it names one of several classes, and there are none.")
    found = {label_text(each): each for each in rows.classes}
    if name not in found:
        raise UsageError(f"--of {name}: it is no class; the classes are {', '.join(found)}.")
    return found[name]


def _labels(name: str, found: Explanation, calls: Calls, most: int) -> list[dict[str, Any]]:
    """Return the labels that add or take most, and the rows by which they reach the row."""
    from .learning_rows import label_values

    top = found.strongest(most)
    labels = label_values(found.labels[top])
    ways = ([calls.row(k) for k in found.way_from(int(n))[1:]] for n in found.labeled[top])
    return [
        {"row": calls.row(number), "label": label, "share": float(share)}
        | {"way": way[:-1] if way[-1:] == [name] else way}
        for number, label, share, way in zip(
            found.labeled[top], labels, found.shares[top], ways, strict=True
        )
    ]


def _columns(found: Explanation, calls: Calls) -> dict[str, float]:
    """Return what columns add, by members that look at them: another way to divide the answer."""
    if len(found.columns) != len(calls.columns):
        return {}
    return dict(zip(calls.columns, found.columns.values(), strict=True))


def _facts(name: str, found: Explanation, calls: Calls, most: int) -> dict[str, Any]:
    from .learning_rows import label_values

    labels = _labels(name, found, calls, most)
    rest = float(found.shares.sum()) - sum(each["share"] for each in labels)
    answer = None if found.answer is None else label_values([found.answer])[0]
    return {
        "row": name,
        "answer": answer,
        "value": found.value,
        "base": found.base,
        "labels": labels,
        "other_labels": rest,
        "others": found.others,
        "columns": _columns(found, calls),
        "members": [vote._asdict() for vote in found.votes],
    }


def _print(name: str, found: Explanation, calls: Calls, most: int) -> None:
    from .output import print_table

    facts = _facts(name, found, calls, most)
    answer = "" if found.answer is None else f" of {facts['answer']}"
    what = "the quantity" if found.answer is None else f"the probability{answer}"
    print(f"row {name}: {what} is {found.value:.4g}, and {found.base:.4g} before labels count")
    lines = [
        [f"{each['share']:+.4f}", f"row {each['row']}", str(each["label"]), _way(each["way"])]
        for each in facts["labels"]
    ]
    left = len(found.shares) - len(lines)
    if left:
        lines.append([f"{facts['other_labels']:+.4f}", f"{left:,} other labels", "", ""])
    lines += [[f"{share:+.4f}", other, "", ""] for other, share in found.others.items()]
    print_table([["adds", "what", "label", "by way of rows"], *lines])
    strong = sorted(facts["columns"].items(), key=lambda each: -abs(each[1]))[:_MEMBERS]
    if any(share for _, share in strong):
        print_table([["adds", "column"], *([f"{share:+.4f}", each] for each, share in strong)])
    heavy = sorted(found.votes, key=lambda vote: -vote.weight)
    votes = [[vote.member, f"{vote.weight:.3f}", f"{vote.said:.4g}"] for vote in heavy[:_MEMBERS]]
    if len(heavy) > _MEMBERS:
        weight = sum(vote.weight for vote in heavy[_MEMBERS:])
        votes.append([f"{len(heavy) - _MEMBERS:,} others", f"{weight:.3f}", ""])
    print_table([["member", "weight", "says"], *votes])


def _way(way: list[str], most: int = 4) -> str:
    """Return the rows of a way; of a long one its two ends."""
    if len(way) <= most:
        return ", ".join(way)
    return f"{way[0]}, {way[1]}, ... {len(way) - 3} more ..., {way[-1]}"
