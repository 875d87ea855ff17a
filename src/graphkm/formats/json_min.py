"""Label Studio's short export, JSON_MIN: one flat object for each annotation.

Columns of the task come first, then `id`, then the answers, then `annotator` and more, in this
order. Skipped tasks are not in it, and predictions have no place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .left_out import LeftOut
from .names import Asked, check_columns
from .shape import Annotations, AnnotationsError, Answer, Row, Value, kind_of, numbered

_AFTER = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
_ID = "id"


def read_json_min(objects: Any, asked: Asked) -> Annotations:
    """Return the rows of a short export.

    Examples
    --------
    >>> line = {"text": "Fine.", "id": 3, "mood": "good", "annotator": 1, "lead_time": 2.5}
    >>> [row] = read_json_min([line], Asked("min.json")).rows
    >>> row.cells, row.answers
    ({'text': 'Fine.'}, (Answer(value=('good',), who='1', status='given'),))
    """
    parts = [_parts(each, asked.name, place) for place, each in enumerate(objects, 1)]
    question = asked.one_of([name for _, outputs, _ in parts for name in outputs])
    left = LeftOut("the rows have no place for")
    rows: dict[Any, Row] = {}
    for place, (cells, outputs, after) in enumerate(parts):
        for name in (*_AFTER[1:], *outputs):
            taken = name == question or (outputs | after).get(name) is None
            left.add(name, 0 if taken else 1)
        value, who = _value(outputs.get(question)), after.get("annotator")
        named = None if who is None else str(who)
        answers = () if value is None else (Answer(value, named),)
        id = after.get(_ID)
        key: Any = (place,) if id is None else id
        before = rows[key].answers if key in rows else ()
        rows[key] = Row(cells, None if id is None else str(id), (*before, *answers))
    found = list(rows.values())
    return Annotations(found, question, kind_of(found, asked.kind, asked.name), left.notes)


Part = dict[str, Any]


def _parts(each: Any, name: str, place: int) -> tuple[Part, Part, Part]:
    """Return the cells, the answers, and what comes after them."""
    if not isinstance(each, Mapping):
        raise AnnotationsError(f"{name}: its part {place} is no object of JSON.")
    names = list(each)
    end = next((names.index(one) for one in _AFTER if one in each), len(names))
    start = names.index(_ID) if _ID in names[:end] else end
    cells = {one: each[one] for one in names[:start]}
    outputs = {one: each[one] for one in names[start + 1 : end]}
    after = {one: each[one] for one in names[end:]}
    return cells, outputs, after | ({_ID: each[_ID]} if start < end else {})


def _value(output: Any) -> Value | None:
    """Return an answer: a class, a list of one object, or an object of choices or a number."""
    if isinstance(output, list) and len(output) == 1:
        output = output[0]
    if isinstance(output, str):
        return (output,)
    if isinstance(output, Mapping):
        if isinstance(output.get("choices"), list):
            return tuple(map(str, output["choices"]))
        found = output.get("number", output.get("rating"))
        return found if isinstance(found, int | float) else None
    return None


def write_json_min(found: Annotations) -> tuple[str, tuple[str, ...]]:
    """Return rows as a short export, and notes on what it has no place for.

    Examples
    --------
    >>> row = Row({"text": "Fine."}, "3", (Answer(("good",), "1"),))
    >>> json.loads(write_json_min(Annotations([row]))[0])
    [{'text': 'Fine.', 'id': 3, 'label': 'good', 'annotator': 1, 'annotation_id': 1}]
    """
    check_columns(found.columns, (_ID, found.question, *_AFTER), "Label Studio's short export")
    left, objects = LeftOut("Label Studio's short export has no place for"), []
    number = 0
    for place, row in enumerate(_all_numbered(found.rows), 1):
        left.add("predictions", len(row.guesses))
        given = [answer for answer in row.answers if answer.value is not None]
        left.add("answers that skip a row", len(row.answers) - len(given))
        id = int(row.id or place) if (row.id or "0").isdecimal() else row.id
        id = id if str(id) == row.id else row.id
        base = {**row.cells, _ID: id}
        for answer in given:
            who: Any = answer.who
            if who is not None and who.isascii() and who.isdecimal() and str(int(who)) == who:
                who = int(who)
            number += 1
            told = {found.question: _output(answer.value), "annotator": who}
            objects.append({**base, **told, "annotation_id": number})
        if not given:
            objects.append({**base, "annotator": None, "annotation_id": None})
    return json.dumps(objects, ensure_ascii=False, indent=1) + "\n", left.notes


def _all_numbered(rows: list[Row]) -> list[Row]:
    """Return rows that all have an id: the place of the id divides cells from answers."""
    marked = Row({}, id="")
    return numbered([*rows, marked])[:-1]


def _output(value: Value | None) -> Any:
    if not isinstance(value, tuple):
        return [{"number": value}]
    return value[0] if len(value) == 1 else {"choices": list(value)}
