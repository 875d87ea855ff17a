"""The library's classifiers: the front door, the paper's machine, and its search; one thread."""

from __future__ import annotations

from typing import Any

import numpy as np

from .neighbours import Search
from .tuning import Parameters


def ours(X: Any, y: np.ndarray, _: Search, seed: int) -> tuple[np.ndarray, Parameters]:
    """Return predictions of the front door, and the weights of its heaviest members."""
    from graphkm import SemiSupervisedClassifier

    model = SemiSupervisedClassifier(random_state=seed, n_jobs=1).fit(X, y)
    return model.transduction_, {each.name: round(each.weight, 3) for each in model.members_[:5]}


def ours_default(X: Any, y: np.ndarray, _: Search, seed: int) -> tuple[np.ndarray, Parameters]:
    """Return predictions of the defaults."""
    from graphkm import GKMClassifier

    return GKMClassifier(random_state=seed, n_jobs=1).fit(X, y).transduction_, {}


def ours_cv(X: Any, y: np.ndarray, _: Search, seed: int) -> tuple[np.ndarray, Parameters]:
    """Return predictions and parameters of the classifier that tunes itself."""
    from graphkm import GKMClassifierCV

    model = GKMClassifierCV(random_state=seed, n_jobs=1).fit(X, y)
    return model.transduction_, dict(getattr(model, "best_params_", {}))
