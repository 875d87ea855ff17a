"""What a data set is: where its files live, what they must hold, and how it is described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .readers import Reader


@dataclass(frozen=True)
class Copy:
    """A file that holds some arrays, and how to read it.

    `name` is its path in the data folder. `url` is its public address, where it has one, and
    `sha256` the hash of the bytes found there, where those are known to be the same.
    """

    name: str
    read: Reader
    url: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Block:
    """Arrays, by the digest of their content, and the files that can hold them.

    The first copy present in the data folder is read; if none is, the last one is downloaded.
    """

    digest: str
    copies: tuple[Copy, ...]

    @property
    def home(self) -> tuple[Copy, str]:
        """The copy that can be downloaded, and its address."""
        copy = self.copies[-1]
        assert copy.url is not None, f"the catalogue lacks the address of {copy.name}"
        return copy, copy.url


@dataclass(frozen=True)
class Dataset:
    """A data set: its blocks, and everything that is said of it.

    `parts` maps "train" and, where there is one, "test" to blocks that hold X and y between them;
    `splits` maps numbers of labels to blocks of official splits. `labels` are the values of y in
    the files, in the order of the codes 0, 1, ... they become, and `target_names` what they mean.
    `unit` is what the files' numbers are multiples of, `scale` the range columns are brought to
    unless they are wanted raw.
    """

    name: str
    about: str
    rows: int
    features: int
    labels: tuple[int, ...]
    source: str
    parts: Mapping[str, tuple[Block, ...]]
    target_names: tuple[str, ...]
    splits: Mapping[int, Block] = field(default_factory=dict)
    unit: float = 1.0
    scale: tuple[float, float] | None = None
    dtype: str = "float64"
    sparse: bool = False
