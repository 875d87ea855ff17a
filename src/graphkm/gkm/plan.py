"""What one fit does: the parts of an estimator with every "auto" filled in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from .._util.parameters import check_choice, check_flag, check_number
from .._util.parts import Sizes, part_by_name
from ..graphs import GraphPart, graph_or_given, resolve_graph
from ..kernels import Kernel, resolve_gamma
from ..smoothness import IteratedLaplacian, Power, SmoothnessPart
from ..solvers import SGD, Newton, RowNewton, Solver, Sums

_FEW = 1000  # labels at most for which Newton's method is fast, where all rows are landmarks
_MANY = 300  # with fewer rows C_graph shrinks: their Laplacian has no small eigenvalues
_SMALL = 500  # up to this many rows every graph and every p is fast

LARGEST = 2**28
"""The most rows times labelled rows for which "auto" takes `RowNewton`: its kernel takes 1 GiB."""

PER_LABEL = " / l"
"""The end of a C or C_graph that is divided by the number of labels."""

_LOSSES = ("hinge", "epsilon_insensitive")  # the defaults of the estimators

SOLVERS: dict[str, Solver] = {
    "newton": Newton(),
    "row_newton": RowNewton(),
    "sgd": SGD(),
    "sums": Sums(),
}
"""The solvers by name."""


@dataclass(frozen=True, repr=False)
class Plan:
    """What every "auto" became for some data, and why.

    Parameters
    ----------
    n_rows, n_labeled : int
        Numbers of rows and of labelled rows; 0 for a stream, where they are unknown.
    classes : bool
        Whether the targets are classes.
    kernel : Kernel
        With its gamma.
    graph : GraphPart or None
        With its weights; None where no graph is used.
    smoothness : SmoothnessPart
        With its degree and whether it is normalised.
    solver : Solver
        With its landmarks or steps.
    C : float
        Weight of the labelled rows.
    relative : bool
        Whether C is in units of 1 / k, where k is the mean value, over the labelled rows, of the
        kernel that includes the graph.
    C_graph : float or "guaranteed"
        Weight of the graph term.
    streaming : bool
        Whether rows come in chunks.
    reasons : str
        Why values were chosen: lines of a name, a colon and the reason.
    """

    n_rows: int
    n_labeled: int
    classes: bool
    kernel: Kernel
    graph: GraphPart | None
    smoothness: SmoothnessPart
    solver: Solver
    C: float
    relative: bool
    C_graph: float | str
    streaming: bool = False
    reasons: str = ""

    def without_graph(self, why: str) -> Plan:
        """Return the plan without a graph."""
        solver = self.solver
        if isinstance(solver, RowNewton):  # without a graph nothing would connect the rows' scores
            sizes = Sizes(self.n_rows, self.n_labeled, self.classes)
            solver = Newton(**solver.get_params()).planned(sizes)
        return replace(self, graph=None, solver=solver, reasons=f"{self.reasons}graph: {why}\n")

    def __repr__(self) -> str:
        """Return one line for each choice, with its reason."""
        rows = f"{self.n_rows:,} rows, {self.n_labeled:,} of them labelled"
        rows = "a stream" if self.streaming else rows
        reasons = dict(line.split(": ", 1) for line in self.reasons.splitlines() if ": " in line)
        C = "chosen on held-out labels" if isnan(self.C) else f"{self.C:g}"
        shown = {
            "kernel": repr(self.kernel),
            "graph": repr(self.graph),
            "smoothness": repr(self.smoothness),
            "solver": repr(self.solver),
            "C": f"{C} / mean kernel value of the labelled rows" if self.relative else C,
            "C_graph": self.C_graph if isinstance(self.C_graph, str) else f"{self.C_graph:g}",
        }
        width = max(map(len, shown))
        lines = [f"Plan for {rows}"]
        for name, text in shown.items():
            why = f"  ({reasons[name]})" if name in reasons else ""
            lines.append(f"  {name:<{width}}  {text}{why}")
        return "\n".join(lines)


def resolve_solver(solver: str | Solver) -> Solver:
    """Return the solver that a name stands for, or the solver itself.

    Examples
    --------
    >>> resolve_solver("newton")
    Newton(n_landmarks='auto', landmarks='uniform', tol=1e-06, max_iter=500)
    """
    part: Solver = part_by_name("solver", solver, Solver, SOLVERS)
    return part


def resolve_smoothness(smoothness: Any) -> SmoothnessPart:
    """Return the part itself; a number is the exponent of a `Power`.

    Examples
    --------
    >>> resolve_smoothness(1.5)
    Power(p=1.5, normalized='auto')
    """
    if isinstance(smoothness, SmoothnessPart):
        return smoothness
    try:
        return Power(check_number("smoothness", smoothness, least=1))
    except ValueError as error:
        raise ValueError(
            "smoothness must be 'auto', a finite number >= 1, Power(...) or "
            f"IteratedLaplacian(...), got {smoothness!r}."
        ) from error


def cost(value: Any, n_labeled: int = 1) -> Any:
    """Return C or C_graph for so many labels: "2 / l" is 2 divided by their number.

    Examples
    --------
    >>> cost("2 / l", n_labeled=10), cost(0.5, n_labeled=10), cost("auto")
    (0.2, 0.5, 'auto')
    """
    if not (isinstance(value, str) and value.endswith(PER_LABEL)):
        return value
    try:
        return float(value.removesuffix(PER_LABEL)) / n_labeled
    except ValueError:
        return value


def check_parameters(estimator: Any) -> None:
    """Raise ValueError for the first parameter that is out of range; parts check themselves."""
    e = estimator
    _check_cost("C", e.C, strictly=True, words=("auto",))
    _check_cost("C_graph", e.C_graph, words=("auto", "guaranteed"))
    check_number("gamma", e.gamma, least=0, strictly=True, words=("spread", "scale", "auto"))
    resolve_graph(e.graph)
    if not _is_auto(e.smoothness):
        resolve_smoothness(e.smoothness)
    if not _is_auto(e.solver):
        resolve_solver(e.solver)
    check_choice("precision", e.precision, ("single", "double"))
    check_flag("fit_intercept", e.fit_intercept)
    check_flag("transduce", e.transduce)
    if e.callback is not None and not callable(e.callback):
        raise ValueError(f"callback must be a function or None, got {e.callback!r}.")
    e.n_threads()


def _check_cost(name: str, value: Any, **allowed: Any) -> None:
    try:
        check_number(name, cost(value), least=0, **allowed)
    except ValueError as error:
        if not isinstance(value, str):
            raise
        rule = str(error).rpartition(", got ")[0]
        raise ValueError(
            f"{rule}, got {value!r}. To divide a number by the number of labels, write '2 / l'."
        ) from error


def make_plan(
    estimator: Any,
    X: Any,
    kernel: Kernel,
    sizes: Sizes,
    *,
    affinity: Any = None,
    streaming: bool = False,
) -> Plan:
    """Return the plan of an estimator for these data; ValueError if its parts contradict.

    Parameters
    ----------
    estimator : GKMClassifier or GKMRegressor
        Its parameters are checked.
    X : ndarray or CSR
        The rows, or the first chunk of them.
    kernel : Kernel
        With its gamma.
    sizes : Sizes
        Sizes of the data; 0 rows for a stream.
    affinity : CSR array, optional
        The weights of a given graph, which takes the place of the estimator's.
    streaming : bool, default=False
        Whether rows come in chunks.
    """
    e, why = estimator, ""
    for name in ("C", "C_graph"):
        given = getattr(e, name)
        if streaming and isinstance(given, str) and given != "auto":
            raise ValueError(
                f"{name}={given!r} follows from the number of labels, which a stream changes; "
                "pass a number."
            )
    C, C_graph = cost(e.C, sizes.n_labeled), cost(e.C_graph, sizes.n_labeled)
    graph = graph_or_given(e.graph, affinity)
    wanted = None if _is_auto(e.smoothness) else resolve_smoothness(e.smoothness)
    if not _is_auto(e.solver):
        solver = resolve_solver(e.solver)
    elif streaming:
        solver, why = choose_stream(e, sizes.classes)
    else:
        solver, why = choose_solver(kernel, graph, wanted, C_graph, sizes)
    solver = solver.planned(sizes)
    smoothness = _fill_smoothness(wanted, graph, solver)
    plan = Plan(
        **sizes._asdict(),
        kernel=kernel,
        graph=graph,
        smoothness=smoothness,
        solver=solver,
        C=0.0,
        relative=False,
        C_graph=C_graph if isinstance(C_graph, str) else float(C_graph),
        streaming=streaming,
        reasons=f"solver: {why}\n" if why else "",
    )
    if isinstance(solver, Sums):
        solver.accepts(plan)
        return _with_sums(plan, e, C)
    # If every row is labelled, the graph is not used, and any graph is accepted.
    unused = not streaming and sizes.n_labeled == sizes.n_rows
    together = replace(plan, C_graph=0.0) if unused else plan
    for part in (graph, smoothness, solver):
        part.accepts(together)
    plan = _fill_costs(plan, C)
    if plan.graph is None:
        return plan
    graph = graph.planned(sizes, X).weighted(bandwidth(kernel, X), local=solver.exact)
    return replace(plan, graph=graph)


def choose_stream(estimator: Any, classes: bool) -> tuple[Solver, str]:
    """Return the solver of a stream for solver="auto", and why.

    Sums have squared losses, so a few wild targets would change the model. They are for classes.
    """
    e = estimator
    if not classes:
        return SGD(), "a stream of quantities takes stochastic steps"
    graph = (e.graph, e.smoothness) != ("knn", "auto") or e.C_graph not in ("auto", 0)
    if graph or e.loss not in _LOSSES:
        return SGD(), "a stream with a graph or a loss of its own takes stochastic steps"
    return Sums(), "a stream of classes is summed up"


def _with_sums(plan: Plan, estimator: Any, C: Any) -> Plan:
    """Return the plan of sums: squared losses, no graph, and C may be left to held-out rows."""
    e = estimator
    if e.loss not in _LOSSES:
        raise ValueError(
            f"solver=Sums() has squared losses, and loss={e.loss!r}; leave it at its default, or "
            "pass solver=SGD()."
        )
    C = float("nan") if _is_auto(C) else float(C)
    return replace(plan, C=C, C_graph=0.0).without_graph("sums have none")


def bandwidth(kernel: Kernel, X: Any) -> float:
    """Return the gamma of the edges' weights: the kernel's own gamma if it has one."""
    if kernel.euclidean_gamma is not None:
        return kernel.euclidean_gamma
    return resolve_gamma("spread", X) if kernel.has_rows else 1.0


def choose_solver(
    kernel: Kernel,
    graph: GraphPart,
    smoothness: SmoothnessPart | None,
    C_graph: float | str,
    sizes: Sizes,
) -> tuple[Solver, str]:
    """Return the solver for solver="auto", and why.

    Newton's method is better if labels are few, and then costs little. It needs the list of
    edges. For a p other than 2 every step passes over all edges, which is fast only for small
    data.
    """
    n, n_labeled, _ = sizes
    if C_graph == "guaranteed":
        return SGD(step="explicit"), "the theorem is about explicit stochastic steps"
    if smoothness is not None and (smoothness.degree != 1 or smoothness.normalized is True):
        solver, why = choose_exact(kernel, graph, smoothness, C_graph, sizes)
        return solver, f"only Newton's method can use this smoothness, and {why}"
    squares = smoothness is None or smoothness.p == 2
    m = int(Newton().planned(sizes).n_landmarks)
    if n_labeled > (_FEW if n == m else m // 2):
        return SGD(), f"{n_labeled:,} labels are many"
    if not (squares and graph.listed) and n > _SMALL:
        return SGD(), f"{n:,} rows are many for a graph without a list of edges, or p other than 2"
    solver, why = choose_exact(kernel, graph, smoothness, C_graph, sizes)
    return solver, f"labels are few, and {why}"


def choose_exact(
    kernel: Kernel,
    graph: GraphPart,
    smoothness: SmoothnessPart | None,
    C_graph: float | str,
    sizes: Sizes,
) -> tuple[Solver, str]:
    """Return the Newton solver that suits the data, and why.

    With `RowNewton` the scores of rows far from all labels shrink towards 0. Their signs are
    still right, so this is no problem for classes; but it is for quantities.
    """
    n, n_labeled, classes = sizes
    m = int(Newton().planned(sizes).n_landmarks)
    normal = smoothness is None or (smoothness.p == 2 and smoothness.normalized is not False)
    possible = normal and graph.listed and kernel.has_rows
    smooths = C_graph != 0 and n_labeled < n
    if possible and smooths and classes and n > m and n * n_labeled <= LARGEST:
        return RowNewton(), f"{n:,} rows are too many to be all landmarks"
    return Newton(), f"{m:,} landmarks follow {n:,} rows"


def _fill_smoothness(
    wanted: SmoothnessPart | None, graph: GraphPart, solver: Solver
) -> SmoothnessPart:
    """Return the smoothness with its degree and normalisation."""
    iterated = graph.listed and type(solver) is Newton
    normalized = solver.exact
    if wanted is None:
        return IteratedLaplacian(2) if iterated else Power(2, normalized=normalized)
    if isinstance(wanted, IteratedLaplacian) and wanted.degree == "auto":
        return replace(wanted, degree=2 if iterated else 1)
    if isinstance(wanted, Power) and wanted.normalized == "auto":
        return replace(wanted, normalized=normalized)
    return wanted


def _fill_costs(plan: Plan, C: float | str) -> Plan:
    """Return the plan with C and C_graph, and without a graph if none is used."""
    sizes = Sizes(plan.n_rows, plan.n_labeled, plan.classes)
    p, graph = plan.smoothness.p, plan.graph
    # The theorem behind "guaranteed" needs C itself.
    smoothed = plan.solver.exact and p == 2 and plan.C_graph != "guaranteed"
    rows = isinstance(plan.solver, RowNewton)
    assert graph is not None
    usual_C, usual_C_graph = default_costs(smoothed, rows, sizes)
    if not graph.listed:  # all pairs with the weight of neighbours would flatten f
        usual_C_graph = default_costs(False, rows, sizes)[1]
    if plan.smoothness.normalized and p != 2:
        usual_C_graph /= 10  # the sum over edges is divided by the rows, about a tenth as many
    C_graph = usual_C_graph if plan.C_graph == "auto" else plan.C_graph
    plan = replace(
        plan,
        C=usual_C if isinstance(C, str) else float(C),
        relative=isinstance(C, str) and smoothed,
        C_graph=C_graph,
    )
    if not plan.streaming and (C_graph == 0 or plan.n_labeled == plan.n_rows):
        return plan.without_graph("C_graph is 0" if C_graph == 0 else "every row is labelled")
    return plan


def default_costs(smoothed: bool, rows: bool, sizes: Sizes) -> tuple[float, float]:
    """Return C and C_graph for "auto".

    `smoothed` says that C is in units of the kernel that includes the graph, as for the Newton
    solvers at p = 2. At any other p so strong a graph would flatten f. `rows` says that rows have
    scores of their own.
    """
    n, n_labeled, classes = sizes
    if not smoothed:
        # For quantities Newton's C is 10 / k, and k(x, x) is 2 with its intercept: that gives 5.
        return (1.0, 0.1) if classes else (5.0, 0.01)
    if rows:
        return 10.0, 50.0 * n / n_labeled
    if not classes:
        return 10.0, 10.0 / n_labeled
    return 10.0, graph_share(n) * 1e5 / n_labeled


def graph_share(n: int) -> float:
    """Return the share of the usual C_graph for a graph of n rows; it is 1 unless n is small.

    The fewer the rows, the larger the smallest eigenvalues of their Laplacian, and the flatter
    the same C_graph makes f. A value that suits a thousand rows overrules the labels of a dozen.

    Examples
    --------
    >>> graph_share(1000), round(graph_share(30), 4)
    (1.0, 0.01)
    """
    return min(1.0, n / _MANY) ** 2


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
