"""Texts as vectors and as words."""

from __future__ import annotations

import importlib.util
import pickle
import re
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import tiny_models
from graphkm.embed import ImageEmbedder, TextEmbedder, Words, texts, word_pieces
from graphkm.embed.encoder import MissingModelError
from graphkm.embed.reading import LONGEST, as_texts

TEXTS = [
    "A red cat.",
    "blue dogs bark",
    "Zahlung fehlgeschlagen",
    "😀👍",
    "שלום עולם",
    "the 7 of us",
]


def by_hand(text):
    """Return the mean vector of a text's pieces, piece by piece in double precision."""
    from tokenizers import Tokenizer

    folder = Path(importlib.util.find_spec("wordllama").origin).parent
    (tokenizer,) = folder.glob("tokenizers/*.json")
    (weights,) = folder.glob("weights/*.safetensors")
    raw = weights.read_bytes()
    table = np.frombuffer(raw[-32000 * 256 * 2 :], np.float16).reshape(32000, 256)
    pieces = Tokenizer.from_file(str(tokenizer)).encode(text, add_special_tokens=False).ids
    total = np.zeros(256)
    for piece in pieces:
        total += table[piece].astype(float)
    return total / np.linalg.norm(total)


# ------------------------------------------------------------------ the default


@pytest.mark.long
def test_vectors_are_means_of_pieces():
    rows = TextEmbedder(cache=None).fit_transform(TEXTS)
    assert rows.dtype == np.float32 and rows.shape == (len(TEXTS), 256)
    np.testing.assert_allclose(rows, [by_hand(text) for text in TEXTS], atol=1e-6)


def test_a_vector_does_not_depend_on_the_other_texts():
    embedder = TextEmbedder(cache=None, batch_size=2).fit(TEXTS)
    rows = embedder.transform(TEXTS)
    for text, row in zip(TEXTS, rows, strict=True):
        np.testing.assert_array_equal(embedder.transform([text])[0], row)
    np.testing.assert_array_equal(embedder.transform(TEXTS[::-1])[::-1], rows)


def test_no_code_of_the_package_runs():
    TextEmbedder(cache=None).fit_transform(["a"])
    assert "wordllama" not in sys.modules


def test_long_texts_count_by_their_beginning():
    embedder = TextEmbedder(cache=None).fit(TEXTS)
    long = "many words here " * 70_000
    assert len(long) > 1_000_000
    np.testing.assert_array_equal(*embedder.transform([long, long[:LONGEST]]))


@pytest.mark.parametrize("empty", ["", "  \n\t", None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_empty_and_missing_texts_are_rows_of_zeros(empty):
    rows = TextEmbedder(cache=None).fit_transform(["a cat", empty])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0], atol=1e-6)


def test_only_empty_texts_and_no_texts():
    embedder = TextEmbedder(cache=None).fit(["", None])
    assert not embedder.transform(["", None]).any()
    assert embedder.transform([]).shape == (0, 256)


def test_halves_of_surrogate_pairs():
    assert np.isfinite(TextEmbedder(cache=None).fit_transform(["a \ud83d b"])).all()


@pytest.mark.parametrize(
    "wrap",
    [
        tuple,
        np.array,
        lambda x: np.array(x, dtype=object),
        lambda x: np.array(x, dtype=object)[:, None],
        pd.Series,
        lambda x: pd.Series(x, index=range(5, 5 + len(x)), dtype="category"),
        lambda x: pd.DataFrame({"text": x}),
        lambda x: pl.Series(x),
        lambda x: pl.DataFrame({"text": x}),
        iter,
    ],
)
def test_containers_of_texts(wrap):
    assert as_texts(wrap(TEXTS)) == TEXTS


def test_masked_texts_are_missing():
    assert as_texts(np.ma.array(["a", "b"], mask=[False, True])) == ["a", ""]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (["a", 3], "Row 1 is not a text but an int: 3"),
        (["a", "b", b"c"], "Row 2 is not a text but a bytes: b'c'. Decode it"),
        (["a", ["b"]], r"Row 1 is not a text but a list: \['b'\]"),
        ("a cat", "Give a list of texts, not one text"),
        (7, "Give a list of texts, not int"),
        (None, "Give a list of texts, not NoneType"),
        (np.array([1.5, 2.0]), "Row 0 is not a text but a float: 1.5"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), r"one column, but these have the shape \(1, 2\)"),
    ],
)
@pytest.mark.parametrize("kind", [TextEmbedder, Words])
def test_what_is_no_text_is_named(kind, X, words):
    with pytest.raises((TypeError, ValueError), match=words):
        kind().fit(X)


