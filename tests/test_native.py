"""The compiled module: its exponential, its checks, its instruction sets, Ctrl-C."""

from __future__ import annotations

import json
import math
import os
import platform
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from scipy.sparse import csr_array

from graphkm._native import (
    DenseCentres32,
    DenseCentres64,
    SparseCentres32,
    SparseCentres64,
    instruction_set,
    instruction_sets,
    run_block,
)
from graphkm.losses import L1, EpsilonInsensitive, Hinge, Logistic, SmoothHinge

DENSE = {np.float32: DenseCentres32, np.float64: DenseCentres64}
SPARSE = {np.float32: SparseCentres32, np.float64: SparseCentres64}
RBF, LINEAR, POLY, LAPLACIAN, COSINE = range(5)
ON_ARM = platform.machine().lower() in {"aarch64", "arm64"}
LN2 = math.log(2.0)  # this gamma makes kernels powers of two: the code's log2(e) cancels exactly
precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])
forms = pytest.mark.parametrize("form", ["dense", "sparse"])


def arrays(form, rows):
    """Return rows as the arguments a store takes."""
    if form == "dense":
        return (rows,)
    sparse = csr_array(rows)
    return sparse.indptr.astype(np.int32), sparse.indices.astype(np.int32), sparse.data


def store(form, dtype, d, code=RBF, gamma=LN2, coef0=0.0, degree=1, n_outputs=1):
    if form == "dense":
        return DENSE[dtype](code, gamma, coef0, degree, d, n_outputs)
    return SPARSE[dtype](code, gamma, coef0, degree, d, n_outputs)


def values(form, dtype, queries, centres, **kernel):
    centred = store(form, dtype, queries.shape[1], **kernel)
    centred.append(*arrays(form, centres.astype(dtype)))
    out = np.full((len(queries), len(centres)), np.nan, dtype)
    centred.values(*arrays(form, queries.astype(dtype)), out, 1)
    return out


# ---------------------------------------------------------------- the exponential

ACCURACY = {np.float32: 3e-7, np.float64: 1e-14}
LOWEST = {np.float32: 126, np.float64: 1022}  # 2^-LOWEST is the smallest normal number


@forms
@precisions
def test_powers_of_two_are_accurate(form, dtype):
    """2^-q by the Laplacian kernel of q and 0, where the exponent is exact."""
    assert LN2 * 1.4426950408889634 == 1.0
    q = np.linspace(0, LOWEST[dtype], 40001).astype(dtype)
    found = values(form, dtype, q[:, None], np.zeros((1, 1)), code=LAPLACIAN).ravel()
    exact = np.exp2(-q.astype(np.float64))
    assert np.abs(found / exact - 1).max() <= ACCURACY[dtype]
    whole = q == np.round(q)
    np.testing.assert_array_equal(found[whole], exact[whole])


@forms
@precisions
def test_rbf_is_accurate_over_the_whole_range(form, dtype):
    """2^-q^2 with q a multiple of 1/64, whose square is exact."""
    q = np.arange(int(64 * math.sqrt(LOWEST[dtype]))) / 64
    found = values(form, dtype, q[:, None], np.zeros((1, 1))).ravel()
    assert np.abs(found / np.exp2(-q * q) - 1).max() <= ACCURACY[dtype]


@forms
@precisions
@pytest.mark.parametrize("gamma", [0.013, 0.7, 31.0])
def test_rbf_up_to_the_rounding_of_its_exponent(form, dtype, gamma):
    q = np.linspace(0, math.sqrt(0.68 * LOWEST[dtype] / gamma), 5001).astype(dtype)
    exponent = gamma * q.astype(np.float64) ** 2
    found = values(form, dtype, q[:, None], np.zeros((1, 1)), gamma=gamma).ravel()
    bound = ACCURACY[dtype] + 1.5 * exponent * np.finfo(dtype).eps
    assert (np.abs(found / np.exp(-exponent) - 1) <= bound).all()


@forms
@precisions
def test_underflow_is_exactly_zero(form, dtype):
    far = LOWEST[dtype] + np.array([1.0, 1.3, 2.0, 5.0, 100.0, 1e4, 1e6, 1e30])
    found = values(form, dtype, far[:, None], np.zeros((1, 1)), code=LAPLACIAN)
    np.testing.assert_array_equal(found, 0.0)


