"""The library's own classifier: with its defaults, and tuned by itself; on one thread."""

from __future__ import annotations

from typing import Any

import numpy as np

from .neighbours import Search
from .tuning import Parameters


def ours_default(X: Any, y: np.ndarray, _: Search, seed: int) -> tuple[np.ndarray, Parameters]:
    """Return predictions of the defaults."""
    from graphkm import GKMClassifier

    return GKMClassifier(random_state=seed, n_jobs=1).fit(X, y).transduction_, {}


def ours_cv(X: Any, y: np.ndarray, _: Search, seed: int) -> tuple[np.ndarray, Parameters]:
    """Return predictions and parameters of the classifier that tunes itself."""
    from graphkm import GKMClassifierCV

    model = GKMClassifierCV(random_state=seed, n_jobs=1).fit(X, y)
    return model.transduction_, dict(getattr(model, "best_params_", {}))