@pytest.mark.parametrize("hidden", ["wordllama", "tokenizers"])
def test_without_the_extra(monkeypatch, hidden):
    word_pieces._loaded.cache_clear()
    monkeypatch.setitem(sys.modules, hidden, None)
    with pytest.raises(ImportError, match=re.escape('pip install "graphkm[text]"')):
        TextEmbedder().fit(["a"])


@pytest.mark.parametrize("name", ["weights/l2_supercat_256.safetensors", None])
def test_other_weights_are_refused(monkeypatch, tmp_path, name):
    real = Path(importlib.util.find_spec("wordllama").origin).parent
    for path in (*real.glob("weights/*"), *real.glob("tokenizers/*.json")):
        copy = tmp_path / path.relative_to(real)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(word_pieces, "_folder", lambda: tmp_path)
    before = TextEmbedder(cache=None).fit(["a"]).hash_
    if name is None:  # as newer releases have it
        tokenizer = tmp_path / "tokenizers" / "l2_supercat_tokenizer_config.json"
        tokenizer.write_bytes(tokenizer.read_bytes() + b"\n")
        assert TextEmbedder(cache=None).fit(["a"]).hash_ == before
        return
    raw = bytearray((tmp_path / name).read_bytes())
    raw[-1] ^= 1
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(MissingModelError, match="is not the file that this version knows"):
        TextEmbedder(cache=None).fit(["a"])
    (tmp_path / name).unlink()
    with pytest.raises(MissingModelError, match="is missing from the package wordllama"):
        TextEmbedder(cache=None).fit(["a"])


# ------------------------------------------------------------------ conventions


@pytest.mark.parametrize(
    "made", [TextEmbedder(), Words(), ImageEmbedder(), TextEmbedder("x", batch_size=3, cache=None)]
)
def test_clones_have_the_same_parameters(made):
    assert clone(made).get_params() == made.get_params()
    with pytest.raises(NotFittedError):
        clone(made).transform(["a"])
    with pytest.raises(NotFittedError):
        clone(made).get_feature_names_out()


@pytest.mark.dear
@pytest.mark.parametrize("made", [TextEmbedder(cache=None), Words()])
def test_fit_leaves_parameters_and_copies_give_the_same(made):
    embedder = clone(made)
    before = embedder.get_params()
    rows = embedder.fit_transform(TEXTS)
    assert embedder.get_params() == before
    again = pickle.loads(pickle.dumps(embedder))
    for each in (embedder, again, clone(made).fit(TEXTS)):
        difference = abs(each.transform(TEXTS) - rows)
        assert difference.max() < 1e-12
    assert len(embedder.get_feature_names_out()) == rows.shape[1] == embedder.n_features_out_
    assert len(set(embedder.get_feature_names_out())) == rows.shape[1]


def test_a_pickle_holds_no_model():
    assert len(pickle.dumps(TextEmbedder(cache=None).fit(TEXTS))) < 1000


def test_a_copy_refuses_another_model(monkeypatch):
    copy = pickle.loads(pickle.dumps(TextEmbedder(cache=None).fit(TEXTS)))
    monkeypatch.setattr(
        texts, "find_text_model", lambda model: word_pieces.Encoder("new", "h", 256, len)
    )
    with pytest.raises(ValueError, match=r"but here new has the hash h\. Bring the same model"):
        copy.transform(TEXTS)


def test_inside_a_table_and_a_pipeline():
    frame = pd.DataFrame({"text": TEXTS, "size": range(6)})
    columns = ColumnTransformer(
        [("vectors", TextEmbedder(cache=None), "text"), ("size", "passthrough", ["size"])],
        sparse_threshold=0,
    )
    assert columns.fit_transform(frame).shape == (6, 257)
    framed = make_pipeline(TextEmbedder(cache=None)).set_output(transform="pandas")
    assert framed.fit_transform(frame["text"]).columns[-1] == "vector_256"


@pytest.mark.parametrize("batch_size", [0, 1.5, None])
def test_batch_sizes_are_checked(batch_size):
    with pytest.raises(ValueError, match="batch_size must be a whole number >= 1"):
        TextEmbedder(batch_size=batch_size).fit(TEXTS)


# ------------------------------------------------------------------ functions


