"""What a model file remembers of the files it was trained on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Memory:
    """The note that the command line puts into a model file.

    Attributes
    ----------
    task : str
        "classify" or "regress".
    format : str
        Of the training file.
    columns : list of str, optional
        The features' names, in the model's order; None where there were none.
    n_features : int
    label : str or int, optional
        The label's column, by name or by number from 1; None for LIBSVM.
    labels : str
        "number" or "text".
    unlabeled : str, optional
        The marker given.
    zero_based : bool
        What indices of LIBSVM files count from.
    sparse : bool
        Whether rows were kept sparse.
    scale, method : str
        As chosen.
    n_rows, n_labeled : int
        What it was trained on.
    version : str
        Of graphkm.
    """

    task: str
    format: str
    columns: list[str] | None
    n_features: int
    label: str | int | None
    labels: str
    unlabeled: str | None
    zero_based: bool
    sparse: bool
    scale: str = "none"
    method: str = "gkm"
    n_rows: int = 0
    n_labeled: int = 0
    version: str = ""

    def to_note(self) -> dict[str, Any]:
        """Return it as JSON holds it.

        Examples
        --------
        >>> memory = Memory("classify", "csv", ["x"], 1, "label", "text", None, False, False)
        >>> Memory.from_note(memory.to_note(), None) == memory
        True
        """
        return {"command_line": asdict(self)}

    @classmethod
    def from_note(cls, note: dict[str, Any], model: Any) -> Memory:
        """Return what a note says; for models saved in Python, what they know themselves."""
        if "command_line" in note:
            known = {f.name for f in fields(cls)}
            return cls(**{k: v for k, v in note["command_line"].items() if k in known})
        classes = getattr(model, "classes_", None)
        names = getattr(model, "feature_names_in_", None)
        return cls(
            task="regress" if classes is None else "classify",
            format="unknown",
            columns=None if names is None else [str(name) for name in names],
            n_features=int(model.n_features_in_),
            label=None,
            labels="text" if classes is not None and classes.dtype.kind in "UO" else "number",
            unlabeled=None,
            zero_based=False,
            sparse=False,
            version=str(note.get("version", "")),
        )
