"""Laplacian support vector machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..estimators.classes import KernelClassifier
from ..estimators.criterion import decide
from ..estimators.labels import as_label_array
from ..estimators.parameters import check_choice, check_flag
from ..expansion import KernelExpansion
from ..kernels import Kernel
from ..losses import Hinge, Loss
from .early_stopping import EarlyStopping
from .laplacian_base import BaseLaplacian
from .laplacian_cg import Check
from .laplacian_losses import SquaredHinge

_LOSSES: dict[str, Loss] = {"squared_hinge": SquaredHinge(), "hinge": Hinge()}


class LaplacianSVC(KernelClassifier, BaseLaplacian):
    """DOC."""

    def __init__(
        self,
        gamma_A: float = 1e-2,
        gamma_I: float = 1.0,
        *,
        loss: str = "squared_hinge",
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str = "spread",
        graph: str = "knn",
        n_neighbors: int = 20,
        graph_gamma: float | str | None = "local",
        neighbors: str = "auto",
        laplacian: str = "normalized",
        laplacian_degree: int = 4,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | str = "auto",
        early_stopping: bool = True,
        fit_intercept: bool = False,
        class_weight: dict[Any, float] | str | None = None,
        unlabeled: Any = -1,
        precision: str = "double",
        max_memory: float | str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            gamma_A,
            gamma_I,
            kernel=kernel,
            gamma=gamma,
            graph=graph,
            n_neighbors=n_neighbors,
            graph_gamma=graph_gamma,
            neighbors=neighbors,
            laplacian=laplacian,
            laplacian_degree=laplacian_degree,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            fit_intercept=fit_intercept,
            unlabeled=unlabeled,
            precision=precision,
            max_memory=max_memory,
            n_jobs=n_jobs,
        )
        self.loss = loss
        self.early_stopping = early_stopping
        self.class_weight = class_weight

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        affinity: Any = None,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Learn from labelled and unlabelled rows.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features)
            All rows; kernel values between them for kernel="precomputed".
        y : array-like of shape (n_samples,)
            Labels; `unlabeled`, NaN, None or NA where unknown.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the losses; those of unlabelled rows have no effect.
        affinity : sparse matrix of shape (n_samples, n_samples), optional
            Edge weights for graph="precomputed".
        validation : tuple (X, y), optional
            Labelled rows whose errors, in place of the unlabelled rows' decisions, stop
            solver="cg" early.

        Returns
        -------
        self
        """
        self._check_parameters()
        check_choice("loss", self.loss, tuple(_LOSSES))
        check_flag("early_stopping", self.early_stopping)
        X = self._validate_rows(X, reset=True)
        labeled, codes, targets, weights = self._encode_classes(X, y, sample_weight)

        def make_check(expansion: KernelExpansion) -> Check | None:
            if not self.early_stopping:
                return None
            error = None if validation is None else self._validation_error(expansion, *validation)
            return EarlyStopping(np.flatnonzero(~labeled), error)

        loss = _LOSSES[self.loss]
        self._fit(X, labeled, targets, weights, loss, affinity, make_check)
        self._given = (np.flatnonzero(labeled), codes)
        return self

    def _validation_error(
        self, expansion: KernelExpansion, X: Any, y: Any
    ) -> Callable[[NDArray[np.float64], NDArray[np.float64]], float]:
        """Return the share of wrong labels of other rows, as a function of a and b."""
        X, truth = self._validate_rows(X, reset=False), as_label_array(y)
        if X.shape[0] != len(truth) or len(truth) == 0:
            raise ValueError(
                f"validation holds {X.shape[0]} rows and {len(truth)} labels; pass as many labels "
                "as rows, and at least one."
            )

        def error(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
            expansion.set(np.arange(len(a)), a)
            return float(np.mean(self.classes_[decide(expansion.scores(X) + b)] != truth))

        return error