def test_a_function_as_a_model():
    seen = []

    def lengths(some):
        seen.append(len(some))
        return [[len(text), 1] for text in some]

    embedder = TextEmbedder(lengths, batch_size=4).fit(TEXTS)
    rows = embedder.transform([*TEXTS, ""])
    assert seen == [1, 4, 2] and embedder.hash_ is None and "lengths" in embedder.model_
    expected = np.array([[len(text), 1.0] for text in TEXTS])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(rows, [*expected, [0, 0]], atol=1e-6)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda some: np.zeros(len(some)), "one row of numbers for each"),
        (lambda some: np.zeros((1, 2)), r"shape \(1, 2\) and type float64 for 2 items"),
        (lambda some: [["a"]] * len(some), "one row of numbers for each"),
        (lambda some: np.full((len(some), 2), np.inf), "not finite"),
        (lambda some: np.ones((len(some), len(some))), "of length 2, but before of length 1"),
    ],
)
def test_wrong_answers_of_functions(answer, words):
    with pytest.raises(ValueError, match=words):
        TextEmbedder(answer).fit(["a", "b"]).transform(["a", "b"])


@pytest.mark.parametrize("model", [None, 3, "", ["auto"]])
def test_what_is_no_model(model):
    for kind, X in ((TextEmbedder, ["a"]), (ImageEmbedder, np.zeros((1, 8, 8)))):
        with pytest.raises(TypeError, match="model has to be"):
            kind(model).fit(X)


# ------------------------------------------------------------------ ONNX

LINES = ["cat", "red dog", "blue blue cat dog", "unknown"]


def pieces_of(line):
    numbers = [tiny_models.WORDS.index(w) if w in tiny_models.WORDS else 1 for w in line.split()]
    return [2, *numbers, 3]


def unit(rows):
    rows = np.asarray(rows)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "inputs", [("input_ids",), ("input_ids", "attention_mask", "token_type_ids")]
)
@pytest.mark.parametrize("batch_size", [1, 3])
def test_onnx_vectors_are_means_under_the_mask(tmp_path, inputs, batch_size):
    tiny_models.text_model(tmp_path / "tiny", inputs=inputs)
    expected = unit([tiny_models.TABLE[pieces_of(line)].mean(axis=0) for line in LINES])
    for model in (tmp_path / "tiny", tmp_path / "tiny" / "model.onnx", f"onnx:{tmp_path / 'tiny'}"):
        embedder = TextEmbedder(model, batch_size=batch_size, cache=None).fit(LINES)
        np.testing.assert_allclose(embedder.transform(LINES), expected, atol=1e-6)
        assert embedder.n_features_out_ == 3


def test_onnx_takes_the_first_piece_where_the_folder_says_so(tmp_path):
    tiny_models.text_model(tmp_path)
    mean = TextEmbedder(f"onnx:{tmp_path}").fit(LINES).hash_
    tiny_models.note(tmp_path / "1_Pooling/config.json", pooling_mode_cls_token=True)
    embedder = TextEmbedder(tmp_path, cache=None).fit(LINES)
    np.testing.assert_allclose(
        embedder.transform(LINES), unit(tiny_models.TABLE[[2] * 4]), atol=1e-6
    )
    assert embedder.hash_ != mean
    tiny_models.note(tmp_path / "1_Pooling/config.json", pooling_mode_max_tokens=True)
    with pytest.raises(MissingModelError, match="asks for pooling_mode_max_tokens"):
        TextEmbedder(tmp_path).fit(LINES)


def test_onnx_with_vectors_of_texts(tmp_path):
    tiny_models.text_model(tmp_path, pooled=True)
    rows = TextEmbedder(tmp_path, batch_size=1, cache=None).fit_transform(LINES)
    expected = unit([tiny_models.TABLE[pieces_of(line)].max(axis=0) for line in LINES])
    np.testing.assert_allclose(rows, expected, atol=1e-6)


def test_onnx_of_fixed_shape(tmp_path):
    tiny_models.text_model(tmp_path, shape=(1, 4))
    rows = TextEmbedder(tmp_path, cache=None).fit_transform(LINES)
    kept = [pieces_of(line) for line in LINES]
    kept[2] = [2, 7, 7, 3]  # cut, and the end is marked all the same
    expected = unit([tiny_models.TABLE[each].mean(axis=0) for each in kept])
    np.testing.assert_allclose(rows, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("file", "notes"),
    [
        ("sentence_bert_config.json", {"max_seq_length": 4}),
        ("tokenizer_config.json", {"model_max_length": 4}),
    ],
)
def test_onnx_texts_are_cut_where_the_folder_says_so(tmp_path, file, notes):
    tiny_models.text_model(tmp_path)
    tiny_models.note(tmp_path / file, **notes)
    rows = TextEmbedder(tmp_path, cache=None).fit_transform(["blue dog cat red", "blue dog"])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-6)


