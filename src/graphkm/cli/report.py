"""`graphkm report`: a page on a model and its rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Data, FileOptions, KnownLabels, Model
from .spreading import spread

if TYPE_CHECKING:
    from .model_files import FileNote

EXAMPLES = (
    "graphkm report moons.gkm few_labels.csv --out report.html",
    "graphkm report moons.gkm few_labels.csv --out quick.html --curve 0",
)


@spread
def report(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option(help="The HTML file to write.", show_default=False)],
    curve: Annotated[
        int,
        typer.Option(
            metavar="TIMES",
            min=0,
            help="The learning curve fits the model again with a quarter, a half and three "
            "quarters of its labels, each so many times; 0 leaves the curve out.",
        ),
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Draws the labels of these fits.")] = 0,
    labels: KnownLabels = None,
    as_json: AsJson = False,
    files: FileOptions = FileOptions(),  # noqa: B008
) -> None:
    """Write a page on a model and its rows, which opens in any browser and needs no network.

    It shows the data, the members, the held-out score and what the unlabelled rows gained, whether
    probabilities come true, which classes are taken for each other, how large sets of classes are,
    how the score grows with labels, which labels look wrong, and how the model was made. Pass the
    file that the model was trained on: with other rows the page has no learning curve, and says
    less of doubtful labels. The model must be one of --method mixture, which holds labels out.
    """
    from ..report import report_page
    from .links import note_no_edges
    from .model_files import last_step, read_model
    from .note_lines import with_asked_labels
    from .output import check_output, show, whole_or_not
    from .subjects import check_mixture, shown_cells, subject_of

    check_output(out, model, data)
    fitted, note = read_model(model)
    check_mixture(fitted, model)
    note_no_edges(fitted, model)
    asked = with_asked_labels(note, labels, files.label)
    subject = replace(
        subject_of(fitted, asked, data, files),
        title=f"Report on {model.name}",
        shown=shown_cells(asked),
        about=_about(fitted, note, model),
        repeats=curve,
        seed=seed,
    )
    page = report_page(subject)
    with whole_or_not(out, keep_previous=True) as file:
        file.write(page)
    rows = f"{subject.n_rows:,}, {int(subject.labeled.sum()):,} of them labelled"
    facts: dict[str, Any] = {"rows": subject.n_rows, "labelled": int(subject.labeled.sum())}
    facts |= {"rows_of_training": subject.of_fit, "out": out}
    facts |= {"score": last_step(fitted).best_score_}
    show({"rows": rows, "report": str(out)}, facts, as_json)


def _about(fitted: Any, note: FileNote, model: Path) -> dict[str, str | None]:
    """Return how the model was made."""
    import hashlib
    from datetime import UTC, datetime

    from .info import origin
    from .model_files import described_model
    from .note_lines import edges_line, encoder_lines, label_line

    content = model.read_bytes()
    changed = datetime.fromtimestamp(model.stat().st_mtime, UTC)
    told = described_model(fitted, note)
    kept = {name: told.get(name) for name in ("method", "scaling", "class sizes", "thresholds")}
    return {
        "model": f"{model.name} ({len(content) / 1024:,.0f} KiB)",
        "last changed": f"{changed:%Y-%m-%d %H:%M} UTC",
        "SHA-256 of the file": hashlib.sha256(content).hexdigest(),
        "graphkm": note.version or "unknown",
        **kept,
        "trained on": origin(note),
        "label": label_line(note),
        **encoder_lines(note),
        "edges": edges_line(note),
    }
