r"""The stochastic step that `sgd` and `stream` share, computed in blocks.

Three facts make the paper's Algorithm 1 fast, and every w_t stays the same.

1. With W_t = t (t-1) w_t the step w_{t+1} = (t-1)/(t+1) w_t - 2/(t+1) h_t is a pure addition:
   W_{t+1} = W_t + delta_t with delta_t = -2 t h_t.
2. The lemma's average needs two sums per coefficient,

       wbar_{T+1} = 2/(T(T+1)) (H_{T-1} A - B),  A = sum_s delta_s,  B = sum_s delta_s H_{s-1}.

   H_k are the harmonic numbers, and A is W itself.
3. Which rows are drawn does not depend on w. So a block of drawn rows is scored against all
   centres in one product. Its steps then run one after another. Each corrects the scores of the
   later rows by the block's own small kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..backends import as_centres, run_block
from ..losses import Loss
from ..theory import Guarantee
from .base import DivergenceError
from .budget import Budget
from .centres import Centres

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

Find = Callable[[Ints], tuple[Ints, Any]]
"""Takes entries of a table; returns their numbers as centres, and their rows."""


class Draws(NamedTuple):
    """What steps draw: one labelled row and one edge each; u = -1 stands for no edge."""

    label: Ints
    target: Floats
    label_weight: Floats
    u: Ints
    v: Ints
    edge_weight: Floats

    def join(self, more: Draws) -> Draws:
        """Return these draws and then more."""
        return Draws._make(np.concatenate(pair) for pair in zip(self, more, strict=True))

    def split(self, size: int) -> tuple[Draws, Draws]:
        """Return the first draws, and the rest."""
        parts = [(values[:size], values[size:]) for values in self]
        return Draws._make(first for first, _ in parts), Draws._make(rest for _, rest in parts)


class Descent:
    """W, its average, and the blocks of steps that change them.

    Parameters
    ----------
    W : Centres
        The centres and their sums, none so far.
    loss : Loss
        Of the labelled points.
    p : float
        Exponent of the smoothness.
    C, C_graph : ndarray of shape (n_outputs,)
        Factors of the drawn terms.
    implicit : bool
        Whether a step minimises its terms exactly, or follows their gradients.
    budget : int or None, default=None
        The most centres after a block.
    guarantee : Guarantee or None, default=None
        What the theorem promises, for the message of a run that diverges.
    """

    def __init__(
        self,
        W: Centres,
        *,
        loss: Loss,
        p: float,
        C: Floats,
        C_graph: Floats,
        implicit: bool,
        budget: int | None = None,
        guarantee: Guarantee | None = None,
    ) -> None:
        self.W = W
        self.n_iter = 0  # steps taken
        self.t = 0  # steps that count: `forget` drops some
        self.harmonic = 0.0  # H_t
        self._terms: dict[str, Any] = {
            "loss": loss, "p": p, "C": C, "C_graph": C_graph, "implicit": implicit
        }  # fmt: skip
        self._implicit, self._guarantee = implicit, guarantee
        self._budget = None if budget is None else Budget(budget)

    def take(self, draws: Draws, find: Find, norm: Floats | None = None) -> Floats:
        """Take one step for every draw.

        Parameters
        ----------
        draws : Draws
            Rows are entries of a table.
        find : callable
            The table.
        norm : ndarray of shape (n_outputs,), optional
            ||W||^2 before the steps; it is updated in place. None stands for 0.

        Returns
        -------
        ndarray of shape (n_outputs, n_steps)
            The drawn terms of J, and 1/2 ||w||^2, before each step.
        """
        W, size = self.W, len(draws.label)
        entries, label, u, v = distinct(draws.label, draws.u, draws.v)
        ids, queries = find(entries)
        centres, asked = as_centres(W.kernel, ids, queries), W.prepared(queries)
        change, weighted = np.zeros((2, W.n_outputs, len(ids)))
        objective = np.zeros((W.n_outputs, size))
        finite = run_block(
            gram=W.values(asked, as_centres(W.kernel, ids, asked)),
            scores=np.ascontiguousarray(W.scores(asked).T),
            change=change,
            weighted=weighted,
            norm=np.zeros(W.n_outputs) if norm is None else norm,
            objective=objective,
            first_step=self.t + 1,
            harmonic=self.harmonic,
            label=label,
            target=np.ascontiguousarray(draws.target),
            label_weight=draws.label_weight,
            u=u,
            v=v,
            edge_weight=draws.edge_weight,
            n_threads=W.n_threads,
            **self._terms,
        )
        if not finite:
            self.fail("the scores overflowed")
        W.add(ids, centres, change.T, weighted.T)
        steps = np.arange(self.t, self.t + size) + 1.0
        self.harmonic = float(np.add.accumulate(np.append(self.harmonic, 1.0 / steps))[-1])
        self.t += size
        self.n_iter += size
        if self._budget is not None:
            self._budget.enforce(W, self.harmonic - 1.0 / self.t)
        return objective

    def average(self) -> Floats:
        """Return the coefficients of the lemma's average, of shape (n_centres, n_outputs)."""
        T, R = max(self.t, 1), self.W.n_outputs
        harmonic = self.harmonic - 1.0 / T  # H_{T-1}
        average = 2.0 / (T * (T + 1.0)) * (harmonic * self.W.sums[:, :R] - self.W.sums[:, R:])
        if not np.isfinite(average).all():
            self.fail("the coefficients overflowed")
        return average

    def forget(self) -> None:
        """Go back to half of t; w and its average stay the same.

        With T steps done A = T (T+1) w and B = H_{T-1} A - T (T+1) / 2 wbar.
        """
        T, past = self.t, self.t // 2
        shorter = float(np.sum(1.0 / np.arange(1, past + 1)))
        ratio = past * (past + 1.0) / (T * (T + 1.0))
        A, B = np.split(self.W.sums, 2, axis=1)
        change = (shorter - 1.0 / past) - (self.harmonic - 1.0 / T)
        self.W.replace(self.W.ids, self.W.rows, ratio * np.hstack([A, B + change * A]))
        self.t, self.harmonic = past, shorter

    def fail(self, what: str) -> NoReturn:
        """Raise a DivergenceError that says what to change."""
        remedy = "Lower C, C_graph or the weights, or scale the data."
        if not self._implicit:
            remedy += " Or pass step='implicit', which is stable for large C_graph and p."
            if self._guarantee is not None:
                remedy = (
                    f"{self._guarantee} C_graph='guaranteed' is the largest value the theorem "
                    f"allows. {remedy}"
                )
        raise DivergenceError(
            f"The stochastic solver diverged within {max(self.n_iter, 1)} steps: {what}. {remedy}"
        )


def distinct(
    label: Ints, u: Ints, v: Ints
) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the distinct rows a block needs, and where its labels and edges stand among them.

    Examples
    --------
    >>> distinct(np.array([7, 5]), np.array([-1, 9]), np.array([3, 5]))[0]
    array([5, 7, 9])
    """
    live = np.flatnonzero(u >= 0)
    rows, place = np.unique(np.concatenate([label, u[live], v[live]]), return_inverse=True)
    at_label, at_u, at_v = np.split(place.astype(np.int32), [len(label), len(label) + len(live)])
    edges = np.full((2, len(u)), -1, np.int32)
    edges[:, live] = at_u, at_v
    return rows, at_label, edges[0], edges[1]
