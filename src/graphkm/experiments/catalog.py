"""All methods by name."""

from __future__ import annotations

from .gkm import PaperGKM
from .methods import (
    BestGKM,
    ConcaveConvex,
    LaplacianSVM,
    Method,
    SelfTraining,
    SupportVectors,
)

POWERS = (1, 2, 3)
LOSSES = ("hinge", "logistic")

_METHODS: tuple[Method, ...] = (
    *(
        PaperGKM(f"gkm-{loss}-p{p}", f"GKM {loss}, p = {p}", loss=loss, p=p)
        for loss in LOSSES
        for p in POWERS
    ),
    PaperGKM("gkm-no-graph", "GKM, no graph", with_graph=False),
    BestGKM("gkm-best", "GKM, best settings"),
    LaplacianSVM("lapsvm", "LapSVM", divisor=40),
    ConcaveConvex("cccp", "CCCP", divisor=40),
    SelfTraining("self-knn", "Self-KNN", divisor=10),
    SupportVectors("svm-labeled", "SVM, labelled rows", labels="labeled rows"),
    SupportVectors("svm-all-labels", "SVM, all labels", divisor=10, labels="all"),
)

METHODS: dict[str, Method] = {each.name: each for each in _METHODS}
"""All of them."""
