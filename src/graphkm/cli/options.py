"""Options that several sub-commands share, each written once."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_file_option = functools.partial(typer.Option, rich_help_panel="How the files are read")


class UsageError(Exception):
    """The command line is wrong: an option, or options that do not go together."""


def listed_names(text: str) -> list[str]:
    """Return the names in a list of an option.

    Examples
    --------
    >>> listed_names("a, b,")
    ['a', 'b']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


class Format(StrEnum):
    """Formats of files of rows."""

    auto = "auto"
    libsvm = "libsvm"
    csv = "csv"
    parquet = "parquet"


class Task(StrEnum):
    """What is learnt."""

    auto = "auto"
    classify = "classify"
    regress = "regress"


class Scale(StrEnum):
    """How features are brought to a common scale."""

    auto = "auto"
    none = "none"
    standard = "standard"
    minmax = "minmax"
    maxabs = "maxabs"


class Missing(StrEnum):
    """What becomes of missing values."""

    impute = "impute"
    drop = "drop"
    error = "error"


class Method(StrEnum):
    """The estimators. The mixture is the front door, `SemiSupervisedClassifier` or `Regressor`."""

    mixture = "mixture"
    gkm = "gkm"
    lapsvm = "lapsvm"
    tsvm = "tsvm"


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Rows: LIBSVM, CSV or Parquet, compressed (.gz, .bz2, .xz) or not; - reads from "
        "standard input. Or a folder of pictures or .txt files: its sub-folders are classes, but "
        "for one that is called unlabelled.",
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The model file.", show_default=False)]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead, for programs.")
]
TaskOption = Annotated[
    Task,
    typer.Option(
        help="What to learn; auto: classify if labels are words or at most 20 whole numbers, "
        "regress if they have fractions.",
    ),
]
ScaleOption = Annotated[
    Scale,
    typer.Option(
        help="Scaling of the features, stored with the model; auto: standard for tables, none for "
        "LIBSVM files with values from -1 to 1, maxabs for others.",
    ),
]


KnownLabels = Annotated[
    str | None,
    _file_option(
        "--labels",
        metavar="COLUMNS",
        help="The columns of several labels, like a,b,c, in the order of the model's. Default: "
        "those that are called like the model's.",
    ),
]


@dataclass(frozen=True)
class FileOptions:
    """How a file of rows is read."""

    format: Annotated[Format, _file_option(help="auto: by the name, else by the text.")] = (
        Format.auto
    )
    label: Annotated[
        str | None,
        _file_option(
            metavar="COLUMN",
            help="The label's column: its name, or its number from 1. Default: the one called "
            "label (or Label, LABEL), else the last. In LIBSVM files the label comes first.",
        ),
    ] = None
    unlabeled: Annotated[
        str | None,
        _file_option(
            metavar="MARK",
            help="The mark of unlabelled rows, besides ?, nan and, in tables, an empty field, NA, "
            "N/A, null and None. For LIBSVM files it must be a number.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        _file_option(
            metavar="COLUMN",
            help="A column to leave out, by its name or its number from 1; a feature of a LIBSVM "
            "file, by its index. May be repeated.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        _file_option(
            help="Whether the first line of CSV holds names. Default: judged by its text.",
            show_default=False,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        _file_option(
            metavar="SIGN",
            help="What separates the fields of CSV: one of , ; | tab space. Default: judged by the "
            "first line.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        _file_option(
            metavar="NAME",
            help="The encoding of a text, like utf-8, windows-1252, utf-16 or shift_jis. Default: "
            "the one that its first bytes mark, else UTF-8 if it is that, else Windows-1252.",
        ),
    ] = None


@dataclass(frozen=True)
class TableOptions(FileOptions):
    """How a table is read whose columns are judged by what they hold."""

    categorical: Annotated[
        str,
        _file_option(
            metavar="auto|NAMES|none",
            help="The columns that are categories: those that hold words, those of a list like "
            "colour,zip, or none.",
        ),
    ] = "auto"
    id: Annotated[
        str | None,
        _file_option(
            metavar="COLUMN",
            help="A column that identifies rows. It is no feature, and predictions begin with it.",
        ),
    ] = None


@dataclass(frozen=True)
class TrainingFileOptions(TableOptions):
    """How a file of rows to learn from is read."""

    missing: Annotated[
        Missing | None,
        _file_option(
            help="Missing values: impute fills in the column's median, and a missing category is a "
            "category of its own; drop leaves out the row. Default: impute, if any are missing.",
            show_default=False,
        ),
    ] = None
    skip_bad_rows: Annotated[
        bool,
        _file_option(
            "--skip-bad-rows",
            help="Leave out rows that cannot be read. A stream also leaves out rows with missing "
            "values; elsewhere --missing decides.",
        ),
    ] = False
    features: Annotated[
        int | None,
        _file_option(
            min=1,
            metavar="N",
            help="The number of features of a LIBSVM file. Default: its largest index.",
        ),
    ] = None
    zero_based: Annotated[
        bool | None,
        _file_option(
            "--zero-based/--one-based",
            help="What indices of a LIBSVM file count from. Default: from 0 if there is an index "
            "0, else from 1.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class LearningFileOptions(TrainingFileOptions):
    """How a file of rows to learn from is read as a whole, and what makes numbers of texts."""

    labels: Annotated[
        str | None,
        _file_option(
            metavar="COLUMNS",
            help="Several labels per row: a column for each, like funny,long,sad, with 0 and 1, "
            "yes and no or true and false, and empty where one is not known. If the columns hold "
            "other numbers, they are several quantities.",
        ),
    ] = None
    separator: Annotated[
        str | None,
        _file_option(
            metavar="SIGN",
            help="Several labels per row: the label's column holds their names with this sign "
            "between them, and - where a row has none of them.",
        ),
    ] = None
    text: Annotated[
        str | None,
        _file_option(
            metavar="COLUMN",
            help="A column of texts to learn from, with --method mixture; other columns are "
            "features as ever. With --dask workers encode the texts of each part.",
        ),
    ] = None
    images: Annotated[
        str | None,
        _file_option(
            metavar="COLUMN",
            help="A column with paths of pictures to learn from, as seen from the folder of DATA.",
        ),
    ] = None
    encoder: Annotated[
        str,
        _file_option(
            metavar="MODEL",
            help="What makes vectors of texts or pictures: the name, folder or ONNX file of a "
            "model. auto needs no network.",
        ),
    ] = "auto"

    @property
    def label_columns(self) -> list[str]:
        """The columns that --labels names."""
        return listed_names(self.labels or "")

    @property
    def encoded(self) -> dict[str, str]:
        """The columns that encoders read, and their kinds."""
        from ..io.kinds import IMAGE, TEXT

        asked = {TEXT: self.text, IMAGE: self.images}
        return {column: kind for kind, column in asked.items() if column is not None}