def test_long_texts_of_onnx_have_256_pieces(tmp_path):
    tiny_models.text_model(tmp_path)
    long = "cat " * 254
    rows = TextEmbedder(tmp_path, cache=None).fit_transform([long, long + "dog dog", "dog"])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-6)
    assert abs(rows[0] - rows[2]).max() > 0.1


def test_onnx_in_its_own_folder_and_by_content(tmp_path):
    tiny_models.text_model(tmp_path / "a")
    (tmp_path / "a" / "onnx").mkdir()
    (tmp_path / "a" / "model.onnx").rename(tmp_path / "a" / "onnx" / "model.onnx")
    tiny_models.text_model(tmp_path / "b")
    hashes = {TextEmbedder(tmp_path / name).fit(LINES).hash_ for name in "ab"}
    assert len(hashes) == 1
    tiny_models.text_model(tmp_path / "b", pooled=True)
    assert TextEmbedder(tmp_path / "b").fit(LINES).hash_ not in hashes


def test_broken_onnx_folders(tmp_path):
    def refused(words, place=tmp_path):
        with pytest.raises(MissingModelError, match=words):
            TextEmbedder(place, cache=None).fit(LINES)

    refused("holds no model that is known")
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    refused("no tokenizer.json beside")
    tiny_models.text_model(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    refused("onnxruntime cannot load .*model.onnx")
    tiny_models.text_model(tmp_path)
    tokenizer = (tmp_path / "tokenizer.json").read_text()
    (tmp_path / "tokenizer.json").write_text(tokenizer.replace('"blue": 7', '"blue": 70'))
    with pytest.raises(MissingModelError, match=r"onnxruntime cannot run .*its tokenizer"):
        TextEmbedder(tmp_path, cache=None).fit(["blue"])
    (tmp_path / "tokenizer.json").write_text('{"model": 3}')
    refused("tokenizer.json is no tokenizer")
    (tmp_path / "tokenizer.json").write_text("nothing")
    refused("tokenizer.json is not JSON")
    tiny_models.text_model(tmp_path, inputs=("input_ids", "pixels"))
    refused("has the inputs input_ids, pixels")
    refused("There is no folder or file", tmp_path / "elsewhere")
    refused("There is no folder or file", "./elsewhere")


def test_without_onnxruntime(tmp_path, monkeypatch):
    tiny_models.text_model(tmp_path)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match="needs onnxruntime: run pip install onnxruntime"):
        TextEmbedder(tmp_path, cache=None).fit(LINES)


# ------------------------------------------------------------------ libraries


class Model:
    """Stands in for the models of all three libraries."""

    def __init__(self, name="", model_name=""):
        if "nowhere" in name + model_name:
            raise OSError("no such model\nand pages of advice")
        self.tokenizer = types.SimpleNamespace(to_str=lambda: "pieces")
        self.embedding = np.ones((4, 2))

    def state_dict(self):
        return {"weight": np.arange(6.0), "bias": np.float32(1)}

    def encode(self, some, **_):
        return np.array([[3.0, 4.0 + len(text)] for text in some])

    def embed(self, some, batch_size):
        return iter(self.encode(some))


@pytest.fixture
def libraries(monkeypatch):
    """Hide all three libraries; return a function that brings one back."""
    parts = {
        "sentence_transformers": {"SentenceTransformer": Model},
        "model2vec": {"StaticModel": types.SimpleNamespace(from_pretrained=Model)},
        "fastembed": {"TextEmbedding": Model},
    }
    for name in parts:
        monkeypatch.setitem(sys.modules, name, None)

    def bring(name):
        module = types.ModuleType(name)
        vars(module).update(parts[name])
        monkeypatch.setitem(sys.modules, name, module)

    return bring


PACKAGES = {
    "sentence_transformers": "sentence-transformers",
    "model2vec": "model2vec",
    "fastembed": "fastembed",
}


@pytest.mark.parametrize(("module", "package"), PACKAGES.items())
def test_a_name_is_loaded_by_the_library_that_is_there(libraries, module, package):
    libraries(module)
    expected = unit([[3, 4 + len(text)] for text in TEXTS])
    for name in ("some/model", f"{package}:some/model"):
        embedder = TextEmbedder(name, cache=None).fit(TEXTS)
        np.testing.assert_allclose(embedder.transform(TEXTS), expected, atol=1e-6)
        assert embedder.model_ == f"{package}:some/model"
        assert (embedder.hash_ is None) == (package == "fastembed")
    with pytest.raises(
        MissingModelError,
        match=rf"{package} cannot load the model nowhere \(OSError: no such model\)",
    ):
        TextEmbedder("nowhere").fit(TEXTS)


