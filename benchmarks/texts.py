"""Texts with few labels: the front door with its usual views, beside rivals.

    python benchmarks/texts.py [--draws 10] [--store]
    python benchmarks/texts.py --embed MODEL --vectors minilm.npz
    python benchmarks/texts.py --vectors minilm.npz [--store]
    python benchmarks/texts.py --speed

So many labels of each class are drawn (seeds 0 to 9); accuracy in % is that of all other texts.
"default" has the vectors that come with the extra `text`, and "minilm" those of all-MiniLM-L6-v2,
which `--embed` computes once with any model that `TextEmbedder` takes. Both have words as a second
view. The labels' names are those of the data: "card_arrival", "Sci/Tech", "positive". Rivals:
"words" is TF-IDF of words with logistic regression, "self-training" the same inside
scikit-learn's SelfTrainingClassifier, "vectors" logistic regression on the vectors. With `--names`,
"no names" is the front door with label_names=None.
"""

from __future__ import annotations

import argparse
import csv
import io
import lzma
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from _common import Figure, data_file, script, store, table
from _processes import forked
from graphkm import SemiSupervisedClassifier
from graphkm.embed import TextEmbedder, Words

CELLS = (("ag_news_test", 8), ("banking77", 5), ("sst2", 8), ("sst2", 64))
TARGETS = {
    ("ag_news_test", 8): (78.0, 83.0),
    ("banking77", 5): (77.0, 83.0),
    ("sst2", 8): (60.0, 70.0),
    ("sst2", 64): (72.0, 80.0),
}
RIVALS = ("words", "self-training", "vectors")


def read(name: str) -> tuple[list[str], np.ndarray]:
    with lzma.open(data_file(f"texts/{name}.csv.xz")) as file:
        rows = list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")))
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])


