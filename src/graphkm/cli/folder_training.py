"""Folders of pictures or text files, as rows to learn from."""

from __future__ import annotations

from ..io import DataFileError
from .folder_rows import COLUMNS, FILE, KINDS, LABEL, as_objects, read_files
from .learning_rows import Rows, check_labels
from .model_files import FOLDER, FileNote
from .options import LearningFileOptions, Task, UsageError


def read_folder_rows(
    path: str, options: LearningFileOptions, task: Task, more: str | None = None
) -> Rows:
    """Return the files of a folder to learn from; those of another folder are unlabelled."""
    if task is Task.regress:
        raise UsageError(f"--task regress: the sub-folders of {path} are classes.")
    found = read_files(path, options)
    items, labels = found.items, found.labels
    if more is not None:
        second = read_files(more, options)
        if second.kind != found.kind:
            raise DataFileError(f"{path} holds {found.kind}, and {more} holds {second.kind}.")
        items, labels = items + second.items, labels + [None] * len(second)
    kind = KINDS[found.kind]
    y = as_objects(labels)
    note = FileNote(
        task="classify",
        format=FOLDER,
        columns=[COLUMNS[kind]],
        n_features=1,
        label=LABEL,
        labels="text",
        unlabeled=None,
        zero_based=False,
        sparse=False,
        n_rows=len(y),
        n_labeled=sum(label is not None for label in labels),
        kinds=[kind],
        missing="impute",
        id=FILE,
    )
    rows = Rows(as_objects(items)[:, None], y, note)
    if not any(label is not None for label in labels):
        raise DataFileError(
            f"{path}: none of its {len(y):,} files has a label. Put some of every class into a "
            "sub-folder that is called like the class; others stay where they are, or in a "
            "sub-folder called unlabelled."
        )
    check_labels(rows, path)
    return rows