@forms
@precisions
def test_no_denormal_numbers(form, dtype):
    near = LOWEST[dtype] + np.linspace(-1, 1, 201)
    found = values(form, dtype, near[:, None], np.zeros((1, 1)), code=LAPLACIAN)
    assert ((found == 0) | (found >= np.finfo(dtype).tiny)).all()
    assert found[0] > 0


@forms
@precisions
def test_a_point_with_itself(form, dtype):
    X = np.random.default_rng(0).normal(size=(50, 7))
    for code in (RBF, LAPLACIAN, COSINE):
        diagonal = values(form, dtype, X, X, code=code).diagonal()
        np.testing.assert_allclose(diagonal, 1.0, rtol=100 * np.finfo(dtype).eps)


# ---------------------------------------------------------------- the largest values


@precisions
@pytest.mark.parametrize(("n_queries", "n", "k"), [(1, 1, 1), (3, 40, 40), (700, 333, 7)])
@pytest.mark.parametrize("code", [LINEAR, LAPLACIAN])
def test_largest_values_are_in_order(dtype, n_queries, n, k, code):
    """Whole numbers: many values are equal, and the earliest of them comes first."""
    rng = np.random.default_rng(n)
    queries, centres = (rng.integers(-1, 2, size=(m, 6)).astype(dtype) for m in (n_queries, n))
    filled = store("sparse", dtype, 6, code=code)
    filled.append(*arrays("sparse", centres))
    expected = values("sparse", dtype, queries, centres, code=code)
    for threads in (1, 3):
        out = np.full((n_queries, k), -7, np.int32)
        filled.largest(*arrays("sparse", queries), out, threads)
        np.testing.assert_array_equal(out, np.argsort(-expected, axis=1, kind="stable")[:, :k])


@precisions
def test_largest_leaves_out_what_is_no_number(dtype):
    filled = store("sparse", dtype, 1, code=LINEAR)
    filled.append(*arrays("sparse", np.array([[1.0], [np.nan], [2.0], [-np.inf]], dtype)))
    out = np.full((1, 4), -7, np.int32)
    filled.largest(*arrays("sparse", np.ones((1, 1), dtype)), out, 1)
    np.testing.assert_array_equal(out, [[2, 0, -1, -1]])


# ---------------------------------------------------------------- refusals

REFUSED = (TypeError, ValueError)


def dense(dtype=np.float64):
    filled = store("dense", dtype, 3, n_outputs=2)
    filled.append(np.ones((4, 3), dtype))
    return filled


def sparse(dtype=np.float64):
    filled = store("sparse", dtype, 3, n_outputs=2)
    filled.append(*arrays("sparse", np.ones((4, 3), dtype)))
    return filled


def ints(*numbers, dtype=np.int32):
    return np.array(numbers, dtype)


def read_only(array):
    array.flags.writeable = False
    return array


BAD_ROWS = {
    "narrow": np.ones((2, 2)),
    "wide": np.ones((2, 4)),
    "flat": np.ones(3),
    "cube": np.ones((2, 3, 1)),
    "single": np.ones((2, 3), np.float32),
    "half": np.ones((2, 3), np.float16),
    "integers": np.ones((2, 3), np.int64),
    "complex": np.ones((2, 3), complex),
    "objects": np.ones((2, 3), object),
    "fortran": np.asfortranarray(np.ones((2, 3))),
    "strided": np.ones((2, 6))[:, ::2],
    "swapped": np.ones((2, 3)).astype(">f8" if sys.byteorder == "little" else "<f8"),
    "list": [[1.0, 1.0, 1.0]],
    "none": None,
}


@pytest.mark.parametrize("rows", BAD_ROWS.values(), ids=BAD_ROWS)
def test_dense_rows_are_checked(rows):
    centres = dense()
    with pytest.raises(REFUSED):
        centres.append(rows)
    with pytest.raises(REFUSED):
        centres.product(rows, np.zeros((2, 2)), 1)
    with pytest.raises(REFUSED):
        centres.values(rows, np.zeros((2, 4)), 1)
    assert len(centres) == 4


BAD_OUT = {
    "short": np.zeros((1, 2)),
    "long": np.zeros((3, 2)),
    "narrow": np.zeros((2, 1)),
    "flat": np.zeros(4),
    "single": np.zeros((2, 2), np.float32),
    "fortran": np.zeros((2, 2), order="F"),
    "strided": np.zeros((2, 4))[:, ::2],
    "read-only": read_only(np.zeros((2, 2))),
    "none": None,
}


