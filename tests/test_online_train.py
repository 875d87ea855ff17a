"""`train`: the same model whatever happens on the way, killed processes included."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

import streaming_job
from graphkm import GKMClassifier, GKMRegressor, Sums
from graphkm.exchange import ModelFileError, load_model
from graphkm.online import CheckpointError, train
from streaming_job import N_CHUNKS, ROWS, chunks

JOB = Path(streaming_job.__file__)


@pytest.fixture(scope="module", params=["sgd", "sums"])
def kind(request):
    """Return the way a stream is learnt."""
    return request.param


@pytest.fixture(scope="module")
def model(kind):
    """Return what makes a model of this kind."""
    return streaming_job.by_sums if kind == "sums" else streaming_job.model


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, model):
    """Return the checkpoint of a run that nobody disturbed."""
    path = tmp_path_factory.mktemp("whole") / "a"
    train(chunks(), model(), classes=[0, 1], checkpoint=path, every=ROWS)
    return path


class StopError(Exception):
    """Ends a stream early."""


def until(last):
    for i, chunk in enumerate(chunks()):
        if i == last:
            raise StopError
        yield chunk


# ---------------------------------------------------------------- going on


@pytest.mark.long
@pytest.mark.parametrize("every", [1, 170, 10**6])
@pytest.mark.parametrize("last", [1, 7, N_CHUNKS - 1])
def test_a_run_goes_on_from_its_checkpoint(tmp_path, uninterrupted, last, every, model):
    path = tmp_path / "a"
    with pytest.raises(StopError):
        train(until(last), model(), classes=[0, 1], checkpoint=path, every=every)
    assert path.exists() == (every <= last * ROWS)
    final = train(chunks(), model(), classes=[0, 1], checkpoint=path, every=every)
    assert path.read_bytes() == uninterrupted.read_bytes()
    np.testing.assert_array_equal(final.dual_coef_, load_model(path).dual_coef_)


@pytest.mark.dear
def test_a_finished_run_is_read_and_left_alone(uninterrupted, model):
    before = uninterrupted.stat().st_mtime_ns
    final = train(chunks(), model(), checkpoint=uninterrupted)
    assert uninterrupted.stat().st_mtime_ns == before
    assert final.stream_.n_rows == N_CHUNKS * ROWS


@pytest.mark.dear
def test_it_is_partial_fit(uninterrupted, model):
    by_hand = model()
    for X, y in chunks():
        by_hand.partial_fit(X, y, classes=[0, 1])
    plain = train(chunks(), model(), classes=[0, 1])
    for other in (plain, load_model(uninterrupted)):
        np.testing.assert_array_equal(by_hand.dual_coef_, other.dual_coef_)
        np.testing.assert_array_equal(by_hand.support_vectors_, other.support_vectors_)


@pytest.mark.long
@pytest.mark.parametrize("half_life", [None, 300.0])
@pytest.mark.parametrize("size", [61, 333, 1024, 2000])  # before, at and after choices of C
@pytest.mark.parametrize("cls", [GKMRegressor, GKMClassifier])
def test_checkpoints_change_no_bit_of_a_stream_of_sums(tmp_path, half_life, size, cls):
    """To save the stream is to choose C early, with as many threads of BLAS as in the end."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    y = np.where(np.arange(2000) % 3 == 0, f if cls is GKMRegressor else f > 0, np.nan)
    parts = [(X[i : i + size], y[i : i + size]) for i in range(0, 2000, size)]
    make = partial(cls, solver=Sums(n_landmarks=300, half_life=half_life), random_state=0)
    with threadpool_limits(2):
        plain = train(parts, make())
        saved = train(parts, make(), checkpoint=tmp_path / "a", every=1)
        assert saved.C_ == plain.C_
        assert saved.dual_coef_.tobytes() == plain.dual_coef_.tobytes()
        np.testing.assert_array_equal(saved.predict(X), plain.predict(X))


def test_other_chunks_of_the_same_rows_count_once(tmp_path, uninterrupted, model):
    """A checkpoint within a chunk: the rest of the chunk is new; only rounding differs."""
    path = tmp_path / "a"
    with pytest.raises(StopError):
        train(until(7), model(), classes=[0, 1], checkpoint=path, every=1)
    X, y = (np.concatenate(part) for part in zip(*chunks(), strict=True))
    wide = [(X[i : i + 333], y[i : i + 333]) for i in range(0, len(y), 333)]
    final = train(wide, model(), classes=[0, 1], checkpoint=path)
    whole = load_model(uninterrupted)
    assert final.stream_.n_rows == len(y) and final.n_iter_ == whole.n_iter_
    np.testing.assert_allclose(final.decision_function(X), whole.decision_function(X), atol=1e-3)


