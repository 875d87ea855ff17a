"""Models of the labelled rows alone, on tables: they show which ones the front door should try.

    python benchmarks/label_models.py ijcnn1 cod-rna a1a w8a     # about two minutes
    python benchmarks/label_models.py covtype-2 --models forest  # names that contain a word

A tenth of the training rows is labelled, and the other rows are not looked at. The draws are 100
and 101: no page reports them.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from _common import table
from graphkm import KernelRidgeClassifierCV
from table_sets import LARGE, split

SEEDS = (100, 101)


def boosting(rounds: int) -> Any:
    return HistGradientBoostingClassifier(max_iter=rounds, early_stopping=False, random_state=0)


def models(sparse: bool) -> dict[str, Any]:
    scaler = MaxAbsScaler if sparse else StandardScaler
    found = {
        "kernel ridge": KernelRidgeClassifierCV(random_state=0, n_jobs=1),
        "kernel ridge, scaled": make_pipeline(
            scaler(), KernelRidgeClassifierCV(random_state=0, n_jobs=1)
        ),
        "linear": make_pipeline(scaler(), LogisticRegression(max_iter=300)),
        "forest": RandomForestClassifier(100, random_state=0),
        "forest, half": RandomForestClassifier(100, max_features=0.5, random_state=0),
        "extra trees": ExtraTreesClassifier(100, bootstrap=True, random_state=0),
        "extra trees, half": ExtraTreesClassifier(
            100, max_features=0.5, bootstrap=True, random_state=0
        ),
    }
    if not sparse:
        found |= {f"boosting, {rounds}": boosting(rounds) for rounds in (60, 200, 400)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", choices=LARGE)
    parser.add_argument("--models", default="", help="only those whose name has this word")
    arguments = parser.parse_args()
    lines = []
    for name in arguments.sets:
        X, y = LARGE[name]()
        for kind in models(sp.issparse(X)):
            if arguments.models not in kind:
                continue
            right, lost, cpu = [], [], []
            for seed in SEEDS:
                train, test, labeled = split(y, "10%", seed)
                known, model = train[labeled], models(sp.issparse(X))[kind]
                start = time.process_time()
                model.fit(X[known], y[known])
                cpu.append(time.process_time() - start)
                shares = model.predict_proba(X[test])
                right.append(100 * np.mean(model.classes_[shares.argmax(axis=1)] == y[test]))
                lost.append(log_loss(y[test], np.clip(shares, 1e-3, 1.0), labels=model.classes_))
            lines.append(
                [name, kind, f"{np.mean(right):.2f}", f"{np.mean(lost):.3f}", f"{min(cpu):.1f}"]
            )
            print(*lines[-1], flush=True)
    print(table(["set", "model", "accuracy", "log loss", "CPU s"], lines))


if __name__ == "__main__":
    main()
