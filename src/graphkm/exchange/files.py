"""A fitted model as one file, with the steps that come before it."""

from __future__ import annotations

import json
import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .codec import Decoder, Encoder
from .container import ModelFileError, read_container, write_container
from .storable import KINDS, MODELS, check_storable

_DEFECTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def save_model(
    model: Any, path: str | os.PathLike[str], note: dict[str, Any] | None = None
) -> None:
    """Write a fitted model to one file, which holds numbers and texts, and no code.

    The file is written whole or not at all. The file that it replaces stays as PATH.previous. A
    model that learns by `partial_fit` can be loaded and continued.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library, or a `sklearn.pipeline.Pipeline` that ends with one.
        Before it can stand StandardScaler, MinMaxScaler, MaxAbsScaler, SimpleImputer, OneHotEncoder
        and a ColumnTransformer of them. A `SemiSupervisedClassifier` or `SemiSupervisedRegressor`
        can be saved if all models of its mixture can. Its file holds the training rows. Encoders
        of its views are saved, too: of a `TextEmbedder` or an `ImageEmbedder` the name of the model
        and its hash, by which the loaded one finds it again, and refuses another.
    path : path
        The file; a ModelFileError says why it could not be written.
    note : dict, optional
        Anything that JSON can hold, for `read_note`.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from graphkm import GKMClassifier
    >>> X, y = np.array([[0.0], [0.1], [0.9], [1.0]]), np.array(["a", "", "", "b"])
    >>> model = GKMClassifier(unlabeled="").fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.gkm", note={"trained on": "four rows"})
    ...     load_model(f"{folder}/model.gkm").predict(X).tolist()
    ...     read_note(f"{folder}/model.gkm")
    ['a', 'a', 'b', 'b']
    {'trained on': 'four rows'}
    """
    check_storable(model)
    check_is_fitted(model, msg="%(name)s is not fitted; call fit or partial_fit before saving it.")
    note = _checked_note(note)
    encoder = Encoder(KINDS)
    write_container(path, {"model": encoder.encode("model", model), "note": note}, encoder.arrays)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Return the model of a file. It predicts exactly what the saved one does, bit for bit.

    Nothing in the file is executed, so that files of unknown origin are safe to load.

    Parameters
    ----------
    path : path
        A file that `save_model` or `graphkm.online.train` wrote; a ModelFileError says what is
        wrong with it.

    Returns
    -------
    estimator
    """
    return load_with_note(path)[0]


def load_with_note(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Return the model and the note of a file. The file is read once, so it may be a pipe."""
    header, arrays = read_container(path)
    try:
        decoder = Decoder(KINDS, arrays)
        model = decoder.decode(header["model"])
        decoder.finish()
        last = model.steps[-1][1] if hasattr(model, "steps") else model
        if type(last) not in MODELS or not hasattr(last, "n_features_in_"):
            raise ValueError(f"it is a {type(model).__name__}, or not fitted")
    except _DEFECTS as error:
        raise ModelFileError(
            f"{os.fspath(path)} is whole, but holds no model that this version of graphkm knows "
            f"({error}); load it with the version that wrote it."
        ) from error
    return model, _note(path, header)


def read_note(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the note that was saved with a model, empty if there was none.

    Parameters
    ----------
    path : path
        As in `load_model`.

    Returns
    -------
    dict
    """
    return _note(path, read_container(path)[0])


def _note(path: str | os.PathLike[str], header: dict[str, Any]) -> dict[str, Any]:
    note = header.get("note")
    if not isinstance(note, dict):
        raise ModelFileError(f"{os.fspath(path)} is not a graphkm model: it has no note.")
    return note


def _checked_note(note: dict[str, Any] | None) -> dict[str, Any]:
    try:
        kept = json.loads(json.dumps({} if note is None else note))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"note={note!r} cannot be saved as JSON: {error}.") from error
    if not isinstance(kept, dict):
        raise ValueError(f"note must be a dict or None, got {note!r}.")
    return kept