def test_chunks_without_rows_and_regression(tmp_path):
    empty = (np.empty((0, 3)), np.empty(0))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    parts = [empty, (X[:40], X[:40, 0]), empty, (X[40:], X[40:, 0]), empty]
    path = tmp_path / "a"
    final = train(parts, GKMRegressor(random_state=0), checkpoint=path)
    np.testing.assert_array_equal(final.predict(X), load_model(path).predict(X))


# ---------------------------------------------------------------- what cannot go on


def test_another_stream_or_another_model_is_refused(tmp_path, uninterrupted, model, kind):
    path = tmp_path / "a"
    path.write_bytes(uninterrupted.read_bytes())
    with pytest.raises(CheckpointError, match="belongs to another stream"):
        train(list(chunks())[:5], model(), checkpoint=path)
    with pytest.raises(
        CheckpointError, match=r"written with solver__half_life=300.0.*half_life=301.0"
    ):
        train(chunks(), model(half_life=301.0), checkpoint=path)
    name, was = ("reservoir_size", 40) if kind == "sgd" else ("n_landmarks", 30)
    with pytest.raises(CheckpointError, match=rf"with solver__{name}={was}.*{name}={was + 1}"):
        train(chunks(), model(**{name: was + 1}), checkpoint=path)
    with pytest.raises(CheckpointError, match="holds a GKMClassifier"):
        train(chunks(), GKMRegressor(), checkpoint=path)
    with pytest.raises(ValueError, match="every must be"):
        train(chunks(), model(), checkpoint=path, every=0)
    assert path.read_bytes() == uninterrupted.read_bytes()


def other_rows():
    return ((X + 1e-6, y) for X, y in chunks())


def other_order():
    return reversed(list(chunks()))


def other_labels():
    return ((X, np.where(y < 0, y, 1 - y)) for X, y in chunks())


def hidden_labels():
    return ((X, np.full(ROWS, -1)) for X, _ in chunks())


def late_difference():
    """Return a stream that differs in the last chunk the checkpoint has seen."""
    return ((X + (i == 6), y) for i, (X, y) in enumerate(chunks()))


@pytest.mark.long
@pytest.mark.parametrize("storage", [np.asarray, csr_array])
@pytest.mark.parametrize(
    "other", [other_rows, other_order, other_labels, hidden_labels, late_difference]
)
def test_other_rows_of_as_many_are_refused(tmp_path, other, storage, model):
    def stored(stream):
        return ((storage(X), y) for X, y in stream)

    path = tmp_path / "a"
    with pytest.raises(StopError):
        train(stored(until(7)), model(), classes=[0, 1], checkpoint=path, every=ROWS)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match="belongs to another stream"):
        train(stored(other()), model(), checkpoint=path, every=1)
    assert path.read_bytes() == before
    train(stored(chunks()), model(), checkpoint=path)


def test_rows_learnt_before_the_stream_are_not_looked_for_in_it(tmp_path, model):
    """The checkpoint counts the stream's rows, the model also those it had learnt before."""
    path, (X, y) = tmp_path / "a", next(chunks())
    begun = model().partial_fit(X + 5, y, classes=[0, 1])
    with pytest.raises(StopError):
        train(until(7), begun, checkpoint=path, every=ROWS)
    final = train(chunks(), model(), checkpoint=path)
    assert final.stream_.n_rows == (N_CHUNKS + 1) * ROWS


def test_targets_are_compared(tmp_path):
    X = np.random.default_rng(0).normal(size=(90, 3))
    path = tmp_path / "a"
    train([(X, np.full(90, np.nan))], GKMRegressor(random_state=0), checkpoint=path)
    fresh = GKMRegressor(random_state=0)
    with pytest.raises(CheckpointError, match="belongs to another stream"):
        train([(X, X[:, 0])], fresh, checkpoint=path)
    assert (fresh.origin_, fresh.spread_) == (0.0, 1.0)  # as before any target
    train([(X, np.full(90, np.nan)), (X, 7 + X[:, 0])], fresh, checkpoint=path)
    with pytest.raises(CheckpointError, match="belongs to another stream"):
        train([(X, np.full(90, np.nan)), (X, X[:, 0])], fresh, checkpoint=path)


