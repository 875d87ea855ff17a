"""Examples of Prodigy, one in each line: `choice`, `classification` and `text_input`.

The format is the one of https://prodi.gy/docs/api-interfaces. Columns of a row are properties of
the example; Prodigy hands on those that it does not know. There is a line for each answer. Lines
belong to the same row if they have the same `row` in `meta`, or else the same `_input_hash`.
Quantities are texts in the field of `text_input`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .left_out import LeftOut
from .names import Asked, check_columns
from .shape import Annotations, AnnotationsError, Answer, Guess, Row, Value, kind_of, numbered
from .values import number_of

_OWN = (
    "answer", "accept", "options", "label", "user_input", "config", "meta", "predictions",
    "spans", "tokens", "relations", "score", "priority", "field_id", "field_label", "unknown",
)  # fmt: skip
_ROW = "row"


def read_examples(examples: Any, asked: Asked) -> Annotations:
    """Return the rows of examples.

    Examples
    --------
    >>> line = {"text": "Fine.", "accept": ["good"], "answer": "accept", "_annotator_id": "db-eva"}
    >>> [row] = read_examples([line], Asked("db.jsonl")).rows
    >>> row.cells, row.answers
    ({'text': 'Fine.'}, (Answer(value=('good',), who='db-eva', status='given'),))
    """
    left = LeftOut("the rows have no place for")
    one_label = _binary(examples)
    rows: dict[Any, Row] = {}
    for place, example in enumerate(examples, 1):
        if not isinstance(example, Mapping):
            raise AnnotationsError(f"{asked.name}: line {place} is no object of JSON.")
        meta = example.get("meta")
        meta = meta if isinstance(meta, Mapping) else {}
        id = meta.get(_ROW)
        hashed = example.get("_input_hash")
        key: Any = (hashed if hashed is not None else (place,)) if id is None else str(id)
        cells = _cells(example, meta, left)
        answers = _answers(example, one_label, asked, left)
        before = rows.get(key)
        if before is not None:
            if id is not None and before.cells != cells:
                raise AnnotationsError(
                    f"{asked.name}, line {place}: the row {id!r} stands in several lines, and "
                    "their cells differ."
                )
            row = before.cells, before.id, (*before.answers, *answers), before.guesses
            rows[key] = Row(*row)
        else:
            guesses = _guesses(example, one_label)
            rows[key] = Row(cells, None if id is None else str(id), answers, guesses)
    found = list(rows.values())
    question = asked.question or "label"
    return Annotations(found, question, kind_of(found, asked.kind, asked.name), left.notes)


def _binary(examples: Any) -> str | None:
    """Return the label of examples that ask for the same one, with accept or reject."""
    asked = [each for each in examples if isinstance(each, Mapping) and "label" in each]
    labels = {str(each["label"]) for each in asked}
    rejects = any(each.get("answer") == "reject" for each in asked)
    return labels.pop() if len(labels) == 1 and rejects else None


def _cells(example: Mapping[str, Any], meta: Mapping[str, Any], left: LeftOut) -> dict[str, Any]:
    cells = {
        name: value
        for name, value in example.items()
        if name not in _OWN and not name.startswith("_")
    }
    for name, value in meta.items():
        if name in cells:
            left.add(f"meta called {name}, like a property")
        elif name != _ROW:
            cells[name] = value
    for name in ("spans", "tokens", "relations"):
        left.add(name, int(bool(example.get(name))))
    return cells


def _value(example: Mapping[str, Any]) -> Value | None:
    if isinstance(example.get("accept"), list):
        return tuple(map(str, example["accept"]))
    if example.get("label") is not None:
        return (str(example["label"]),)
    text = example.get("user_input")
    return number_of(text) if isinstance(text, str) else None


def _answers(
    example: Mapping[str, Any], one_label: str | None, asked: Asked, left: LeftOut
) -> tuple[Answer, ...]:
    answer = example.get("answer")
    if answer is None:
        return ()
    who = example.get("_annotator_id") or example.get("_session_id")
    named = None if who is None else str(who)
    if answer == "ignore":
        return (Answer(None, named, "unknown" if example.get("unknown") else "skipped"),)
    value = _value(example)
    if answer == "reject":
        if one_label is not None:
            return (Answer((), named),)
        left.add("answers that only reject a label")
        return ()
    if value == () and asked.kind != "several" and not _multiple(example):
        return (Answer(None, named, "unknown"),)
    if value is None:
        left.add("answers to other interfaces")
        return ()
    return (Answer(value, named),)


def _multiple(example: Mapping[str, Any]) -> bool:
    config = example.get("config")
    return isinstance(config, Mapping) and config.get("choice_style") == "multiple"


def _guesses(example: Mapping[str, Any], one_label: str | None) -> tuple[Guess, ...]:
    """Return the guesses: our own list, or what an example without an answer has chosen before."""
    listed = example.get("predictions")
    if isinstance(listed, list):
        pairs = [(_value(each), each) for each in listed if isinstance(each, Mapping)]
        return tuple(
            Guess(value, each.get("score"), each.get("model"))
            for value, each in pairs
            if value is not None
        )
    value = _value(example)
    if "answer" in example or value in (None, ()):
        return ()
    assert value is not None
    return (Guess(value, example.get("score")),)


def write_examples(found: Annotations) -> tuple[str, tuple[str, ...]]:
    """Return examples, one in each line, and notes.

    Examples
    --------
    >>> row = Row({"text": "Fine."}, answers=(Answer(("good",), "eva"),))
    >>> example = json.loads(write_examples(Annotations([row]))[0])
    >>> example["accept"], example["answer"], example["_annotator_id"]
    (['good'], 'accept', 'eva')
    """
    check_columns(found.columns, _OWN, "Prodigy")
    hidden = next((name for name in found.columns if name.startswith("_")), None)
    if hidden is not None:
        raise AnnotationsError(
            f"the rows have a column called {hidden!r}, and names that begin with _ are Prodigy's "
            f"own. Leave it out with --drop {hidden}, or rename it with --rename {hidden}=NEW."
        )
    examples = []
    for row in numbered(found.rows):
        base = {**row.cells, **_interface(found)}
        if row.id is not None:
            base["meta"] = {_ROW: row.id}
        if row.guesses:
            base["predictions"] = [_guess(guess) for guess in row.guesses]
        examples += [{**base, **_answer(answer)} for answer in row.answers] or [
            {**base, **_chosen(row.guesses)}
        ]
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in examples), ()


def _interface(found: Annotations) -> dict[str, Any]:
    if found.kind == "quantity":
        return {"field_id": "user_input", "field_label": found.question, "_view_id": "text_input"}
    style = "multiple" if found.kind == "several" else "single"
    options = [{"id": name, "text": name} for name in found.classes]
    return {"options": options, "config": {"choice_style": style}, "_view_id": "choice"}


def _told(value: Value) -> dict[str, Any]:
    return {"accept": list(value)} if isinstance(value, tuple) else {"user_input": str(value)}


def _answer(answer: Answer) -> dict[str, Any]:
    told: dict[str, Any] = {"answer": "ignore" if answer.value is None else "accept"}
    if answer.value is not None:
        told |= _told(answer.value)
    if answer.status == "unknown":
        told["unknown"] = True
    if answer.who is not None:
        told |= {"_annotator_id": answer.who, "_session_id": answer.who}
    return told


def _chosen(guesses: Sequence[Guess]) -> dict[str, Any]:
    """Return what stands chosen on the page before anybody has answered."""
    return _told(guesses[0].value) if guesses else {}


def _guess(guess: Guess) -> dict[str, Any]:
    more = {"score": guess.score, "model": guess.model}
    return _told(guess.value) | {name: value for name, value in more.items() if value is not None}
