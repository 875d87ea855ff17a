"""`FileNote`: what a model file says about the files its model was trained on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class FileNote:
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
        Whether indices of LIBSVM files count from 0.
    sparse : bool
        Whether rows were kept sparse.
    scale, method : str
        As chosen.
    n_rows, n_labeled : int
        What it was trained on.
    dropped : list of int
        Indices of the features of a LIBSVM file that were skipped.
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
    dropped: list[int] = field(default_factory=list)
    version: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as a model file holds it.

        Examples
        --------
        >>> note = FileNote("classify", "csv", ["x"], 1, "label", "text", None, False, False)
        >>> FileNote.from_json(note.as_json(), None) == note
        True
        """
        return {"command_line": asdict(self)}

    @classmethod
    def from_json(cls, found: dict[str, Any], model: Any) -> FileNote:
        """Return what a model file says; a model saved in Python says it itself."""
        if "command_line" in found:
            known = {f.name for f in fields(cls)}
            return cls(**{k: v for k, v in found["command_line"].items() if k in known})
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
            version=str(found.get("version", "")),
        )
