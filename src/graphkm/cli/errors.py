"""Exit codes, and errors as one sentence that names options."""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import fields
from typing import Any, NoReturn

from .fit_options import PARAMETERS, TrainingOptions
from .options import LearningFileOptions, UsageError

FAILED, USAGE, FILES, INTERRUPTED = 1, 2, 3, 130

EXIT_CODES = (
    "Exit codes: 0 fine; 1 an error in the data or the computation; 2 wrong usage; "
    "3 a file cannot be read or written; 130 interrupted."
)


# The library's messages name Python parameters; these are the options for them.
_WHOLE = {
    "on_bad_row='skip'": "--skip-bad-rows",
    "header=True": "--header",
    "header=False": "--no-header",
    "zero_based=True": "--zero-based",
}
_FLAGS = {"classes": "--classes", "coverage": "--sets"} | {
    PARAMETERS.get(field.name, field.name): f"--{field.name.replace('_', '-')}"
    for options in (LearningFileOptions, TrainingOptions)
    for field in fields(options)
    if field.name != "labels"  # in Python it says what labels are, and not where
}
_ARGUMENTS = {"affinity=...": "--edges", "ids=...": "--id"}  # of fit and predict
_PART = r"\b(?:KNN|Full|Bipartite|Anchors|SGD|Sums)\([^()]*\)"
_ASSIGNMENT = re.compile(
    rf"(?<!--set )\b([A-Za-z_]\w*)=('[^']*'|None\b|True\b|False\b|[-+]?\d[\w.+-]*\d|\d|{_PART})?"
    r"((?:, '\w+')* or '\w+')?"
)
_FOR_PYTHON_ONLY = re.compile(
    r", or one of [A-Z]\w*\(\.\.\.\)[^;]*|, or a Loss object[^.;]*"
    r"|, a Kernel object, or a function of two sets of rows"
)


def in_flags(message: str) -> str:
    """Return a message of the library with options in place of Python parameters.

    Examples
    --------
    >>> in_flags("partial_fit cannot use solver='newton'; pass solver='sums' or 'sgd', or tol=0.1.")
    'stream cannot use --solver newton; pass --solver sums or sgd, or --set tol=0.1.'
    >>> in_flags("--set tol=0.1: it has no parameter tol.")
    '--set tol=0.1: it has no parameter tol.'
    >>> in_flags("no connection to (host='example.org', port=443)")
    "no connection to (host='example.org', port=443)"
    """
    from .estimators import parameter_names  # loads the estimators, which --help must not

    def reworded(match: re.Match[str]) -> str:
        name, value = match[1], _plain(match[2] or "")
        others = (match[3] or "").replace("'", "")
        if match[0] in _WHOLE:
            return _WHOLE[match[0]]
        if name in _FLAGS:
            return f"{_FLAGS[name]} {value}".rstrip() + others
        return f"--set {name}={value}{others}" if value and name in parameter_names() else match[0]

    message = _FOR_PYTHON_ONLY.sub("", message).replace("partial_fit", "stream")
    for argument, flag in _ARGUMENTS.items():
        message = message.replace(argument, flag)
    return re.sub(_PART, lambda part: _plain(part[0]), _ASSIGNMENT.sub(reworded, message))


def _plain(value: str) -> str:
    """Return a value as the command line has it: a part is named in small letters."""
    return value.partition("(")[0].lower() if value.endswith(")") else value.strip("'")


def exit_code(error: BaseException) -> int:
    """Return the exit code of the process.

    Examples
    --------
    >>> exit_code(FileNotFoundError("x")), exit_code(ValueError("x")), exit_code(UsageError("x"))
    (3, 1, 2)
    """
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    from ..tables.naming import UnknownColumnError

    own = type(error).__name__ == "InvalidParameterError"  # scikit-learn's, for --set
    if isinstance(error, UsageError | UnknownColumnError) or own:
        return USAGE
    return FILES if isinstance(error, OSError) else FAILED


def sentence(error: BaseException) -> str:
    """Return what went wrong, in one line.

    Examples
    --------
    >>> sentence(FileNotFoundError(2, "No such file or directory", "rows.csv"))
    'rows.csv: no such file or directory.'
    """
    if isinstance(error, KeyboardInterrupt):
        return str(error) or "interrupted."
    if isinstance(error, OSError) and error.strerror:
        words = error.strerror[0].lower() + error.strerror[1:]
        return f"{words}." if error.filename is None else f"{error.filename or repr('')}: {words}."
    if isinstance(error, MemoryError):
        return str(error) or "there is not enough memory; train on fewer rows."
    return in_flags(" ".join(str(error).split())) or type(error).__name__


def leave(error: BaseException) -> NoReturn:
    """Print a sentence on standard error and end the process with the exit code."""
    print(f"graphkm: {sentence(error)}", file=sys.stderr)
    raise SystemExit(exit_code(error))


def show_note(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as a note of one line; it replaces `warnings.showwarning`."""
    print(f"graphkm: note: {in_flags(' '.join(str(message).split()))}", file=sys.stderr)


def notes_instead_of_warnings() -> None:
    """Show each warning for users once, as a note, and hide all others."""
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    warnings.simplefilter("once", UserWarning)
    warnings.simplefilter("once", RuntimeWarning)
    # Rows come as arrays, in the order of the model's columns.
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    warnings.showwarning = show_note
