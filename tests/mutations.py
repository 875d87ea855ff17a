"""Damaged files for parsers: valid text, mutated a few times."""

from __future__ import annotations

import numpy as np


def mutated(text: bytes, tokens: list[bytes], rng: np.random.Generator) -> bytes:
    """Return the text after one to five cuts, repetitions, insertions and changed bytes."""
    for _ in range(rng.integers(1, 6)):
        begin, end = sorted(rng.integers(0, len(text) + 1, size=2))
        end = min(end, begin + rng.integers(1, 12))
        kind = rng.integers(6)
        if kind == 0:
            text = text[:begin] + text[end:]
        elif kind == 1:
            text = text[:end] + text[begin:]
        elif kind in (2, 3):
            text = text[:begin] + tokens[rng.integers(len(tokens))] + text[begin:]
        elif kind == 4:
            text = text[:begin] + bytes([rng.integers(256)]) + text[begin + 1 :]
        else:
            text = (
                text[:begin] + bytes([rng.choice(list(b"0123456789:., \n\r#+-eE?"))]) + text[end:]
            )
    return text
