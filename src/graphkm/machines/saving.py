"""Models as files: one format, written whole, read without running anything."""

from __future__ import annotations

import os
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from .._container import ModelFileError, read_container, write_container
from .encoding import Decoder, Encoder, Kind, Kinds, State

_DEFECTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class Saved:
    """A model that can be written to a file; subclasses say what there is to write.

    `_saved_state` returns values that `machines.encoding` knows, and `_restore_state` sets all
    that `fit` does from them, or raises if they do not fit together.
    """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model, and all that a stream needs to go on, to one file.

        The file is replaced atomically, and the one that was there stays as PATH.previous. It
        holds numbers and texts only. `graphkm.exchange.save_model` also takes pipelines.

        Parameters
        ----------
        path : path
            The file; a ModelFileError says why it could not be written.
        """
        save_model(self, path, {}, type(self)._kinds())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the model that `save` wrote: it predicts, and goes on, as that one would.

        Parameters
        ----------
        path : path
            The file; a ModelFileError says what is wrong with it.

        Returns
        -------
        model
        """
        return load_model(path, cls._kinds(), cls)[0]

    @classmethod
    def _kinds(cls) -> Kinds:
        """Return the classes that a file of this one holds."""
        return {cls.__name__: kind_of(cls)}

    def _saved_state(self) -> State:
        raise NotImplementedError

    def _restore_state(self, state: State) -> None:
        raise NotImplementedError


def kind_of(cls: type[Saved]) -> Kind:
    """Return how a class of this library is stored."""
    return Kind(cls, cls._saved_state, cls._restore_state)


def save_model(
    model: Any, path: str | os.PathLike[str], note: dict[str, Any], kinds: Kinds
) -> None:
    """Write a fitted model of one of these kinds, with a note of the caller's.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : path
        Replaced atomically; what was there stays as PATH.previous.
    note : dict
        What JSON can hold.
    kinds : dict of Kind
        The classes that may occur, by name.
    """
    check_is_fitted(model, msg="%(name)s is not fitted; call fit or partial_fit before saving it.")
    encoder = Encoder(kinds)
    header = {"model": encoder.encode("model", model), "note": note}
    write_container(path, header, encoder.arrays)


def load_model(
    path: str | os.PathLike[str], kinds: Kinds, expected: type | None = None
) -> tuple[Any, dict[str, Any]]:
    """Return the model and the note of a file; ModelFileError unless it is of this class."""
    header, arrays = read_container(path)
    try:
        stored, note = header["model"], header["note"]
        name = stored["model"]
        if expected is not None and name != expected.__name__:
            raise ModelFileError(
                f"{os.fspath(path)} holds a {name}, not a {expected.__name__}; load it with that "
                "class, or with graphkm.exchange.load_model."
            )
        decoder = Decoder(kinds, arrays)
        model = decoder.decode(stored)
        decoder.finish()
    except _DEFECTS as error:
        raise ModelFileError(
            f"{os.fspath(path)} is whole, but holds no model that this version of graphkm knows "
            f"({error}); load it with the version that wrote it."
        ) from error
    return model, note
