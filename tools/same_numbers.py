"""Compare the models of two versions of graphkm: the same data, the same settings, the same bits.

    python tools/same_numbers.py --before COMMIT [--before-python PYTHON]

The commit is checked out beside the repository's build files and installed there, unless a Python
that has it is passed. Both versions then fit the cases below, and their scores are compared. Real
data come from the folder GRAPHKM_DATA, or ../shared/data beside the repository. A score may differ
by 1e-6 of the largest one; the table says where the bits are the same.
"""

from __future__ import annotations

import argparse
import lzma
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("GRAPHKM_DATA") or ROOT.parent / "shared" / "data")

CASES = {
    "G50C, untouched": ("g50c", "classifier", {}),
    "G50C, landmarks": ("g50c", "classifier", {"solver": "newton", "n_landmarks": 200}),
    "G50C, rows": ("g50c", "classifier", {"solver": "row_newton"}),
    "G50C, p = 1.5": ("g50c", "classifier", {"p": 1.5, "solver": "newton"}),
    "G50C, degree 3": ("g50c", "classifier", {"degree": 3, "normalized": False}),
    "G50C, logistic, full": ("g50c", "classifier", {"loss": "logistic", "graph": "full"}),
    "G50C, explicit": (
        "g50c",
        "classifier",
        {"solver": "sgd", "step": "explicit", "C_graph": "guaranteed"},
    ),
    "G50C, by weight": ("g50c", "classifier", {"solver": "sgd", "edge_sampling": "weight"}),
    "G50C, budget": ("g50c", "classifier", {"solver": "sgd", "budget": 60}),
    "G50C, bipartite": ("g50c", "classifier", {"solver": "sgd", "graph": "bipartite"}),
    "G50C, search": ("g50c", "classifier_cv", {}),
    "G50C, search on folds": ("g50c", "classifier_cv", {"cv": 3}),
    "Digit1, untouched": ("digit1", "classifier", {}),
    "Digit1, search": ("digit1", "classifier_cv", {}),
    "two moons, untouched": ("moons", "classifier", {}),
    "two moons, SGD": ("moons", "classifier", {"solver": "sgd"}),
    "two moons, search": ("moons", "classifier_cv", {}),
    "two moons, epsilon": ("moons", "classifier", {"graph": "epsilon", "radius": 0.3}),
    "two moons, LapSVM": ("moons", "laplacian_svc", {}),
    "sine, untouched": ("sine", "regressor", {}),
    "sine, SGD": ("sine", "regressor", {"solver": "sgd"}),
    "sine, search": ("sine", "regressor_cv", {}),
    "sine, LapRLS": ("sine", "laplacian_regressor", {}),
    "IJCNN1, untouched": ("ijcnn1", "classifier", {}),
    "IJCNN1, 100 labels": ("ijcnn1_few", "classifier", {}),
    "G50C, front door": ("g50c", "front", {}),
    "Digit1, front door": ("digit1", "front", {}),
    "two moons, front door": ("moons", "front", {}),
    "two moons, anchors": ("moons", "front", {"graph": "anchors"}),
    "sine, front door": ("sine", "front_regressor", {}),
    "stream": ("stream", "classifier", {"solver": "sgd"}),
    "stream, budget": ("stream", "classifier", {"solver": "sgd", "budget": 100}),
    "stream, half-life": ("stream", "classifier", {"solver": "sgd", "half_life": 2000.0}),
    "stream, regression": ("sine_stream", "regressor", {"solver": "sgd"}),
}


