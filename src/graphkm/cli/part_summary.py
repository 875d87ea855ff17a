"""`graphkm train --dask`: the model file, and what is told of the files."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from .dask_options import DaskOptions
from .fit_options import TrainingOptions
from .model_files import described_model, found_facts, write_model
from .options import LearningFileOptions, Scale, Task
from .output import check_output, say, show
from .part_training import Trained, train_parts
from .row_summary import doubts, summary_facts, summary_lines


def train_and_tell(
    data: str,
    model: Path,
    files: LearningFileOptions,
    task: Task,
    scale: Scale,
    fit: TrainingOptions,
    many: DaskOptions,
    as_json: bool,
) -> None:
    """Write a model of the files of a folder or a pattern, and tell what it is."""
    check_output(model)
    start = time.perf_counter()
    found = train_parts(data, files, task, scale, fit, many)
    note = replace(found.rows.note, scale=found.scale, method="mixture")
    told = described_model(found.model, note), found_facts(found.model)
    write_model(found.model, model, note)
    seconds = time.perf_counter() - start
    lines, facts = _of_files(found)
    show(
        summary_lines(found.rows)
        | lines
        | told[0]
        | {"time": f"{seconds:.1f} s", "model": str(model)},
        summary_facts(found.rows)
        | facts
        | told[1]
        | {"scale": found.scale, "method": "mixture", "seconds": seconds, "model": model},
        as_json,
    )
    if not as_json:
        for text in doubts(found.rows):
            say(f"note: {text}")


def _of_files(found: Trained) -> tuple[dict[str, str | None], dict[str, Any]]:
    """Return what replaces the summary of the sample."""
    note, n_seen = found.rows.note, len(found.rows.y)
    files = f"{found.n_files:,} file{'s' * (found.n_files != 1)}"
    share = f"{100 * note.n_labeled / note.n_rows:.3g} %"
    sample = f"{n_seen:,} rows tell what columns and labels hold: those above are theirs"
    lines: dict[str, str | None] = {
        "rows": f"{note.n_rows:,} with {note.n_features:,} features, in {files}",
        "labelled": f"{note.n_labeled:,} ({share})",
        "sample": sample if n_seen < note.n_rows else None,
        "parts": f"{found.n_parts:,}, each read several times",
    }
    facts = {"rows": note.n_rows, "labelled": note.n_labeled, "sample": n_seen}
    return lines, facts | {"files": found.n_files, "parts": found.n_parts}
