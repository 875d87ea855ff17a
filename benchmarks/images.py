"""Images with few labels: the front door with its usual views, beside rivals.

    python benchmarks/images.py [--draws 10] [--store]

Five labels of each class are drawn from 4,000 images of MNIST and of USPS (seeds 0 to 9); accuracy
in % is that of all other images. "views" is the front door with the views that the command line
takes, pixels and gradients; "pixels" the front door with the pixels alone. Rivals are logistic
regression on pixels, and on pixels beside gradients.
"""

from __future__ import annotations

import argparse
import gzip
import time
import warnings
from functools import partial
from typing import Any

import numpy as np

from _common import Figure, data_file, script, store, table
from _processes import forked
from graphkm import SemiSupervisedClassifier
from graphkm.embed import ImageEmbedder

ROWS = 4000
PER_CLASS = 5
WAYS = ("views", "pixels", "logistic, pixels", "logistic, both")


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return images with values from 0 to 1, and their classes."""
    if name == "mnist":
        parts = []
        for kind, start in (("images-idx3", 16), ("labels-idx1", 8)):
            with gzip.open(data_file(f"mnist/mnist-train-{kind}-ubyte.gz")) as file:
                parts.append(np.frombuffer(file.read(), np.uint8, offset=start))
        images, y = parts[0].reshape(-1, 28, 28) / 255.0, parts[1].astype(int)
    else:
        with np.load(data_file("usps.npz")) as data:
            X = data[next(key for key in data if key.startswith("X_train"))]
            y = data[next(key for key in data if key.startswith("y_train"))].astype(int)
        images = (X.reshape(-1, 16, 16) / 1000.0 + 1.0) / 2.0
    chosen = np.random.default_rng(0).permutation(len(y))[:ROWS]
    return images[chosen], y[chosen]


def drawn(y: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = [rng.choice(np.flatnonzero(y == c), PER_CLASS, replace=False) for c in np.unique(y)]
    return np.concatenate(rows)


def measured(name: str, seed: int, way: str) -> dict[str, float]:
    """Return accuracy and CPU seconds of one fit."""
    warnings.simplefilter("ignore")
    images, truth = read(name)
    rows = drawn(truth, seed)
    y = np.full(len(truth), -1)
    y[rows] = truth[rows]
    start = time.process_time()
    said = predicted(way, images, truth, y, rows)
    spent = time.process_time() - start
    rest = y == -1
    return {"accuracy": 100 * np.mean(said[rest] == truth[rest]), "cpu": spent}


def predicted(
    way: str, images: np.ndarray, truth: np.ndarray, y: np.ndarray, rows: np.ndarray
) -> Any:
    from sklearn.linear_model import LogisticRegression

    def encoder(model: str) -> ImageEmbedder:
        return ImageEmbedder(model, cache=None)

    if way.startswith("logistic"):
        X = encoder("pixels" if way.endswith("pixels") else "auto").fit_transform(images)
        return LogisticRegression(max_iter=1000).fit(X[rows], truth[rows]).predict(X)
    names = ("pixels", "gradients") if way == "views" else ("pixels",)
    views = {name: encoder(name) for name in names}
    return SemiSupervisedClassifier(views=views, random_state=0).fit(images, y).transduction_


def run(arguments: argparse.Namespace) -> list[Figure]:
    draws = range(1 if arguments.quick else arguments.draws)
    wanted = [(name, seed, way) for name in ("mnist", "usps") for seed in draws for way in WAYS]
    lines = []
    for number, answer in forked((partial(measured, *each) for each in wanted), arguments.jobs):
        if answer["status"] != "ok":
            raise SystemExit(answer.get("traceback", answer["status"]))
        name, seed, way = wanted[number]
        accuracy, cpu = f"{answer['accuracy']:.2f}", f"{answer['cpu']:.1f}"
        place = {"set": name, "seed": str(seed), "way": way}
        lines.append(place | {"accuracy": accuracy, "cpu": cpu})
    lines.sort(key=lambda line: (line["set"], line["way"], int(line["seed"])))
    if arguments.store:
        store("images", lines, ("set", "seed", "way"))
    print(table(*summary(lines)))
    return []


def summary(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for line in lines:
        found.setdefault(line["set"], {}).setdefault(line["way"], []).append(
            float(line["accuracy"])
        )
    rows = [[name, *(f"{np.mean(ways[way]):.1f}" for way in WAYS)] for name, ways in found.items()]
    return ["set", *WAYS], rows


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 10, "help": "draws of labels"},
        jobs={"type": int, "default": 1, "help": "fits at once; 1 by default"},
        store={"action": "store_true", "help": "keep the results"},
    )
