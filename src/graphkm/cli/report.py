"""`graphkm report`: a page on a model and its rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Data, FileOptions, KnownLabels, Model, UsageError
from .spreading import spread

if TYPE_CHECKING:
    from .model_files import FileNote

EXAMPLES = (
    "graphkm report moons.gkm few_labels.csv --out report.html",
    "graphkm report moons.gkm few_labels.csv --out quick.html --curve 0",
)

_CELLS = 6  # columns of a row that the page shows
_LONGEST = 300  # letters of a cell that the page shows


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

    check_output(out, model, data)
    fitted, note = read_model(model)
    check_mixture(fitted, model)
    note_no_edges(fitted, model)
    asked = with_asked_labels(note, labels, files.label)
    subject = _subject(fitted, asked, data, files, model, curve, seed)
    page = report_page(subject)
    with whole_or_not(out, keep_previous=True) as file:
        file.write(page)
    rows = f"{subject.n_rows:,}, {int(subject.labeled.sum()):,} of them labelled"
    facts = {"rows": subject.n_rows, "labelled": int(subject.labeled.sum())}
    facts |= {"rows_of_training": subject.of_fit, "out": out}
    facts |= {"score": last_step(fitted).best_score_}
    show({"rows": rows, "report": str(out)}, facts, as_json)


def check_mixture(model: Any, path: Path) -> None:
    """Raise if a model holds no labels out."""
    from ..exchange.storable import MIXED
    from .model_files import last_step

    last = last_step(model)
    if not isinstance(last, MIXED):
        raise UsageError(
            f"{path} holds a {type(last).__name__}, which holds no labels out. Train a model with "
            "--method mixture, or test this one with graphkm evaluate."
        )


def _subject(
    fitted: Any,
    note: FileNote,
    data: str,
    files: FileOptions,
    model: Path,
    curve: int,
    seed: int,
) -> Any:
    """Return what the page is about."""
    from ..io.files import source_name
    from ..report import Subject
    from .model_files import last_step
    from .predict import kept_columns
    from .row_files import open_known, read_whole

    with open_known(data, files, note, kept=kept_columns(None, None, note)) as table:
        X, y = read_whole(table)
    told = table.columns is None or table.columns.label is not None or table.columns.labels
    last, name = last_step(fitted), Path(source_name(data)).name
    return Subject(
        last,
        X if last is fitted else fitted[:-1].transform(X),
        y if told else None,
        title=f"Report on {model.name}",
        cells=X,
        columns=note.columns or [],
        kinds=note.kinds,
        called=[cells[0] for cells in table.kept] if table.kept_names else None,
        shown=_shown(X, note),
        targets=note.targets,
        source=name,
        n_fit=note.n_rows or None,
        about=_about(fitted, note, model),
        repeats=curve,
        seed=seed,
    )


def _shown(X: Any, note: FileNote) -> Callable[[int], Any] | None:
    """Return a function that tells what a row holds: its picture, or its first cells."""
    from scipy.sparse import issparse

    from ..io.kinds import IMAGE, TEXT
    from ..report.html import joined
    from ..report.pictures import picture
    from ..report.subject import word

    if issparse(X):
        return None
    names = note.columns or [str(k + 1) for k in range(note.n_features)]
    # Texts and pictures say more of a row than numbers.
    order = sorted(range(len(names)), key=lambda k: note.encoded.get(k) not in (TEXT, IMAGE))
    only = len(names) == 1

    def cell(value: Any, place: int) -> Any:
        if note.encoded.get(place) == IMAGE:
            return picture(value)
        text = "" if value is None else word(value)
        text = f"{text[:_LONGEST]}..." if len(text) > _LONGEST else text
        return text if only else f"{names[place]}: {text}"

    def shown(row: int) -> Any:
        parts = [cell(X[row, place], place) for place in order[:_CELLS]]
        return joined(part for k, each in enumerate(parts) for part in (", " * (k > 0), each))

    return shown


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
