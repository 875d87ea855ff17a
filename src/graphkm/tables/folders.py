"""Folders as rows: pictures or text files, and sub-folders that are classes."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..embed import broken_pictures
from ..io.files import DataFileError

PICTURES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"))
"""Endings of the files that are taken as pictures."""
TEXTS = frozenset((".txt",))
"""Endings of the files that are taken as texts."""
UNLABELED = frozenset(("unlabelled", "unlabeled", "unknown"))
"""Folders, in small letters, whose files have no label."""
_SHOWN = 10  # files that are named in a note; more are counted
_READ = 2**20  # bytes of a text file; no encoder looks at more
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class FolderRows:
    """The files of a folder, each of them a row.

    Parameters
    ----------
    kind : {"images", "texts"}
        What the files are.
    names : list of str
        What identifies the rows: paths inside the folder, in their order.
    labels : list of str or None
        The sub-folder that a file lies in, however deep; None for files at the top, and for those
        in a folder that is called unlabelled, unlabeled or unknown.
    items : list of str
        The paths of pictures, or the texts themselves.
    notes : list of str
        Sentences that name the files that were left out, and why.
    """

    kind: str
    names: list[str]
    labels: list[str | None]
    items: list[str]
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.names)


def read_folder(folder: Path, *, verbose: int = 0, check: bool = True) -> FolderRows:
    """Return the pictures or the texts of a folder and of its sub-folders.

    If both are there, those of which there are more count. Files whose names begin with a point,
    and files of other kinds, are passed over.

    Parameters
    ----------
    folder : Path
        The folder.
    verbose : int, default=0
        Whether a progress bar is shown while pictures are checked.
    check : bool, default=True
        Whether pictures that cannot be read are left out; each is decoded for that.

    Raises
    ------
    DataFileError
        If the folder has no picture and no text that can be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for name, text in {"new.txt": "who?", "cat/1.txt": "meow", "cat/2.txt": ""}.items():
    ...         Path(place, name).parent.mkdir(exist_ok=True)
    ...         _ = Path(place, name).write_text(text)
    ...     found = read_folder(Path(place))
    >>> found.names, found.labels, found.items
    (['cat/1.txt', 'new.txt'], ['cat', None], ['meow', 'who?'])
    >>> found.notes
    ['Left out, because they hold no text: cat/2.txt.']
    """
    files = sorted(path for path in folder.rglob("*") if _counts(path, folder))
    pictures = [path for path in files if path.suffix.lower() in PICTURES]
    texts = [path for path in files if path.suffix.lower() in TEXTS]
    if not pictures and not texts:
        raise DataFileError(
            f"{folder} holds no pictures ({', '.join(sorted(PICTURES))}) and no text files (.txt)."
        )
    if len(pictures) >= len(texts):
        kind, passed = "images", _passed(texts, "text file")
        items, notes = _pictures(folder, pictures, verbose, check)
    else:
        kind, passed = "texts", _passed(pictures, "picture")
        items, notes = _texts(folder, texts)
    notes += [f"{passed} beside the {kind} of {folder}."] if passed else []
    if not items:
        raise DataFileError(f"{folder}: none of its {kind} can be read. {' '.join(notes)}")
    kept = list(items)
    return FolderRows(
        kind,
        [_name(path, folder) for path in kept],
        [_label(path, folder) for path in kept],
        list(items.values()),
        notes,
    )


def _counts(path: Path, folder: Path) -> bool:
    inside = path.relative_to(folder).parts
    return path.is_file() and not any(part.startswith(".") for part in inside)


def _passed(files: list[Path], what: str) -> str:
    """Return the beginning of a note on files of the other kind; "" if there are none."""
    n = len(files)
    return f"Passed over: {n:,} {what}{'s' * (n != 1)}" if n else ""


def _name(path: Path, folder: Path) -> str:
    """Return a file's path inside the folder; bytes that are no text are replaced."""
    return path.relative_to(folder).as_posix().encode(errors="replace").decode()


def _label(path: Path, folder: Path) -> str | None:
    first, *rest = path.relative_to(folder).parts
    if not rest or first.lower() in UNLABELED:
        return None
    return first.encode(errors="replace").decode()


def _pictures(
    folder: Path, files: list[Path], verbose: int, check: bool
) -> tuple[dict[Path, str], list[str]]:
    """Return the paths of pictures that can be read, and a note on the others."""
    broken = broken_pictures(files, verbose=verbose) if check else {}
    whole = {path: str(path) for place, path in enumerate(files) if place not in broken}
    lost = [files[place] for place in broken]
    notes = [_note("they cannot be read as pictures", lost, folder)] if lost else []
    return whole, notes


def _texts(folder: Path, files: list[Path]) -> tuple[dict[Path, str], list[str]]:
    """Return the texts of files, and notes on those without any and on those of another encoding.

    A file that is not UTF-8 and has no mark is read as Windows-1252, as tables are.
    """
    found, empty, odd, guessed = {}, [], [], []
    for path in files:
        text, encoding = _decoded(path)
        if text is None:
            odd.append(path)
        elif not text.strip():
            empty.append(path)
        else:
            found[path] = text
            if encoding == "cp1252":
                guessed.append(path)
    notes = [_note("they hold no text", empty, folder)] if empty else []
    notes += [_note("they hold bytes that are no text", odd, folder)] if odd else []
    if guessed:
        notes.append(f"Read as Windows-1252, because they are not UTF-8: {_few(guessed, folder)}.")
    return found, notes


def _decoded(path: Path) -> tuple[str | None, str]:
    """Return the beginning of a text file and its encoding; None for other bytes."""
    with path.open("rb") as file:
        raw = file.read(_READ)
        whole = not file.read(1)
    mark, told = next((each for each in _MARKS if raw.startswith(each[0])), (b"", None))
    for encoding in ("utf-8", "cp1252") if told is None else (told,):
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            text = decoder.decode(raw.removeprefix(mark), final=whole)
        except UnicodeDecodeError:
            continue
        return (None, encoding) if "\0" in text else (text, encoding)
    return None, ""


def _note(why: str, files: Sequence[Path], folder: Path) -> str:
    return f"Left out, because {why}: {_few(files, folder)}."


def _few(files: Sequence[Path], folder: Path) -> str:
    """Return the names of some files, and how many others there are."""
    names = ", ".join(_name(path, folder) for path in files[:_SHOWN])
    return names + f" and {len(files) - _SHOWN:,} more" * (len(files) > _SHOWN)