def main() -> None:
    """Fit in both versions, compare, and print a table; exit with 1 if a case differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", metavar="COMMIT", help="the older version")
    parser.add_argument("--before-python", metavar="PYTHON", help="a Python that has it installed")
    parser.add_argument("--fit", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        return np.savez(options.fit, **{name: _scores(*case) for name, case in CASES.items()})
    with tempfile.TemporaryDirectory() as folder:
        before = options.before_python or _install(options.before, Path(folder))
        found = []
        for k, python in enumerate((before, sys.executable)):
            file = str(Path(folder) / f"{k}.npz")
            subprocess.run([python, __file__, "--fit", file], check=True)
            with np.load(file) as scores:
                found.append(dict(scores))
    sys.exit(_report(*found))


def _report(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> int:
    width, failed = max(map(len, CASES)), 0
    print(f"{'case':<{width}}  {'scores':>7}  largest difference, of the largest score")
    for name, old in before.items():
        new = after[name]
        if old.shape != new.shape:
            verdict, apart = f"shapes {old.shape} and {new.shape}", np.inf
        else:
            apart = float(np.abs(old - new).max() / (np.abs(old).max() or 1.0))
            verdict = "same bits" if np.array_equal(old, new) else f"{apart:.1e}"
        failed += not apart <= 1e-6
        print(f"{name:<{width}}  {old.size:>7,}  {verdict}{'' if apart <= 1e-6 else '  DIFFERS'}")
    print(f"{failed} of {len(before)} cases differ by more than 1e-6")
    return int(failed > 0)


def _install(commit: str | None, folder: Path) -> str:
    """Return a Python in which the older version is installed."""
    if not commit:
        raise SystemExit("Pass --before COMMIT, or --before-python PYTHON.")
    source, env = folder / "source", folder / "env"
    subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", source, commit], check=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", env], check=True)
        python = str(env / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", source], check=True)
    finally:
        subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", source], check=True)
    return python


def _scores(data: str, kind: str, settings: dict) -> np.ndarray:
    """Return what a model says of all rows, in one version."""
    X, y, chunk = _data(data)
    model = _model(kind, settings)
    if chunk:
        for start in range(0, len(y), chunk):
            classes = {"classes": np.unique(y[y >= 0])} if kind == "classifier" else {}
            model.partial_fit(X[start : start + chunk], y[start : start + chunk], **classes)
    else:
        model.fit(X, y)
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def _model(kind: str, settings: dict):
    import graphkm

    name = {"classifier": "GKMClassifier", "regressor": "GKMRegressor"}.get(
        kind.removesuffix("_cv"), {"laplacian_svc": "LaplacianSVC"}.get(kind, "LaplacianRegressor")
    )
    seed = {} if kind.startswith("laplacian") else {"random_state": 0}
    if kind.startswith("laplacian"):
        rooms = ("baselines", "machines")  # their home now, and before
        room = next(room for room in rooms if find_spec(f"graphkm.{room}"))
        return getattr(import_module(f"graphkm.{room}"), name)()
    if kind.startswith("front"):
        kinds = {"front": "SemiSupervisedClassifier", "front_regressor": "SemiSupervisedRegressor"}
        return getattr(graphkm, kinds[kind])(**settings, random_state=0)
    sys.path.insert(0, str(ROOT / "tests"))
    from flat import parts

    if kind.endswith("_cv"):
        return getattr(graphkm, name + "CV")(**settings, **seed)
    return getattr(graphkm, name)(**parts(**settings), **seed)


def _data(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Return rows, labels and the rows of a chunk: 0 where rows come at once."""
    rng = np.random.default_rng(0)
    if name in ("g50c", "digit1"):
        files = ["g50c_lds"] * 2
        if name == "digit1":
            files = ["ssl-book/set1_digit1", "ssl-book/set1_digit1_splits_labeled100"]
        data, splits = map(_mat, files)
        truth = (np.asarray(data["y"]).ravel() > 0).astype(int)
        X = np.asarray(data["X"], float)
        X = X if len(X) == len(truth) else X.T
        return X, _hidden(truth, np.atleast_2d(splits["idxLabs"]).astype(int)[0] - 1), 0
    if name == "moons":
        from sklearn.datasets import make_moons

        X, truth = make_moons(600, noise=0.1, random_state=0)
        return X, _hidden(truth, np.arange(20)), 0
    if name.startswith("ijcnn1"):
        from sklearn.datasets import load_svmlight_file

        X, truth = load_svmlight_file(str(DATA / "ijcnn1.libsvm.bz2"), n_features=22)
        X, truth = X.toarray(), (truth > 0).astype(int)
        n = 100 if name.endswith("few") else len(truth) // 10
        return X, _hidden(truth, rng.permutation(len(truth))[:n]), 0
    if name.startswith("sine"):
        X = rng.uniform(0, 6, (4000 if name.endswith("stream") else 500, 2))
        y = np.where(rng.random(len(X)) < 0.2, np.sin(X[:, 0]) + 0.1 * X[:, 1], np.nan)
        return X, y, 500 if name.endswith("stream") else 0
    X = rng.normal(size=(20_000, 10))
    truth = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(int)
    return X, np.where(rng.random(len(X)) < 0.1, truth, -1), 1000


def _mat(name: str) -> dict:
    from scipy.io import loadmat

    with lzma.open(DATA / f"{name}.mat.xz") as file:
        return loadmat(file)


def _hidden(truth: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    y = np.full(len(truth), -1)
    y[labeled] = truth[labeled]
    return y


if __name__ == "__main__":
    main()