@pytest.mark.parametrize("out", BAD_OUT.values(), ids=BAD_OUT)
def test_results_are_checked(out):
    rows = np.ones((2, 3))
    with pytest.raises(REFUSED):
        dense().product(rows, out, 1)
    with pytest.raises(REFUSED):
        sparse().product(*arrays("sparse", rows), out, 1)
    wide = out if out is None or out.ndim == 1 else np.repeat(out, 2, axis=1)[:, :3]
    with pytest.raises(REFUSED):
        dense().values(rows, wide, 1)
    with pytest.raises(REFUSED):
        sparse().values(*arrays("sparse", rows), wide, 1)


@pytest.mark.parametrize("threads", [-1, 1.5, "2", None])
def test_threads_are_checked(threads):
    for centres, rows in ((dense(), (np.ones((2, 3)),)),
                          (sparse(), arrays("sparse", np.ones((2, 3))))):  # fmt: skip
        with pytest.raises(REFUSED):
            centres.product(*rows, np.zeros((2, 2)), threads)


@pytest.mark.parametrize("threads", [0, 1, 1000, 2**40])
def test_any_number_of_threads_is_fine(threads):
    out = np.zeros((2, 2))
    centres = dense()
    centres.set(np.arange(4), np.ones((4, 2)))
    centres.product(np.ones((2, 3)), out, threads)
    np.testing.assert_allclose(out, 4.0)


@pytest.mark.parametrize("make", [dense, sparse])
@pytest.mark.parametrize(
    ("rows", "values"),
    [
        (ints(4, dtype=np.int64), np.ones((1, 2))),
        (ints(-1, dtype=np.int64), np.ones((1, 2))),
        (ints(2**62, dtype=np.int64), np.ones((1, 2))),
        (ints(0, 1, dtype=np.int64), np.ones((1, 2))),
        (ints(0, dtype=np.int64), np.ones((1, 3))),
        (ints(0, dtype=np.int64), np.ones(2)),
        (ints(0, dtype=np.int64), np.ones((1, 2), np.float32)),
        (ints(0, dtype=np.int32), np.ones((1, 2))),
        (ints(0, dtype=np.uint64), np.ones((1, 2))),
        (np.zeros(1), np.ones((1, 2))),
        (np.arange(4)[::2], np.ones((2, 2))),
        (ints(0, 1, dtype=np.int64), np.asfortranarray(np.ones((2, 2)))),
        (None, np.ones((1, 2))),
    ],
)
def test_coefficients_are_checked(make, rows, values):
    centres = make()
    with pytest.raises(REFUSED):
        centres.set(rows, values)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("indptr", "indices", "n_values"),
    [
        (ints(), ints(), 0),
        (ints(1, 2), ints(0, 1), 2),
        (ints(0, 2, 1), ints(0, 1), 2),
        (ints(0, 3), ints(0, 1), 2),
        (ints(0, 1), ints(0, 1), 2),
        (ints(0, -1), ints(), 0),
        (ints(0, 2), ints(0, 3), 2),
        (ints(0, 2), ints(-1, 0), 2),
        (ints(0, 2), ints(0), 2),
        (ints(0, 2), ints(0, 1), 1),
        (ints(0, 2, dtype=np.int64), ints(0, 1), 2),
        (ints(0, 2), ints(0, 1, dtype=np.int64), 2),
        (ints(0, 0, 2)[::2], ints(0, 1), 2),
        (ints(0, 2), ints(0, 1, 2)[::2], 2),
        (ints(0, 2).reshape(1, 2), ints(0, 1), 2),
        (np.array([0.0, 2.0]), ints(0, 1), 2),
        (None, ints(0, 1), 2),
    ],
)
def test_sparse_rows_are_checked(dtype, indptr, indices, n_values):
    centres, data = sparse(dtype), np.ones(n_values, dtype)
    n = 0 if indptr is None else max(0, indptr.size - 1)
    with pytest.raises(REFUSED):
        centres.append(indptr, indices, data)
    with pytest.raises(REFUSED):
        centres.product(indptr, indices, data, np.zeros((n, 2)), 1)
    with pytest.raises(REFUSED):
        centres.values(indptr, indices, data, np.zeros((n, 4), dtype), 1)
    with pytest.raises(REFUSED):
        centres.largest(indptr, indices, data, np.zeros((n, 2), np.int32), 1)
    assert len(centres) == 4


