"""What the members of the front door say, recorded once; two commits, compared on the records.

    python benchmarks/evidence.py record --out out/evidence --labels 20 --draws 6 --jobs 2
    python benchmarks/evidence.py report out/evidence            # the tables of one folder
    python benchmarks/evidence.py report out/before out/after    # paired differences of two commits

A record is one fit of one draw: what every member says of the held-out labels and of up to 500
hidden rows, CPU seconds, and the answers of the front door, of the same commit with graph=None, and
of usual models of the labels (`rivals`). Sets are the tables of the data folder, as people have
them (`prepared`), and the sets of `table_sets`. Draws have the seeds 100 to 111, by which no rule
of the library was chosen. A record that exists is not made again. `--kind` says which sets are run:
classes, quantities or clusters.
"""

from __future__ import annotations

import argparse
import os
import pickle
import time
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from _common import SkipError, data_file, table

FIRST, TESTED, MOST_ROWS, CATEGORIES = 100, 500, 2500, 20
Record = dict[str, Any]


# ------------------------------------------------------------------------ sets


def prepared(frame: Any) -> np.ndarray:
    """Return a frame as numbers: medians for gaps, a column for each frequent text, unit spread."""
    import pandas as pd

    columns = []
    for name in frame:
        texts = frame[name]
        numbers = pd.to_numeric(texts, errors="coerce")
        if numbers.notna().sum() == texts.notna().sum():
            columns.append(numbers.fillna(numbers.median()).to_numpy(dtype=float))
        else:
            words = texts.fillna("").astype(str)
            frequent = words.value_counts().index[:CATEGORIES]
            columns += [(words == word).to_numpy(dtype=float) for word in frequent]
    X = np.column_stack(columns)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]


@cache
def tables() -> dict[str, str]:
    """Return the kind of every table of the data folder, by name."""
    import pandas as pd

    listed = pd.read_csv(data_file("tables/tables.csv"))
    return dict(zip(listed["name"], listed["kind"], strict=True))


@cache
def rows_of(name: str) -> tuple[Any, np.ndarray]:
    """Return the rows and targets of a set; classes are whole numbers."""
    import pandas as pd

    from table_sets import TABULAR

    if name in TABULAR:
        X, y = TABULAR[name]()
    else:
        frame = pd.read_csv(data_file(f"tables/{name}.csv.xz"), low_memory=False)
        frame = frame[frame.iloc[:, -1].notna()]
        y = frame.iloc[:, -1].to_numpy()
        y = (
            y.astype(float)
            if tables()[name] == "quantities"
            else np.unique(y.astype(str), return_inverse=True)[1]
        )
        X = prepared(frame.iloc[:, :-1])
    some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X[some], y[some]


def names_of(kind: str) -> list[str]:
    """Return the sets of a kind."""
    from table_sets import TABULAR

    if kind == "clusters":
        return list(TABULAR)
    return [name for name, own in tables().items() if own == kind]


