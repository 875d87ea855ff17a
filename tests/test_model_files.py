"""Model files: every estimator comes back with the same bits, and nothing else comes in."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import MISSING, dataclass, fields

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, StandardScaler

from graphkm import (
    KNN,
    SGD,
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    Newton,
    Sums,
)
from graphkm._util.parts import Part
from graphkm.baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from graphkm.exchange import ModelFileError, codec, load_model, read_note, save_model
from graphkm.exchange.container import write_container
from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from graphkm.kernels import Linear, Polynomial, SquaredExponential
from graphkm.losses import Hinge, SmoothHinge
from graphkm.online import CheckpointError, train
from graphkm.smoothness import IteratedLaplacian, Power
from graphkm.theory import Guarantee

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4)) + 3.0
SPARSE = csr_matrix(np.where(np.abs(X - 3) > 0.6, X, 0))
TRUTH = (X[:, 0] + X[:, 1] > 6).astype(int)
SHOWN = np.arange(90) % 4 == 0
TWO = np.where(SHOWN, TRUTH, -1)
THREE = np.where(SHOWN, np.digitize(X[:, 0], [2.5, 3.5]), -1)
REAL = np.where(SHOWN, X[:, 0] * 2 + 5, np.nan)


def again(model, path):
    save_model(model, path)
    return load_model(path)


def assert_same_bits(model, loaded, rows=X):
    assert type(loaded) is type(model)
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            one, two = getattr(model, method)(rows), getattr(loaded, method)(rows)
            assert one.dtype == two.dtype
            assert one.tobytes() == two.tobytes()


# ---------------------------------------------------------------- everything comes back


MODELS = {
    "newton": (GKMClassifier(random_state=0), TWO),
    "sgd": (GKMClassifier(solver="sgd", random_state=0, fit_intercept=True), TWO),
    "three": (GKMClassifier(random_state=0, loss="logistic"), THREE),
    "budget": (GKMClassifier(solver=SGD(budget=10), random_state=0), TWO),
    "kernel": (GKMClassifier(kernel=Polynomial(2, 0.1, 1.0), class_weight={0: 2.0, 1: 0.5}), TWO),
    "double": (GKMClassifier(precision="double", kernel="laplacian", n_jobs=1), THREE),
    "smooth": (
        GKMClassifier(kernel=SquaredExponential(0.3, 2.0), loss=SmoothHinge(0.3), solver="sgd"),
        TWO,
    ),
    "regressor": (GKMRegressor(random_state=0), REAL),
    "regressor sgd": (GKMRegressor(solver="sgd", random_state=0, unlabeled=-1.0), REAL),
    "classifier cv": (GKMClassifierCV(Cs=np.array([1.0, 10.0]), graphs=[(5, 1)]), TWO),
    "regressor cv": (GKMRegressorCV(Cs=(1.0, 10.0), gammas=["spread", 0.3]), REAL),
    "laplacian": (LaplacianSVC(fit_intercept=True), THREE),
    "laplacian cg": (LaplacianSVC(solver="cg", precision="single"), TWO),
    "laplacian regressor": (LaplacianRegressor(), REAL),
    "transductive": (TransductiveSVC(), TWO),
    "ridge": (KernelRidgeClassifierCV(), THREE),  # -1 is a class
    "ridge landmarks": (KernelRidgeClassifierCV(n_landmarks=20, random_state=0), TRUTH),
    "ridge regressor": (KernelRidgeCV(kernel="laplacian"), X[:, 0] * 2 + 5),
}


@pytest.mark.long
@pytest.mark.parametrize("rows", [X, SPARSE, np.asfortranarray(X, np.float32)])
@pytest.mark.parametrize("name", MODELS)
def test_every_estimator_comes_back(tmp_path, name, rows):
    model, y = MODELS[name]
    model = clone(model).fit(rows, y)
    loaded = again(model, tmp_path / "a")
    for given in (rows, X, SPARSE):
        assert_same_bits(model, loaded, given)
    for key, value in loaded.get_params().items():
        np.testing.assert_array_equal(value, model.get_params()[key])
    for key in ("dual_coef_", "intercept_", "support_", "objective_", "C_", "n_iter_", "kernel_"):
        if hasattr(model, key):
            np.testing.assert_array_equal(getattr(loaded, key), getattr(model, key))
    if hasattr(model, "transduction_"):  # ridge machines have no unlabelled rows
        np.testing.assert_array_equal(loaded.transduction_, model.transduction_)
    save_model(loaded, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.long
@pytest.mark.parametrize(
    "names",
    [
        ["nein", "ja", "weiß nicht ✓"],
        np.array(["a", "b", "c"], dtype=object),
        [10, 20, 2**60],
        np.array([1, 2, 3], np.uint8),
        [1.0, 2.0, 5.0],
        [False, True],
    ],
)
def test_labels_keep_their_type(tmp_path, names):
    names = np.array(names)
    y = np.full(90, None, dtype=object)
    y[SHOWN] = names[np.where(len(names) == 2, TWO, THREE)[SHOWN]]
    model = GKMClassifier(random_state=0, unlabeled=None).fit(X, y)
    loaded = again(model, tmp_path / "a")
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_a_search_still_tells_what_it_chose(tmp_path):
    search = GKMClassifierCV(random_state=0).fit(X, TWO)
    loaded = again(search, tmp_path / "a")
    for name in ("best_params_", "best_index_", "best_score_", "unlabeled_gain_", "n_iter_"):
        assert getattr(loaded, name) == getattr(search, name)
    assert loaded.cv_results_.keys() == search.cv_results_.keys()
    for name, values in search.cv_results_.items():
        np.testing.assert_array_equal(loaded.cv_results_[name], values)


def test_a_precomputed_kernel_keeps_its_columns(tmp_path):
    K = X @ X.T
    model = GKMClassifier(kernel="precomputed", C_graph=0).fit(K, TWO)
    assert_same_bits(model, again(model, tmp_path / "a"), K[:7])


@pytest.mark.dear
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(clip=True), MaxAbsScaler()])
def test_scaling_travels_with_the_model(tmp_path, scaler):
    model = make_pipeline("passthrough", clone(scaler), GKMClassifier(random_state=0)).fit(X, TWO)
    loaded = again(model, tmp_path / "a")
    assert_same_bits(model, loaded)
    assert [name for name, _ in loaded.steps] == [name for name, _ in model.steps]
    plain = make_pipeline(StandardScaler(with_mean=False), GKMRegressor()).fit(SPARSE, REAL)
    assert_same_bits(plain, again(plain, tmp_path / "b"), SPARSE)


def test_names_of_columns_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(StandardScaler(), GKMClassifier()).fit(frame, TWO)
    loaded = again(model, tmp_path / "a")
    assert loaded.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "z"}))


def test_a_stream_goes_on(tmp_path):
    for rows in (X, csr_array(SPARSE)):
        model = GKMClassifier(random_state=0).partial_fit(rows[:40], TWO[:40], classes=[0, 1])
        loaded = again(model, tmp_path / "a")
        for each in (model, loaded):
            each.partial_fit(rows[40:], TWO[40:])
        assert_same_bits(model, loaded, rows)


def test_one_format_for_all_ways_to_write_it(tmp_path):
    path = tmp_path / "a"
    model = train([(X, TWO)], GKMClassifier(random_state=0), classes=[0, 1], checkpoint=path)
    assert_same_bits(model, load_model(path))
    assert read_note(path) == {"rows": 90}
    save_model(model.fit(X, TWO), tmp_path / "b")
    assert_same_bits(model, load_model(tmp_path / "b"))
    assert read_note(tmp_path / "b") == {}
    with pytest.raises(ValueError, match="made by fit"):
        train([(X, TWO)], GKMClassifier(random_state=0), checkpoint=tmp_path / "b")
    with pytest.raises(CheckpointError, match="holds a GKMClassifier, not a GKMRegressor"):
        train([(X, REAL)], GKMRegressor(random_state=0), checkpoint=path)


def test_notes(tmp_path):
    model = GKMClassifier(random_state=0).fit(X, TWO)
    note = {"trained": "today", "numbers": [1, 2.5, None], "deep": {"ä": True}}
    save_model(model, tmp_path / "a", note)
    assert read_note(tmp_path / "a") == note
    for wrong in ({"x": object()}, [1], {"x": b""}):
        with pytest.raises(ValueError, match="note"):
            save_model(model, tmp_path / "b", wrong)
    assert not (tmp_path / "b").exists()


# ---------------------------------------------------------------- what cannot be saved


@pytest.mark.dear
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GKMClassifier(), "not fitted; call fit"),
        (make_pipeline(StandardScaler(), GKMClassifier()), "not fitted; call fit"),
        (GKMClassifier(kernel=lambda a, b: a @ b.T), "kernel=.*cannot be saved"),
        (GKMClassifier(callback=print), r"set_params\(callback=None\)"),
        (KNeighborsClassifier(), "KNeighborsClassifier cannot be saved.*joblib"),
        (make_pipeline(PolynomialFeatures(), GKMClassifier()), "'polynomialfeatures'"),
        (make_pipeline(StandardScaler(), MinMaxScaler()), "only one with a model"),
    ],
)
def test_what_cannot_be_saved_says_what_to_do(tmp_path, model, message):
    if "not fitted" not in message:
        model = clone(model).fit(X, TWO)
    with pytest.raises(ValueError, match=message):
        save_model(model, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:Persisting input arguments took")  # on a busy machine
def test_a_cache_of_this_machine_is_not_saved(tmp_path):
    model = make_pipeline(StandardScaler(), GKMClassifier(), memory=str(tmp_path / "cache"))
    with pytest.raises(ValueError, match=r"set_params\(memory=None\)"):
        save_model(model.fit(X, TWO), tmp_path / "a")


# ---------------------------------------------------------------- what is refused


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("written") / "a"
    save_model(GKMClassifier(random_state=0).fit(csr_array(SPARSE), THREE), path)
    return path.read_bytes()


def taken_apart(content):
    size = struct.unpack_from("<Q", content, 12)[0]
    return json.loads(content[20 : 20 + size]), content[20 + size : -32]


def sealed(header, arrays, *, version=2, size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = struct.pack("<8sIQ", b"graphkm\n", version, len(text) if size is None else size)
    body = start + text + arrays
    return body + hashlib.sha256(body).digest()


def refused(path, content, message):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


@pytest.mark.long
def test_sealed_as_it_was_it_is_read(tmp_path, written):
    (tmp_path / "a").write_bytes(sealed(*taken_apart(written)))
    assert load_model(tmp_path / "a").classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 0}, "no format 0"),
        ({"version": 1}, "older version .*format 1.*fit and save"),
        ({"version": 9}, "update graphkm"),
        ({"size": 2**63}, "header of"),
        ({"size": 10**6}, "header of"),
        ({"size": 3}, "cannot be used"),
        ({"header": b"[" * 10**5}, "cannot be used"),
        ({"header": b'{"header": {}, "header": {}, "arrays": []}'}, "twice"),
        ({"header": b'{"header": {}}'}, "two parts"),
        ({"header": b'{"header": [], "arrays": []}'}, "wrong kind"),
        ({"header": b'{"header": {}, "arrays": []}', "arrays": b""}, "no model that this version"),
        ({"header": b"9" * 5000}, "cannot be used"),
    ],
)
def test_the_frame_is_checked(tmp_path, written, changes, message):
    header, arrays = taken_apart(written)
    refused(tmp_path / "a", sealed(**({"header": header, "arrays": arrays} | changes)), message)


@pytest.mark.parametrize(
    ("code", "shape", "message"),
    [
        ("<f8", [2**40, 2**40], "more than there are"),
        ("<f8", [2**63, 1], "impossible shape"),
        ("<f8", [-1], "impossible shape"),
        ("<f8", [True], "impossible shape"),
        ("<f8", [1.0], "impossible shape"),
        ("<f8", [1, 1, 1], "impossible shape"),
        ("<f8", 3, "impossible shape"),
        ("|O", [1], "unknown type"),
        ("<U0", [2**40], "unknown type"),
        ("<U4000000000", [1], "unknown type"),
        ("<M8[s]", [1], "unknown type"),
        (["f", "<f8"], [1], "unknown type"),
        ("<f8", [1], "belong to no array"),
        ("|b1", [24], "true and false"),
        ("<U1", [6], "characters"),
    ],
)
def test_arrays_are_held_against_the_file(tmp_path, code, shape, message):
    header = {"header": {}, "arrays": [["x", code, shape]]}
    refused(tmp_path / "a", sealed(header, b"\xff" * 24), message)
    twice = {"header": {}, "arrays": [["x", "<f8", [1]], ["x", "<f8", [1]]]}
    refused(tmp_path / "a", sealed(twice, bytes(16)), "names two")


@pytest.mark.parametrize(
    ("code", "last", "message"),
    [("|b1", b"\x01", "true and false"), ("<U1", b"\xff\xff\x10\x00", "characters")],
)
def test_the_last_value_of_a_type_and_the_one_behind_it(tmp_path, code, last, message):
    header = {"header": {}, "arrays": [["x", code, [1]]]}
    behind = (int.from_bytes(last, "little") + 1).to_bytes(len(last), "little")
    refused(tmp_path / "a", sealed(header, last), "no model that this version")
    refused(tmp_path / "a", sealed(header, behind), message)


def deep(value):
    for _ in range(100):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["model"], "SVC", "'SVC' is none of"),
        (["model"], "eval", "'eval' is none of"),
        (["parameters", "nonsense"], 1, "nonsense"),
        (["parameters", "n_jobs"], 10**9, "n_jobs is"),
        (["parameters", "unlabeled"], "deep", "nested too deeply"),
        (["parameters", "unlabeled"], {"object": "system", "fields": {}}, "no kernel or loss"),
        (["parameters", "unlabeled"], {"import": "os"}, "no meaning"),
        (["parameters", "kernel"], {"object": "FunctionKernel", "fields": {}}, "no kernel"),
        (
            ["parameters", "kernel"],
            {"object": "Polynomial", "fields": {"degree": 10**9}},
            "of degree 1000000000",
        ),
        (["state", "n_features_in_"], 5, "have the shape"),
        (["state", "n_features_in_"], -1, "n_features_in_ is -1"),
        (["state", "n_features_in_"], True, "n_features_in_ is True"),
        (["state", "evil"], 1, "has no evil"),
        (["state", "_X"], 1, "has no _X"),
        (["state", "f"], 1, "no function f"),
        (["state", "C_"], "x", "C_ is x"),
        (["state", "classes_"], {"array": "nowhere"}, "is missing"),
    ],
)
def test_models_are_checked(tmp_path, written, path, value, message):
    header, arrays = taken_apart(written)
    part = header["header"]["model"]
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = deep(1) if value == "deep" else value
    refused(tmp_path / "a", sealed(header, arrays), message)


@pytest.mark.parametrize(
    ("name", "new", "message"),
    [
        (".indices", lambda a: a + 4, "columns beyond"),
        (".indices", lambda a: a - 4, "columns beyond"),
        (".indices", lambda a: a * 0, "out of order, or twice"),
        (".indptr", lambda a: a[::-1], "do not follow"),
        (".indptr", lambda a: np.append(a[:-1], 2**31 - 1).astype(a.dtype), "do not follow"),
        (".data", lambda a: a * np.nan, "not all finite"),
        ("/coefficients", lambda a: a * np.inf, "not all finite"),
        ("classes_", lambda a: a[::-1], "not in order"),
        ("/rows", lambda a: a * 0, "out of order"),
        ("/rows", lambda a: a + 10**9, "out of order"),
    ],
)
def test_arrays_must_fit_together(tmp_path, written, name, new, message):
    header, content = taken_apart(written)
    arrays, first = {}, 0
    for each, code, shape in header["arrays"]:
        size = int(np.prod(shape)) * np.dtype(code).itemsize
        arrays[each] = np.frombuffer(content[first : first + size], code).reshape(shape)
        first += size
    (wanted,) = [each for each in arrays if each.endswith(name)]
    with np.errstate(invalid="ignore"):
        arrays[wanted] = new(arrays[wanted])
    write_container(tmp_path / "a", header["header"], arrays)
    with pytest.raises(ModelFileError, match=message):
        load_model(tmp_path / "a")
    del arrays[wanted]
    write_container(tmp_path / "a", header["header"], arrays)
    with pytest.raises(ModelFileError, match="missing"):
        load_model(tmp_path / "a")


# ---------------------------------------------------------------- a stream's solver


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("step", "sideways", "step must be"),
        ("graph", "epsilon", "graph must be"),
        ("p", 0.5, "p must be"),
        ("C", 0.0, "C must be"),
        ("C_graph", -1.0, "C_graph must be"),
        ("C_graph", 1, "C_graph=1"),
        ("graph_gamma", float("nan"), "graph_gamma must be"),
        ("offset", -1.0, "offset must be"),
        ("n_neighbors", 0, "n_neighbors must be"),
        ("reservoir_size", 1, "reservoir_size must be"),
        ("half_life", 0, "half_life must be"),
        ("steps_per_row", "many", "steps_per_row must be"),
        ("budget", 0, "budget must be"),
        ("n_outputs", 2, "its rows are others"),
        ("sparse", 0, "its rows are others"),
        ("loss", {"object": "L1", "fields": {}}, "loss"),
        ("kernel", {"object": "Precomputed", "fields": {}}, "no rows"),
        ("kernel", {"object": "SquaredExponential", "fields": {}}, "its kernel is"),
        ("dtype", None, "precision"),
        ("evil", 1.0, "other settings"),
    ],
)
def test_the_settings_of_a_stream_are_checked(tmp_path, name, value, message):
    refused_with(tmp_path, SGD(), "solver", name, value, message)


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("solver", "C", 0.0, "C must be"),
        ("solver", "classes", False, "another kind"),
        ("solver", "offset", -1.0, "offset must be"),
        ("solver", "offset", 1, "its offset is 1"),
        ("solver", "n_landmarks", 1, "n_landmarks must be"),
        ("solver", "n_landmarks", 2**17, "many landmarks"),
        ("solver", "n_landmarks", 6, "do not add up"),
        ("solver", "half_life", 0, "half_life must be"),
        ("solver", "n_outputs", 2, "its rows are others"),
        ("solver", "kernel", {"object": "Precomputed", "fields": {}}, "no rows"),
        ("solver", "dtype", None, "precision"),
        ("solver", "evil", 1.0, "evil"),
        ("numbers", "n_rows", 10**6, "do not add up"),
        ("numbers", "n_labels", 3, "do not add up"),
        ("numbers", "next", 0, "do not add up"),
        ("numbers", "clock", 10**6, "do not add up"),
        ("numbers", "clock", -1, "it has counted -1"),
        ("numbers", "due", 0, "do not add up"),
        ("numbers", "due", 2.5, "it has counted 2.5"),
        ("numbers", "C", None, "C must be"),
        ("numbers", "C", -1.0, "C must be"),
        ("numbers", "C", float("nan"), "C must be"),
        ("numbers", "shuffle", "many", "it has counted many"),
        ("numbers", "begun", 1, "does not tell"),
        ("numbers", "begun", False, "do not add up"),
        ("numbers", "filled", [0, 0], "out of order"),
        ("numbers", "weights", [1.0], "its weights are"),
        ("numbers", "counts", [1.0, float("inf")], "its counts are"),
    ],
)
def test_a_stream_of_sums_is_checked(tmp_path, part, name, value, message):
    refused_with(tmp_path, Sums(7), part, name, value, message)


def refused_with(tmp_path, solver, part, name, value, message):
    """Change one setting in the file of a stream, and expect that it is refused."""
    model = GKMClassifier(solver=solver, random_state=0).partial_fit(X, TWO, classes=[0, 1])
    save_model(model, tmp_path / "a")
    header, arrays = taken_apart((tmp_path / "a").read_bytes())
    stream = dict(header["header"]["model"]["state"]["stream"]["dict"])
    settings = stream[part]["dict"]
    if name == "evil":
        settings.append([name, value])
    for pair in settings:
        if pair[0] == name:
            pair[1] = value
    refused(tmp_path / "b", sealed(header, arrays), message)


# ---------------------------------------------------------------- parts


PARTS = [Power(1.5), Power(normalized=False), IteratedLaplacian(), IteratedLaplacian(3)]
PARTS += [SquaredExponential(0.3, 2.0), SquaredExponential(), Polynomial(2, 0.1, 1.0), Linear()]
PARTS += [Hinge(), SmoothHinge(0.3), Guarantee.for_estimator(1.0, 0.1, 5, 2, 1.0, 1.0)]


def every_part():
    """Return the parts that can be made without parameters, by looking at the public modules."""
    known = [cls for cls in codec.OBJECTS.values() if issubclass(cls, Part)]
    return [cls() for cls in known if all(f.default is not MISSING for f in fields(cls))]


@pytest.mark.parametrize("part", [*PARTS, *every_part()], ids=repr)
def test_parts_come_back(part):
    coded = json.loads(json.dumps(codec.Encoder({}).encode("part", part)))
    assert codec.Decoder({}, {}).decode(coded) == part
    assert repr(codec.Decoder({}, {}).decode(coded)) == repr(part)


def test_the_table_of_parts_holds_no_code_and_no_base_classes():
    assert {"Power", "IteratedLaplacian", "Hinge", "Linear", "Precomputed"} <= set(codec.OBJECTS)
    assert not {"FunctionKernel", "Part", "Kernel", "Loss", "Smoothness"} & set(codec.OBJECTS)


@dataclass(frozen=True)
class Record:
    """What a plan may be: parts, numbers and texts."""

    smoothness: Power
    C: float
    why: str


def test_a_record_of_parts_comes_back(monkeypatch):
    record = Record(Power(1.5), 2.0, "few labels")
    with pytest.raises(ValueError, match="cannot be saved"):
        codec.Encoder({}).encode("record", record)
    monkeypatch.setitem(codec.OBJECTS, "Record", Record)
    coded = codec.Encoder({}).encode("record", record)
    assert codec.Decoder({}, {}).decode(coded) == record


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("Power", {"p": 0.5}, "p must be"),
        ("Power", {"p": "2"}, "p must be"),
        ("Power", {"normalized": "yes"}, "normalized must be"),
        ("Power", {"p": [2]}, "cannot hold"),
        ("Power", {"evil": 1}, "evil"),
        ("IteratedLaplacian", {"degree": 0}, "degree must be"),
        ("Part", {}, "other part"),
        ("Kernel", {}, "other part"),
        (["Power"], {}, "should"),
    ],
)
def test_parts_check_their_values(tmp_path, written, name, values, message):
    header, arrays = taken_apart(written)
    part = {"object": name, "fields": values}
    header["header"]["model"]["parameters"]["unlabeled"] = part
    refused(tmp_path / "a", sealed(header, arrays), message)


def test_a_scaler_alone_is_not_a_model(tmp_path):
    state = {"n_features_in_": 1, "mean_": None, "var_": None, "scale_": None}
    scaler = {"model": "StandardScaler", "parameters": {}, "state": state}
    header = {"header": {"model": scaler, "note": {}}, "arrays": []}
    refused(tmp_path / "a", sealed(header, b""), "it is a StandardScaler")


def test_other_files_are_no_notes(tmp_path):
    write_container(tmp_path / "a", {}, {})
    with pytest.raises(ModelFileError, match="no note"):
        read_note(tmp_path / "a")


@pytest.mark.parametrize("name", ["search", "pipeline"])
def test_an_estimator_inside_a_search_comes_back(name, tmp_path):
    """The search's own parameter is an estimator that nobody has fitted."""
    inner = GKMClassifier(graph=KNN(n_neighbors=4), solver=Newton(tol=1e-5), loss="logistic")
    model = GKMClassifierCV(inner, Cs=[1.0], C_graphs=[10.0], random_state=0)
    model = make_pipeline(StandardScaler(), model) if name == "pipeline" else model
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.where(np.arange(40) < 12, X[:, 0] > 0, -1)
    model.fit(X, y)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    found = again[-1] if name == "pipeline" else again
    assert found.estimator.get_params() == inner.get_params()
    assert repr(found.best_estimator_.plan_).startswith("Plan for 40 rows, 12 of them labelled")
    assert not hasattr(found.estimator, "n_features_in_")
