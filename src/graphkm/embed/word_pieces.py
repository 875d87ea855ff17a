"""The embedded default for texts: vectors of word pieces inside the wheel of wordllama.

The wheel (MIT licence) holds a table of 32,000 vectors and a tokenizer. Both are read as data:
their hashes are checked, and wordllama itself is never imported.
"""

from __future__ import annotations

import importlib.util
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .encoder import Encoder, MissingModelError, digest, file_digest, needed
from .reading import LONGEST, cut

NAME = "wordllama l2_supercat 256"
INSTALL = '"graphkm[text]"'
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_KNOWN = {
    _WEIGHTS: ("64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",),
    # Releases differ in a newline at the end.
    _TOKENIZER: (
        "bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83",
        "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    ),
}
_TYPES = {"F16": np.float16, "F32": np.float32}


def word_pieces() -> Encoder:
    """Return the model: a text's vector is the mean of the vectors of its pieces."""
    folder = _folder()
    needed("tokenizers", 'The model "auto"', INSTALL)
    found = {name: _checked(folder / name, known) for name, known in _KNOWN.items()}
    # The newline at the end of a tokenizer changes no vector, so both have the hash of one.
    settings = (
        f"word pieces, mean, {LONGEST} characters, {found[_WEIGHTS]}, {_KNOWN[_TOKENIZER][0]}"
    )

    def encode(texts: list[str]) -> NDArray[np.float32]:
        tokenizer, table = _loaded(folder)
        return mean_of_pieces(cut(texts), tokenizer, table)

    return Encoder(NAME, digest(settings), 256, encode)


def mean_of_pieces(texts: list[str], tokenizer: Any, table: NDArray) -> NDArray[np.float32]:
    """Return the mean of the pieces' vectors: one product of counts with the table.

    The sum of a row has its own order, so a text's vector does not depend on its neighbours.
    """
    pieces = [each.ids for each in tokenizer.encode_batch(texts, add_special_tokens=False)]
    ends = np.cumsum([0, *map(len, pieces)])
    places = np.concatenate([np.asarray(each, np.int32) for each in pieces])
    counts = sparse.csr_matrix(
        (np.ones(len(places), np.float32), places, ends), shape=(len(texts), len(table))
    )
    return (counts @ table) / np.maximum(np.diff(ends), 1).astype(np.float32)[:, None]


def read_tensor(path: Path) -> NDArray:
    """Return the only tensor of a file in the format safetensors.

    The file has the length of a header in 8 bytes, the header in JSON, and the raw numbers.
    """
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    (tensor,) = (value for name, value in header.items() if name != "__metadata__")
    start, end = tensor["data_offsets"]
    numbers = np.frombuffer(raw[8 + length + start : 8 + length + end], _TYPES[tensor["dtype"]])
    return numbers.reshape(tensor["shape"])


def _folder() -> Path:
    """Return where the package lies, without importing it."""
    try:
        spec = importlib.util.find_spec("wordllama")
    except ValueError:  # sys.modules holds None: the package is hidden
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(
            'The model "auto" needs the vectors inside the package wordllama: '
            f"run pip install {INSTALL}"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _checked(path: Path, known: tuple[str, ...]) -> str:
    if not path.is_file():
        raise MissingModelError(
            f"{path} is missing from the package wordllama. Run pip install --force-reinstall "
            f"{INSTALL}"
        )
    found = file_digest(path)
    if found not in known:
        raise MissingModelError(
            f"{path} is not the file that this version knows: its SHA-256 is {found[:12]}..., "
            f"expected {known[0][:12]}... Run pip install --force-reinstall {INSTALL}"
        )
    return found


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> tuple[Any, NDArray[np.float32]]:
    """Return the tokenizer and the table; they are read once in a process."""
    tokenizers = needed("tokenizers", 'The model "auto"', INSTALL)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / _TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer, read_tensor(folder / _WEIGHTS).astype(np.float32)
