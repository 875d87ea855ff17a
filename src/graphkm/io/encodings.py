"""The encoding of a text: given, told by a mark at its beginning, or judged by its bytes."""

from __future__ import annotations

import codecs
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from .bad_rows import BadRows
from .files import DataFileError, OpenFile

_UTF8, _WINDOWS = "utf-8", "windows-1252"
_MARKS = (  # UTF-32 first: one of its marks begins like UTF-16
    (codecs.BOM_UTF8, _UTF8),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LETTERS = re.compile("[^\x00-\x7f]")  # beyond ASCII
_BROKEN = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8
# Read as Windows-1252, the two bytes of each are a capital A with an accent, and a sign.
_ACCENTED = re.compile("[\x80-\xff]")  # letters of a text that was decoded as UTF-8
# Five bytes have no letter in Windows-1252; browsers read them as control characters.
_WINDOWS_LETTERS = {
    byte: bytes([byte]).decode(_WINDOWS)
    for byte in range(0x80, 0xA0)
    if bytes([byte]).decode(_WINDOWS, "ignore")
}


@dataclass
class TextEncoding:
    r"""The encoding of one text.

    ASCII is UTF-8. The first block with other bytes decides between UTF-8 and Windows-1252, and a
    later line that is of the other one is a bad row.

    Parameters
    ----------
    name : str, optional
        The encoding; None: a mark at the beginning or the bytes tell.

    Attributes
    ----------
    guessed : bool
        Whether the text is in Windows-1252 because it is not UTF-8.

    Examples
    --------
    >>> encoding = TextEncoding()
    >>> list(encoding.as_utf8(iter([b"x\n", b"Gen\xe8ve\n"]), BadRows("a.csv")))
    [b'x\n', b'Gen\xc3\xa8ve\n']
    >>> encoding.taken
    'windows-1252'
    """

    name: str | None = None
    guessed: bool = False

    def __post_init__(self) -> None:
        if self.name is not None:
            self.name = _known(self.name)
        self._decoded = False  # whether `chunks` yields UTF-8

    @property
    def taken(self) -> str:
        """The encoding that was taken, as far as the text was read."""
        return self.name or _UTF8

    def chunks(self, opened: OpenFile, size: int) -> Iterator[bytes]:
        """Yield the bytes of a file without its mark: as UTF-8 if its encoding is known by then."""
        start = b""
        while len(start) < 4 and (data := opened.read(size)):
            start += data
        mark, told = next((m for m in _MARKS if start.startswith(m[0])), (b"", None))
        if told is None and len(start) >= 4 and start[1] == start[3] == 0 != start[0]:
            told = "utf-16-le"  # without a mark
        if self.name is None:
            self.name = told
        self._decoded = self.name not in (None, _UTF8)
        if self._decoded:
            yield from _transcoded(start, opened, size, self.taken)
            return
        yield start.removeprefix(mark)
        while data := opened.read(size):
            yield data

    def as_utf8(
        self, blocks: Iterator[bytes], bad_rows: BadRows, n_before: int = 0
    ) -> Iterator[bytes]:
        """Yield blocks of lines as UTF-8; `n_before` lines come before the first."""
        for block in blocks:
            yield (
                block
                if self._decoded or block.isascii()
                else self._judged(block, bad_rows, n_before)
            )
            n_before += block.count(b"\n")

    def _judged(self, block: bytes, bad_rows: BadRows, n_before: int) -> bytes:
        text = block.decode(_UTF8, "surrogateescape")
        n_broken = len(_BROKEN.findall(text))
        # A file of one encoding may hold a few bytes of the other by mistake, or by chance.
        found = _UTF8 if 2 * n_broken < len(_LETTERS.findall(text)) else _WINDOWS
        if self.name is None:
            self.name, self.guessed = found, found == _WINDOWS
        if found == self.name and not (n_broken if found == _UTF8 else _ACCENTED.search(text)):
            return block if found == _UTF8 else _from_windows(block)
        lines = block.split(b"\n")
        for k, line in enumerate(text.split("\n")):
            if self._is_wrong(line, found):
                other = _WINDOWS if self.name == _UTF8 else _UTF8
                bad_rows.add(
                    n_before + k + 1,
                    f"the text {lines[k][:40]!r} is not {self.name}, as which the file is read. "
                    f"Save the file in one encoding, or pass encoding={other!r} if it is that",
                )
                lines[k] = b""
        block = b"\n".join(lines)
        return block if self.name == _UTF8 else _from_windows(block)

    def _is_wrong(self, line: str, found: str) -> bool:
        """Return whether a line of a block is of another encoding than the file."""
        broken = _BROKEN.search(line)
        if self.name == _UTF8 or broken:
            return self.name == _UTF8 and bool(broken)
        return bool((_LETTERS if found == _UTF8 else _ACCENTED).search(line))

    def report(self, file: str) -> None:
        """Warn if the encoding is a guess."""
        if self.guessed:
            warnings.warn(
                f"{file} is not UTF-8, and was read as Windows-1252; if it is of another encoding, "
                "pass encoding=.",
                UserWarning,
                stacklevel=4,
            )


def _known(name: str) -> str:
    """Return the usual name of an encoding; raise if there is none."""
    try:
        b"".decode(name)
        found = codecs.lookup(name).name
    except (LookupError, ValueError):  # such as a name with a NUL
        raise ValueError(
            f"encoding={name!r} is no encoding of texts. Pass one like 'utf-8', 'windows-1252', "
            "'utf-16', 'iso8859-15' or 'shift_jis'."
        ) from None
    return {"cp1252": _WINDOWS, "utf-8-sig": _UTF8}.get(found, found)


def _from_windows(block: bytes) -> bytes:
    return block.decode("latin-1").translate(_WINDOWS_LETTERS).encode(_UTF8)


def _transcoded(start: bytes, opened: OpenFile, size: int, name: str) -> Iterator[bytes]:
    """Yield a file of a known encoding as UTF-8."""
    decoder = codecs.getincrementaldecoder(name)()
    line, data, first = 1, start, True
    while True:
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeError as error:
            known = getattr(error, "object", b"")[: getattr(error, "start", 0)]
            line += known.decode(name, "ignore").count("\n")
            raise DataFileError(
                f"{opened.name}, line {line}: its text is not {name} ({error}). Pass encoding= "
                "with the encoding of the file."
            ) from None
        line += text.count("\n")
        if text:
            yield (text.removeprefix("\ufeff") if first else text).encode(_UTF8, "replace")
            first = False
        if not data:
            return
        data = opened.read(size)