@pytest.mark.parametrize("shape", [(2, 0), (2, 5), (1, 2), (3, 2), (2,)])
def test_where_the_largest_go_is_checked(shape):
    rows = arrays("sparse", np.ones((2, 3)))
    with pytest.raises(REFUSED):
        sparse().largest(*rows, np.zeros(shape, np.int32), 1)
    with pytest.raises(REFUSED):
        sparse().largest(*rows, np.zeros((2, 2), np.int64), 1)


def test_sparse_values_are_checked():
    for data in (np.ones(2, np.float32), np.ones(2, int), np.ones(4)[::2], np.ones((1, 2))):
        with pytest.raises(REFUSED):
            sparse().append(ints(0, 2), ints(0, 1), data)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(
    "kernel",
    [{"code": -1}, {"code": 5}, {"degree": 0}, {"degree": -3}, {"code": 1.5}, {"code": None}],
)
def test_kernels_are_checked(form, kernel):
    with pytest.raises(REFUSED):
        store(form, np.float64, 3, **kernel)
    with pytest.raises(REFUSED):
        DenseCentres64(0, 1.0, 0.0, 1, 1, -1)
    with pytest.raises(REFUSED):
        DenseCentres64(0, 1.0, 0.0, 1, -1, 1)


def block(n=3, outputs=2, steps=4, dtype=np.float64):
    """Return arguments that run_block accepts."""
    return {
        "gram": np.eye(n, dtype=dtype),
        "scores": np.zeros((outputs, n)),
        "change": np.zeros((outputs, n)),
        "weighted": np.zeros((outputs, n)),
        "norm": np.zeros(outputs),
        "objective": np.zeros((outputs, steps)),
        "first_step": 1,
        "harmonic": 0.0,
        "label": np.zeros(steps, np.int32),
        "target": np.ones((steps, outputs)),
        "label_weight": np.ones(steps),
        "u": np.zeros(steps, np.int32),
        "v": np.ones(steps, np.int32),
        "edge_weight": np.ones(steps),
        "C": np.ones(outputs),
        "C_graph": np.ones(outputs),
        "loss": 0,
        "parameter": 0.0,
        "p": 1.0,
        "implicit": False,
        "n_threads": 1,
    }


ARRAYS = [name for name, value in block().items() if isinstance(value, np.ndarray)]
RESULTS = ("scores", "change", "weighted", "norm", "objective")


@precisions
def test_a_block_that_is_right(dtype):
    assert run_block(**block(dtype=dtype)) is True
    empty = block(steps=0, dtype=dtype)
    assert run_block(**empty) is True and not empty["change"].any()


EVERY_LOSS = [Hinge(), SmoothHinge(0.5), Logistic(), L1(), EpsilonInsensitive(0.5)]


@pytest.mark.parametrize("loss", EVERY_LOSS, ids=repr)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_an_explicit_step_is_the_losses_gradient_at_kinks_too(loss, y):
    for f in (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5):
        step = block(steps=1) | {"first_step": 2, "loss": loss.native_code}
        step |= {"parameter": loss.parameter, "target": np.full((1, 2), y)}
        step["scores"] = np.full_like(step["scores"], 2 * f)  # W_2 = 2 w_2
        step["u"] = np.array([-1], np.int32)
        assert run_block(**step)
        expected = -2 * 2 * loss.gradient(np.array([y]), np.array([f]))
        np.testing.assert_allclose(step["change"][:, 0], expected[0], rtol=1e-14, atol=0)


@pytest.mark.parametrize("name", ARRAYS)
def test_block_shapes_are_checked(name):
    good = block()[name]
    for axis in range(good.ndim):
        for size in (0, good.shape[axis] + 1):
            shape = [*good.shape[:axis], size, *good.shape[axis + 1 :]]
            with pytest.raises(REFUSED):
                run_block(**block() | {name: np.zeros(shape, good.dtype)})
    with pytest.raises(REFUSED):
        run_block(**block() | {name: good[None]})


@pytest.mark.parametrize("name", ARRAYS)
def test_block_types_are_checked(name):
    good = block()[name]
    others = {np.float32, np.float64, np.int32, np.int64, np.complex128, object} - {good.dtype.type}
    if name == "gram":
        others -= {np.float32}
    for dtype in others:
        with pytest.raises(REFUSED):
            run_block(**block() | {name: good.astype(dtype)})
    with pytest.raises(REFUSED):
        run_block(**block() | {name: np.repeat(good, 2, axis=-1)[..., ::2]})
    for other in (None, good.tolist()):
        with pytest.raises(REFUSED):
            run_block(**block() | {name: other})