def draw(name: str, n_labels: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labelled rows of a draw at random, with two classes or more, and tested rows."""
    y = rows_of(name)[1]
    for attempt in range(100):
        rng = np.random.default_rng([zlib.crc32(name.encode()), seed, attempt])
        order = rng.permutation(len(y))
        if len(np.unique(y[order[:n_labels]])) > 1:
            break
    return order[:n_labels], order[n_labels : n_labels + TESTED]


# --------------------------------------------------------------------- records


def rivals(quantities: bool) -> dict[str, Callable[[int], Any]]:
    """Return the usual models of the labels, by name, each made for a number of folds."""
    from sklearn import ensemble, linear_model, model_selection, svm

    def searched(model: Any, folds: int, **grid: Any) -> Any:
        return model_selection.GridSearchCV(model, grid, cv=folds)

    if quantities:
        return {
            "ridge": lambda folds: linear_model.RidgeCV(np.logspace(-2, 4, 13)),
            "forest": lambda folds: ensemble.RandomForestRegressor(200, random_state=0),
        }
    powers = {"C": np.logspace(-1, 3, 5)}
    return {
        "SVC": lambda folds: searched(svm.SVC(), folds, **powers, gamma=["scale", 0.01, 0.1]),
        "logistic": lambda folds: searched(
            linear_model.LogisticRegression(max_iter=2000), folds, **powers
        ),
        "forest": lambda folds: ensemble.RandomForestClassifier(200, random_state=0),
        "boosting": lambda folds: ensemble.HistGradientBoostingClassifier(
            min_samples_leaf=5, random_state=0
        ),
    }


def recording(estimator: type) -> type:
    """Return a front door that keeps what its members say of the rows `tested`."""
    from graphkm.judge import log_probabilities
    from graphkm.semi.judging import prior_of
    from graphkm.semi.mixed import Mixed

    class Recorded(estimator):  # type: ignore[misc]
        def _decide(self, found: Any, known: Any, sides: Any) -> Any:
            verdict = super()._decide(found, known, sides)
            members = found[0]  # plain rows are one view
            graph = sides[0].graph
            nodes, prior, one = None if graph is None else graph.nodes, prior_of(known), np.ones(1)
            held = np.array([member.held for member in members])
            if known.kind == "classes":
                held = np.exp(log_probabilities(held, verdict.sizes[:, None, None]))
            self.record = {
                "names": [member.name for member in members],
                "alone": np.array([member.labels_only for member in members]),
                "weights": np.asarray(verdict.weights).reshape(len(members), -1).mean(axis=1),
                "held": held.astype(np.float32),
                "codes": known.codes if known.kind == "classes" else np.asarray(known.y)[:, 0],
                "said": np.array([
                    Mixed.of([each], one, np.array([size]), nodes, prior, known.kind, known.classes)
                    .at(self.tested, self.tested)
                    for each, size in zip(members, verdict.sizes, strict=True)
                ]).astype(np.float32),
            }  # fmt: skip
            return verdict

    return Recorded


def record(name: str, n_labels: int, seed: int, out: Path) -> str:
    """Make one record and write it; return a line about it."""
    import graphkm

    path = out / f"{name}-{n_labels}-{seed}.pickle"
    if path.exists():
        return ""
    X, y = rows_of(name)
    labeled, tested = draw(name, n_labels, seed)
    quantities = y.dtype.kind == "f"
    partly = np.full(len(y), np.nan if quantities else -1, dtype=y.dtype)
    partly[labeled] = y[labeled]
    home = graphkm.SemiSupervisedRegressor if quantities else graphkm.SemiSupervisedClassifier
    line: Record = {"set": name, "labels": n_labels, "seed": seed, "truth": y[tested]}
    with warnings.catch_warnings(action="ignore"):
        for title, options in (("front door", {}), ("labels alone", {"graph": None})):
            model = recording(home)(random_state=seed, n_jobs=1, **options)
            model.tested = X[tested]
            start = time.process_time()
            model.fit(X, partly)
            line[title] = {
                "seconds": time.process_time() - start,
                "best_score": model.best_score_,
                "gain": model.unlabeled_gain_,
                "answers": model.predict(X[tested])
                if quantities
                else model.predict_proba(X[tested]),
                "classes": None if quantities else model.classes_,
                "members": model.record,
            }
        least = 5 if quantities else int(np.unique(y[labeled], return_counts=True)[1].min())
        for title, make in rivals(quantities).items():
            start = time.process_time()
            try:
                model = make(max(2, min(5, least))).fit(X[labeled], y[labeled])
                line[title] = {
                    "answers": model.predict(X[tested]),
                    "seconds": time.process_time() - start,
                }
            except ValueError:  # a class that cross-validation cannot split
                continue
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_bytes(pickle.dumps(line))
    temporary.replace(path)
    return f"{name} {n_labels} {seed}: {line['front door']['seconds']:.1f} CPU s"


# --------------------------------------------------------------------- reports


def score(line: Record, title: str) -> float:
    """Return the accuracy in per cent, or R^2."""
    answers, truth = line[title]["answers"], line["truth"]
    if truth.dtype.kind == "f":
        return float(1 - np.mean((answers - truth) ** 2) / np.var(truth))
    if answers.ndim == 2:
        answers = line[title]["classes"][answers.argmax(axis=1)]
    return 100 * float(np.mean(answers == truth))


def log_loss(line: Record, title: str) -> float:
    """Return the mean log loss; a class that the fit has not seen costs as much as 1e-3."""
    said = line[title]
    place = np.searchsorted(said["classes"], line["truth"])
    place = np.minimum(place, len(said["classes"]) - 1)
    seen = said["classes"][place] == line["truth"]
    p = said["answers"][np.arange(len(place)), place] * seen
    return float(-np.log(np.maximum(p, 1e-3)).mean())


def lines_of(folder: Path) -> dict[tuple[str, int, int], Record]:
    """Return the records of a folder."""
    every = (pickle.loads(path.read_bytes()) for path in sorted(folder.glob("*.pickle")))
    return {(line["set"], line["labels"], line["seed"]): line for line in every}


def paired(differences: dict[str, list[float]]) -> str:
    """Return the mean difference over sets, and twice its standard error."""
    means = np.array([np.mean(values) for values in differences.values()])
    error = 2 * means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    return f"{means.mean():+.3f} ± {error:.3f}"


def surely_below(differences: dict[str, list[float]], limit: float) -> float:
    """Return the share of sets, in per cent, whose mean difference is below `limit` with 95 %."""
    from scipy.stats import t

    far = []
    for values in differences.values():
        v = np.array(values)
        if len(v) > 1:
            bound = v.mean() + t.ppf(0.95, len(v) - 1) * v.std(ddof=1) / np.sqrt(len(v))
            far.append(bound < limit)
    return 100 * float(np.mean(far)) if far else np.nan


def summary(lines: dict[tuple[str, int, int], Record]) -> Iterator[list[str]]:
    """Yield a row for each kind and number of labels."""
    groups: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for (name, n_labels, _), line in lines.items():
        groups[tables().get(name, "clusters"), n_labels].append(line)
    for (kind, n_labels), some in sorted(groups.items()):
        gaps, better, claims = defaultdict(list), defaultdict(lambda: defaultdict(list)), []
        others = list(rivals(kind == "quantities"))
        for line in some:
            own = score(line, "front door")
            gaps[line["set"]].append(own - score(line, "labels alone"))
            claims.append(
                (100 if kind != "quantities" else 1) * line["front door"]["best_score"] - own
            )
            for title in others:
                if title in line:
                    better[title][line["set"]].append(own - score(line, title))
        names = list(gaps)
        known = {name: [better[title][name] for title in others if name in better[title]]
                 for name in names}  # fmt: skip
        best = {name: min(gap, key=np.mean) for name, gap in known.items() if gap}
        limit = -1.3 if kind != "quantities" else -0.05
        losses = (
            [
                np.mean([log_loss(line, title) for line in some])
                for title in ("front door", "labels alone")
            ]
            if kind != "quantities"
            else [np.nan, np.nan]
        )
        unit = ".2f" if kind != "quantities" else ".3f"
        yield [
            kind, str(n_labels), f"{len(names)} / {len(some)}",
            f"{np.mean([score(line, 'front door') for line in some]):{unit}}",
            f"{np.mean([score(line, 'labels alone') for line in some]):{unit}}",
            f"{losses[0]:.3f}", f"{losses[1]:.3f}", paired(gaps),
            f"{surely_below(gaps, limit):.0f} %",
            f"{min(np.mean(v) for v in gaps.values()):{unit}}",
            paired(best), f"{min(np.mean(v) for v in best.values()):{unit}}",
            f"{np.nanmean(claims):+{unit}}",
            f"{np.mean([line['front door']['seconds'] for line in some]):.1f}",
        ]  # fmt: skip


HEAD = ["sets of", "labels", "sets / fits", "front door", "labels alone", "log loss", "alone's",
        "less labels alone", "surely worse", "worst", "less the best usual model", "worst there",
        "best_score_ less truth", "CPU s"]  # fmt: skip


def report(folders: list[Path]) -> None:
    """Print the table of each folder, and paired differences of the second to the first."""
    every = [lines_of(folder) for folder in folders]
    for folder, lines in zip(folders, every, strict=True):
        if not lines:
            raise SkipError(f"{folder} holds no records; make some with `record`")
        print(f"{folder}\n{table(HEAD, list(summary(lines)))}\n")
    for folder, lines in zip(folders[1:], every[1:], strict=True):
        gaps: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for key in lines.keys() & every[0].keys():
            gap = score(lines[key], "front door") - score(every[0][key], "front door")
            gaps[tables().get(key[0], "clusters"), key[1]][key[0]].append(gap)
        rows = [[kind, str(n), paired(one)] for (kind, n), one in sorted(gaps.items())]
        print(f"{folder} less {folders[0]}\n{table(['sets of', 'labels', 'difference'], rows)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("record")
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--kind", choices=("classes", "quantities", "clusters"), default="classes")
    run.add_argument("--labels", type=int, nargs="+", default=[20])
    run.add_argument("--draws", type=int, default=6)
    run.add_argument("--sets", nargs="+", help="all of the kind by default")
    run.add_argument("--jobs", type=int, default=1)
    shown = commands.add_parser("report")
    shown.add_argument("folders", type=Path, nargs="+")
    arguments = parser.parse_args()
    if "folders" in arguments:
        report(arguments.folders)
        return
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[threads] = "1"
    arguments.out.mkdir(parents=True, exist_ok=True)
    names = arguments.sets or names_of(arguments.kind)
    tasks = [
        (name, n, FIRST + k, arguments.out)
        for k in range(arguments.draws) for n in arguments.labels for name in names
        if len(rows_of(name)[1]) >= 3 * n
    ]  # fmt: skip
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for line in pool.map(record, *zip(*tasks, strict=True)):
            if line:
                print(line, flush=True)


if __name__ == "__main__":
    main()
