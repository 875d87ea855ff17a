"""LAMDA-SSL's LapSVM and TSVM with their defaults, on two classes.

LAMDA-SSL 1.0.2 needs scikit-learn 1.2 and NumPy 1.23, so it runs in a Python of its own, which the
environment variable LAMDA_PYTHON names. CPU seconds are those of the fit and of predictions there,
without imports. Memory is not measured.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from .problem import Problem
from .tuning import Answer

PYTHON = os.environ.get("LAMDA_PYTHON", "")
_PEER = Path(__file__).parent.parent / "lamda_peer.py"


def _peer(method: str, problem: Problem) -> Answer:
    X = problem.X.toarray() if sparse.issparse(problem.X) else problem.X
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.npz"
        # The truth is for errors that nobody asks for here.
        np.savez(file, X=X, y=problem.y, truth=np.zeros_like(problem.y))
        command = [PYTHON, _PEER, method, file, "{}", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGXCPU:
        os.kill(os.getpid(), signal.SIGXCPU)  # its limit is ours
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    answer = json.loads(done.stdout.splitlines()[-1])
    problem.search.borrowed["cpu_seconds"] += answer["seconds"]
    labels = problem.y.copy()
    labels[problem.y == -1] = answer["predicted"]
    return labels, {}


def lapsvm(problem: Problem) -> Answer:
    """Return predictions of the Laplacian SVM."""
    return _peer("LapSVM", problem)


def tsvm(problem: Problem) -> Answer:
    """Return predictions of the transductive SVM."""
    return _peer("TSVM", problem)