def test_a_damaged_checkpoint_is_not_begun_over(tmp_path, uninterrupted, model):
    path = tmp_path / "a"
    path.write_bytes(uninterrupted.read_bytes()[:-5])
    with pytest.raises(ModelFileError, match="cannot be used"):
        train(chunks(), model(), checkpoint=path)
    assert path.read_bytes() == uninterrupted.read_bytes()[:-5]


def test_a_checkpoint_that_cannot_be_written_stops_the_run(tmp_path, model):
    with pytest.raises(ModelFileError, match="folder that exists"):
        train(chunks(), model(), classes=[0, 1], checkpoint=tmp_path / "nowhere" / "a", every=1)


# ---------------------------------------------------------------- a full disk

FULL_DISK = """
    import errno, sys
    from pathlib import Path
    from graphkm.exchange import ModelFileError
    from graphkm.online import train
    import streaming_job
    from streaming_job import ROWS, chunks

    model = streaming_job.by_sums if sys.argv[3] == "sums" else streaming_job.model
    disk = Path(sys.argv[1])
    path, ballast = disk / "a", disk / "ballast"
    first = [chunk for _, chunk in zip(range(7), chunks())]
    train(first, model(), classes=[0, 1], checkpoint=path, every=ROWS)
    before = path.read_bytes()
    with open(ballast, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError as error:
            assert error.errno == errno.ENOSPC
    try:
        train(chunks(), model(), classes=[0, 1], checkpoint=path, every=ROWS)
    except ModelFileError as error:
        assert error.errno == errno.ENOSPC
        print(error)
    assert path.read_bytes() == before
    assert {p.name for p in disk.iterdir()} == {"a", "a.previous", "ballast"}
    ballast.unlink()
    train(chunks(), model(), classes=[0, 1], checkpoint=path, every=ROWS)
    assert path.read_bytes() == Path(sys.argv[2]).read_bytes()
    print("went on")
"""


def own_disk(folder, *command):
    """Return a command that runs another one with a disk of one megabyte as the folder."""
    mount = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"'
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, str(folder), *command]


def can_mount(folder):
    try:
        return subprocess.run(own_disk(folder, "true"), capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.long
def test_a_disk_that_is_full_for_a_while(tmp_path, uninterrupted, kind):
    """A real one: the checkpoint before survives, and with space again the run goes on."""
    if not can_mount(tmp_path):
        pytest.skip("mounting a disk of one's own is not allowed here")
    python = [sys.executable, "-c", textwrap.dedent(FULL_DISK)]
    python += [str(tmp_path), str(uninterrupted), kind]
    run = subprocess.run(
        own_disk(tmp_path, *python), cwd=JOB.parent, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "No space left" in run.stdout and "untouched" in run.stdout and "went on" in run.stdout


# ---------------------------------------------------------------- kill -9


def kill_until_done(path, kills, seed, kind):
    """Start the job again and again, and kill it at random moments; then let it end."""
    moments, killed = random.Random(seed), 0
    while killed < kills:
        command = [sys.executable, str(JOB), str(path), "1", "0.002", kind]
        job = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert job.stdout is not None
        job.stdout.readline()  # imports are done
        time.sleep(moments.uniform(0.0, 0.3))
        job.kill()
        job.communicate()
        if job.returncode == 0:  # it was done before; once more from the start
            path.unlink()
        else:
            killed += 1
    subprocess.run([sys.executable, str(JOB), str(path), "1", "0", kind], check=True, stdout=-3)


def assert_unharmed(path, uninterrupted):
    assert path.read_bytes() == uninterrupted.read_bytes()
    assert {p.name for p in path.parent.iterdir()} <= {"a", "a.previous"}


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.xdist_group("signals")
def test_killed_processes_leave_no_trace(tmp_path, uninterrupted, kind):
    kill_until_done(tmp_path / "a", 2, 0, kind)
    assert_unharmed(tmp_path / "a", uninterrupted)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.xdist_group("signals")
def test_many_killed_processes_leave_no_trace(tmp_path, uninterrupted, seed, kind):
    kill_until_done(tmp_path / "a", 12, seed, kind)
    assert_unharmed(tmp_path / "a", uninterrupted)