def test_names_are_tried_in_order(libraries):
    libraries("fastembed")
    libraries("model2vec")
    assert TextEmbedder("some").fit(TEXTS).model_ == "model2vec:some"
    libraries("sentence_transformers")
    assert TextEmbedder("some").fit(TEXTS).model_ == "sentence-transformers:some"


def test_names_without_a_library(libraries):
    with pytest.raises(
        ImportError, match="needs one of sentence-transformers, model2vec, fastembed"
    ):
        TextEmbedder("some/model").fit(TEXTS)
    with pytest.raises(ImportError, match="run pip install fastembed"):
        TextEmbedder("fastembed:some").fit(TEXTS)


def test_folders_of_libraries(libraries, tmp_path):
    folder = tmp_path / "own"
    tiny_models.note(folder / "modules.json")
    with pytest.raises(ImportError, match="run pip install sentence-transformers"):
        TextEmbedder(folder).fit(TEXTS)
    libraries("sentence_transformers")
    first = TextEmbedder(folder, cache=None).fit(TEXTS)
    assert first.model_ == "sentence-transformers:own"
    (folder / "README.md").write_text("words")
    assert TextEmbedder(folder, cache=None).fit(TEXTS).hash_ == first.hash_
    (folder / "model.safetensors").write_bytes(b"other")
    assert TextEmbedder(folder, cache=None).fit(TEXTS).hash_ != first.hash_
    tiny_models.note(folder / "config.json", model_type="model2vec")
    libraries("model2vec")
    assert TextEmbedder(folder, cache=None).fit(TEXTS).model_ == "model2vec:own"


def test_a_folder_of_modules_that_onnx_does_not_hold(tmp_path):
    tiny_models.text_model(tmp_path)
    (tmp_path / "modules.json").write_text('[{"type": "a.Transformer"}, {"type": "a.Dense"}]')
    with pytest.raises(MissingModelError, match="has the modules Transformer, Dense"):
        TextEmbedder(f"onnx:{tmp_path}").fit(LINES)


# ------------------------------------------------------------------ words


def test_words_are_those_of_scikit_learn():
    some = [*TEXTS, "a cat and a red cat", ""]
    matrix = Words().fit_transform(some)
    usual = [
        TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True),
    ]
    expected = np.hstack([each.fit_transform(some).toarray() for each in usual]) / np.sqrt(2)
    np.testing.assert_allclose(matrix.toarray(), expected, atol=1e-12)
    assert matrix.format == "csr"
    np.testing.assert_allclose(Words().fit(some).transform(some).toarray(), expected, atol=1e-12)


def test_the_most_frequent_words_are_kept():
    words = Words(max_words=2, max_pieces=3).fit(["a b b", "b c c", "c b"])
    assert set(words.words_) == {"b", "c"} and len(words.pieces_) == 3
    assert words.n_features_out_ == words.transform(["x"]).shape[1] == 5


def test_the_state_of_words_is_plain():
    words = Words().fit(TEXTS)
    fitted = {name: value for name, value in vars(words).items() if name.endswith("_")}
    assert set(fitted) == {"words_", "word_idf_", "pieces_", "piece_idf_", "n_features_out_"}
    copy = Words()
    vars(copy).update(fitted)
    assert abs(copy.transform(TEXTS) - words.transform(TEXTS)).max() == 0


def test_texts_without_known_words():
    words = Words().fit(["red cat"])
    assert words.transform(["", None, "!", "xyz", "red"]).getnnz(axis=1).tolist()[:4] == [0] * 4
    assert Words().fit(["😀😀", "!!! ???"]).transform(["😀😀"]).nnz > 0
    assert Words().fit_transform(["!"]).shape[0] == 1


def test_texts_that_are_all_empty():
    with pytest.raises(ValueError, match="All 3 texts are empty"):
        Words().fit(["", None, "  "])


def test_words_of_long_texts():
    matrix = Words().fit_transform(["one two three " * 100_000, "two"])
    assert matrix.shape[0] == 2


@pytest.mark.parametrize("sizes", [{"max_words": 0}, {"max_pieces": "many"}])
def test_sizes_of_words_are_checked(sizes):
    with pytest.raises(ValueError, match=f"{next(iter(sizes))} must be a whole number"):
        Words(**sizes).fit(TEXTS)


def test_a_bar_shows_the_progress(capfd):
    TextEmbedder(cache=None, verbose=1, batch_size=2).fit(TEXTS).transform(TEXTS)
    assert "6/6" in capfd.readouterr().err
    TextEmbedder(cache=None).fit(TEXTS).transform(TEXTS)
    assert capfd.readouterr().err == ""