@pytest.mark.parametrize("name", RESULTS)
def test_block_results_must_be_writeable(name):
    with pytest.raises(REFUSED):
        run_block(**block() | {name: read_only(block()[name])})


@pytest.mark.parametrize(
    "change",
    [
        {"label": ints(0, 1, 2, 3)},
        {"label": ints(0, 1, 2, -1)},
        {"u": ints(0, 0, 0, 3)},
        {"u": ints(0, 0, 0, -2)},
        {"v": ints(1, 1, 1, 3)},
        {"v": ints(1, 1, 1, -1)},
        {"loss": -1},
        {"loss": 5},
        {"p": 0.5},
        {"p": math.nan},
        {"first_step": 0},
        {"first_step": -(2**40)},
        {"n_threads": -1},
        {"implicit": None},
    ],
)
@pytest.mark.parametrize("implicit", [False, True])
def test_block_numbers_are_checked(change, implicit):
    with pytest.raises(REFUSED):
        run_block(**block() | {"implicit": implicit} | change)


def test_a_skipped_edge_needs_no_second_end():
    skipped = block() | {"u": np.full(4, -1, np.int32), "v": np.full(4, 99, np.int32)}
    assert run_block(**skipped) is True


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_scores_that_are_not_finite_are_reported(bad):
    broken = block() | {"first_step": 2}
    broken["scores"][1, 0] = bad
    assert run_block(**broken) is False


# ---------------------------------------------------------------- threads

needs_two_cores = pytest.mark.skipif(
    not hasattr(time, "thread_time") or (os.cpu_count() or 1) < 2, reason="needs two cores"
)


def child(code, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )


SHARES = """
    import sys, time
    import numpy as np
    sys.path.insert(0, sys.argv[1])
    from test_native import arrays, store

    form = sys.argv[2]
    rows = np.random.default_rng(1).normal(size=(3000, 10))
    centres = store(form, np.float64, 10, gamma=0.1)
    centres.append(*arrays(form, rows))

    def share_of_helpers(n_queries, threads, times):
        queries, out = arrays(form, rows[:n_queries]), np.zeros((n_queries, 1))
        process, own = time.process_time(), time.thread_time()
        for _ in range(times):
            centres.product(*queries, out, threads)
        process, own = time.process_time() - process, time.thread_time() - own
        return 1 - own / process

    print(max(share_of_helpers(3000, 2, 1) for _ in range(5)))
    print(min(share_of_helpers(3000, 1, 2) for _ in range(5)))
    print(min(share_of_helpers(20, 2, 200) for _ in range(5)))
"""


@pytest.mark.long
@needs_two_cores
@forms
def test_threads_are_used_for_large_products_only(form):
    """CPU time of a process beyond that of its one thread of Python is the helpers'."""
    run = child(SHARES, os.path.dirname(__file__), form)
    assert run.returncode == 0, run.stderr
    large, one_thread, small = map(float, run.stdout.split())
    assert large > 0.1
    assert one_thread < 0.05
    assert small < 0.05


# ---------------------------------------------------------------- instruction sets

WORK = """
    import json, sys
    import numpy as np
    from scipy.sparse import csr_array
    from graphkm.backends import instruction_set
    from graphkm.expansion import KernelExpansion
    from graphkm.kernels import Cosine, Laplacian, Linear, Polynomial, SquaredExponential
    from graphkm.baselines.smo import DualSolver, DualTerms
    sys.path.insert(0, sys.argv[1])
    from oracles import make_case

    def narrow(X):  # int32 indices, as estimators hand them on
        rows = csr_array(X)
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        return rows

    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 11)) * (rng.random((150, 11)) < 0.7)
    a = rng.normal(size=(150, 3))
    found = {"isa": instruction_set()}
    for dtype in ("float32", "float64"):
        for kernel in (SquaredExponential(gamma=0.1), Linear(), Laplacian(gamma=0.1), Cosine(),
                       Polynomial(degree=3, gamma=0.1, coef0=1.0)):
            for rows in (X, csr_array(X)):
                f = KernelExpansion(kernel, rows, 3, dtype=dtype)
                f.set(np.arange(150), a)
                name = f"{dtype} {kernel.name} {type(rows).__name__}"
                found[name] = f.scores(rows[:77]).tolist()
        case = make_case("logistic", 1.5, "knn")
        solution = case.run(np.random.SeedSequence(0), 300, dtype=dtype)
        found[f"{dtype} solve"] = case.full(solution).tolist()
        terms = DualTerms.hinge(np.sign(a[:, 0]), np.full(150, 2.0))
        for rows in (X, narrow(X)):
            dual = DualSolver(SquaredExponential(gamma=0.1), rows, dtype=dtype)
            name = f"{dtype} dual {type(rows).__name__}"
            found[name] = dual.solve(terms, tol=1e-9).scores.tolist()
    print(json.dumps(found))
"""