def drawn(y: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    """Return so many rows of each class."""
    rng = np.random.default_rng(seed)
    some = [rng.choice(np.flatnonzero(y == c), per_class, replace=False) for c in np.unique(y)]
    return np.sort(np.concatenate(some))


def embed(model: str, path: Path) -> None:
    """Keep the vectors of all texts, and of the labels' names, in a file."""
    from graphkm.semi.label_names import spelt_out

    texts: set[str] = set()
    for name in dict.fromkeys(name for name, _ in CELLS):
        own, y = read(name)
        texts |= {*own, *map(spelt_out, np.unique(y).tolist())}
    listed = sorted(texts)
    rows = TextEmbedder(model, verbose=1).fit_transform(listed)
    np.savez_compressed(path, texts=np.array(listed), rows=rows.astype(np.float16))


class Kept:
    """Vectors that were computed before."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as data:
            self._rows = data["rows"].astype(np.float32)
            self._place = {text: k for k, text in enumerate(data["texts"].tolist())}

    def __call__(self, texts: list[str]) -> np.ndarray:
        """Return the vectors of texts."""
        return self._rows[[self._place[text] for text in texts]]


def vectors_of(kind: str, path: Path | None) -> TextEmbedder:
    return TextEmbedder() if kind == "default" else TextEmbedder(Kept(path))  # type: ignore[arg-type]


def measured(name: str, per_class: int, seed: int, way: str, path: Path | None) -> dict[str, float]:
    """Return accuracy and CPU seconds of one fit; `way` begins with the kind of vectors."""
    warnings.simplefilter("ignore")
    texts, truth = read(name)
    rows = drawn(truth, per_class, seed)
    rest = np.setdiff1d(np.arange(len(truth)), rows)
    kind, _, what = way.partition(" ")
    encoder = vectors_of(kind, path)
    start = time.process_time()
    if what in RIVALS:
        said = rival(what, encoder, texts, truth, rows)
    else:
        y = np.full(len(truth), None, dtype=object)
        y[rows] = truth[rows]
        views = {"vectors": encoder, "words": Words()}
        names = None if what == "no names" else "auto"
        model = SemiSupervisedClassifier(views=views, label_names=names, random_state=0, n_jobs=1)
        said = model.fit(texts, y).transduction_
    spent = time.process_time() - start
    return {"accuracy": 100 * np.mean(said[rest] == truth[rest]), "cpu": spent}


def rival(
    what: str, encoder: TextEmbedder, texts: list[str], truth: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    X: Any = (
        encoder.fit_transform(texts)
        if what == "vectors"
        else TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    )
    line = LogisticRegression(C=10.0, max_iter=500)
    if what != "self-training":
        return np.asarray(line.fit(X[rows], truth[rows]).predict(X))
    classes, codes = np.unique(truth, return_inverse=True)
    y = np.full(len(truth), -1)
    y[rows] = codes[rows]
    return np.asarray(classes[SelfTrainingClassifier(line).fit(X, y).predict(X)])


def speed() -> list[Figure]:
    """Embed 10,000 texts with the default, and again from the cache, in new processes."""
    with tempfile.TemporaryDirectory() as place:
        jobs = [partial(embedded, place)] * 2
        found = [answer["cpu"] for _, answer in forked(iter(jobs), 1)]
    return [
        Figure("10,000 texts by the default", found[0], "CPU s", 10.0, at_least=False),
        Figure("the same from the cache", found[1], "CPU s", 0.5, at_least=False),
    ]


def embedded(place: str) -> dict[str, float]:
    texts = [text for name in ("banking77", "sst2") for text in read(name)[0]][:10_000]
    start = time.process_time()
    TextEmbedder(cache=place).fit_transform(texts)
    return {"cpu": time.process_time() - start}


def run(arguments: argparse.Namespace) -> list[Figure]:
    if arguments.speed:
        return speed()
    if arguments.embed is not None:
        embed(arguments.embed, arguments.vectors)
        return []
    kinds = ["default"] if arguments.vectors is None else ["default", "minilm"]
    ways = [f"default {what}" for what in RIVALS]
    ways += ["minilm vectors"] * ("minilm" in kinds)
    asked = ("", "no names") if arguments.names else ("",)
    ways += [f"{kind} {what}".strip() for kind in kinds for what in asked]
    seeds = range(arguments.seeds, arguments.seeds + (2 if arguments.quick else arguments.draws))
    cells = [cell for cell in CELLS if not arguments.quick or cell[0] == "sst2"]
    wanted = [(*cell, seed, way) for cell in cells for seed in seeds for way in ways]
    wanted.sort(key=lambda each: (each[3] not in ("default", "minilm"), -each[1]))
    jobs = (partial(measured, *each, arguments.vectors) for each in wanted)
    lines = []
    for number, answer in forked(jobs, arguments.jobs):
        if answer["status"] != "ok":
            raise SystemExit(answer.get("traceback", answer["status"]))
        name, per_class, seed, way = wanted[number]
        accuracy, cpu = f"{answer['accuracy']:.2f}", f"{answer['cpu']:.1f}"
        place = {"set": name, "per_class": str(per_class), "seed": str(seed), "way": way}
        lines.append(place | {"accuracy": accuracy, "cpu": cpu})
    lines.sort(key=lambda line: (line["set"], int(line["per_class"]), line["way"], line["seed"]))
    if arguments.store:
        store("texts", lines, ("set", "per_class", "seed", "way"))
    print(table(*summary(lines)))
    return figures(lines)


def means(lines: list[dict[str, str]], key: str = "accuracy") -> dict[tuple[str, int], Any]:
    """Return means by cell and way."""
    found: dict[tuple[str, int], dict[str, list[float]]] = {}
    for line in lines:
        cell = found.setdefault((line["set"], int(line["per_class"])), {})
        cell.setdefault(line["way"], []).append(float(line[key]))
    return {
        cell: {way: float(np.mean(values)) for way, values in ways.items()}
        for cell, ways in found.items()
    }


def summary(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    found = means(lines)
    ways = list(next(iter(found.values())))
    rows = [
        [f"{name}, {per_class} a class", *(f"{cell[way]:.1f}" for way in ways)]
        for (name, per_class), cell in found.items()
    ]
    return ["set", *ways], rows


def figures(lines: list[dict[str, str]]) -> list[Figure]:
    ours = []
    for cell, found in means(lines).items():
        for kind, least in zip(("default", "minilm"), TARGETS[cell], strict=True):
            if kind in found:
                name = f"{cell[0]}, {cell[1]} a class, {kind}"
                ours.append(Figure(name, found[kind], "%", least))
                alone = max(found["default words"], found[f"{kind} vectors"])
                ours.append(Figure(f"{name}: beside one view", found[kind] - alone, "points", -1.0))
    return ours


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 10, "help": "draws of labels"},
        seeds={"type": int, "default": 0, "help": "the seed of the first draw"},
        jobs={"type": int, "default": 1, "help": "fits at once; 1 by default"},
        store={"action": "store_true", "help": "keep the results"},
        speed={"action": "store_true", "help": "only the time that vectors take"},
        names={"action": "store_true", "help": "also without the labels' names"},
        embed={"help": "a model that TextEmbedder takes: compute its vectors, and do nothing else"},
        vectors={"type": Path, "help": "the file of vectors of all-MiniLM-L6-v2"},
    )
