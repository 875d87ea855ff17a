"""A child's answers: compiled code, BLAS, encoders, cards, and a small fit."""

from __future__ import annotations

import importlib.util
import time
from contextlib import suppress
from typing import Any

from .children import answer
from .machine import folder

_TEXTS = ("sentence_transformers", "model2vec", "fastembed", "onnxruntime")
_IMAGES = ("timm", "torchvision")
_POINTS, _LABELS = 200, 8


def compiled() -> dict[str, Any]:
    """Return the instruction set that the compiled code uses, and those that it could use."""
    from graphkm import _native

    return {"used": _native.instruction_set(), "possible": _native.instruction_sets()}


def blas() -> dict[str, Any]:
    """Return the thread pools: BLAS and OpenMP, and their numbers of threads."""
    import scipy.linalg  # noqa: F401
    import sklearn.neighbors  # noqa: F401
    from threadpoolctl import threadpool_info

    keys = ("user_api", "internal_api", "version", "num_threads", "threading_layer", "architecture")
    return {"pools": [{key: pool.get(key) for key in keys} for pool in threadpool_info()]}


def folders() -> dict[str, Any]:
    """Return the folders of vectors and of public data."""
    from graphkm.datasets.storage import data_folder
    from graphkm.embed.cache import cache_folder

    found = {"vectors": folder(cache_folder())}
    with suppress(ImportError):  # pooch knows the folder
        found["data"] = folder(data_folder())
    return found


def encoders() -> dict[str, Any]:
    """Return whether texts become vectors without a network, and which libraries could do so."""
    from graphkm.embed import TextEmbedder

    others = [name for name in (*_TEXTS, *_IMAGES) if importlib.util.find_spec(name)]
    try:
        width = TextEmbedder(cache=None).fit_transform(["few labels"]).shape[1]
    except Exception as error:
        return {"texts": None, "why": " ".join(str(error).split()), "libraries": others}
    return {"texts": width, "why": None, "libraries": others}


def card() -> dict[str, Any]:
    """Return what a card computes, if CuPy finds one."""
    import cupy

    count = cupy.cuda.runtime.getDeviceCount()
    total = float(cupy.arange(10.0).sum()) if count else None
    return {"cupy": cupy.__version__, "count": count, "works": total == 45.0}


def fit() -> dict[str, Any]:
    """Fit two moons, and return how long that took, and how many answers are right."""
    from sklearn.datasets import make_moons

    import graphkm

    X, truth = make_moons(_POINTS, noise=0.05, random_state=0)
    y = truth.copy()
    y[_LABELS:] = -1
    start, used = time.perf_counter(), time.process_time()
    model = graphkm.SemiSupervisedClassifier(random_state=0).fit(X, y)
    took = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - used}
    return {"points": _POINTS, "labels": _LABELS, "accuracy": model.score(X, truth)} | took


STEPS = {step.__name__: step for step in (compiled, blas, folders, encoders, card, fit)}

if __name__ == "__main__":
    answer(lambda name: STEPS[name]())