def others():
    """Return the instruction sets this machine has besides the one in use."""
    return [name for name in instruction_sets() if name != instruction_set()]


def computed(isa):
    run = child(WORK, os.path.dirname(__file__), GRAPHKM_ISA=isa)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found.pop("isa") == isa
    return found


@pytest.fixture(scope="module")
def by_default():
    return computed(instruction_set())


def test_there_is_one_to_compare_with():
    assert instruction_sets()[-1] == "portable"
    assert instruction_set() in instruction_sets()
    if "GRAPHKM_ISA" not in os.environ and platform.machine().lower() in ("aarch64", "arm64"):
        assert instruction_set() == "neon"


@pytest.mark.long
@pytest.mark.parametrize("isa", others())
def test_instruction_sets_agree(isa, by_default):
    other = computed(isa)
    assert other.keys() == by_default.keys()
    for name, expected in by_default.items():
        expected = np.array(expected)
        tolerance = 2e-5 if name.startswith("float32") else 1e-12
        np.testing.assert_allclose(
            other[name], expected, rtol=0, atol=tolerance * np.abs(expected).max(), err_msg=name
        )


@pytest.mark.parametrize("isa", ["sse9", "avx2" if ON_ARM else "neon"])
def test_an_unknown_instruction_set_is_an_error(isa):
    code = """
        import numpy as np
        from graphkm import _native
        for call in (_native.instruction_set,
                     lambda: _native.DenseCentres32(0, 1.0, 0.0, 1, 1, 1),
                     lambda: _native.SparseCentres64(0, 1.0, 0.0, 1, 1, 1)):
            try:
                call()
            except RuntimeError as error:
                print(error)
    """
    run = child(code, GRAPHKM_ISA=isa)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert f"GRAPHKM_ISA={isa}" in line and "portable" in line


def test_an_empty_wish_is_none():
    run = child("from graphkm._native import instruction_set as i; print(i())", GRAPHKM_ISA="")
    assert run.stdout.strip() in {"avx512", "avx2", "neon", "portable"}, run.stderr


# ---------------------------------------------------------------- Ctrl-C

LONG = """
    import sys, threading, time
    import numpy as np
    from scipy.sparse import csr_array
    from graphkm import _native

    form, threads = sys.argv[1], int(sys.argv[2])
    n, d = 200_000, 20
    rows = np.random.default_rng(0).random((n, d), np.float32)
    if form == "dense":
        store, arrays = _native.DenseCentres32(0, 1.0, 0.0, 1, d, 1), (rows,)
    else:
        s = csr_array(rows)
        store = _native.SparseCentres32(0, 1.0, 0.0, 1, d, 1)
        arrays = s.indptr.astype(np.int32), s.indices.astype(np.int32), s.data
    store.append(*arrays)
    store.set(np.arange(n), np.ones((n, 1)))
    out = np.zeros((n, 1))

    def announce():
        while not out[0, 0]:  # the first rows are there: the loop is at work
            time.sleep(0.001)
        print("working", flush=True)

    threading.Thread(target=announce, daemon=True).start()
    try:
        store.product(*arrays, out, threads)
    except KeyboardInterrupt:
        print("interrupted", np.count_nonzero(out) / n, flush=True)
    # The store and the interpreter are still well.
    few = np.zeros((1, 1))
    head = (rows[:1],) if form == "dense" else (arrays[0][:2], arrays[1][:d], arrays[2][:d])
    store.product(*head, few, threads)
    print("well" if few[0, 0] > 0 else "ill", flush=True)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("threads", [1, 2])
@forms
@pytest.mark.xdist_group("signals")
def test_ctrl_c_stops_a_product(form, threads):
    """The whole product is 4e10 kernel values, a minute of work or more."""
    command = [sys.executable, "-c", textwrap.dedent(LONG), form, str(threads)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        try:
            assert run.stdout.readline() == "working\n"
            run.send_signal(signal.SIGINT)
            output, errors = run.communicate()
        finally:
            run.kill()
    word, fraction, health = output.split()
    assert (word, health) == ("interrupted", "well"), errors
    assert 0 < float(fraction) < 0.5
