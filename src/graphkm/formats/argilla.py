"""Records of argilla: nested, as its `to_json` writes them, or flat, as `datasets` does.

A record has `fields`, `metadata`, `suggestions` by question and `responses` by question
(https://docs.argilla.io/latest/reference/argilla/records/records). The nested form is also what
argilla reads. It keeps one response of a person and one suggestion for each question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from .left_out import LeftOut
from .names import Asked
from .shape import Annotations, AnnotationsError, Answer, Guess, Row, Value, kind_of
from .values import plain_text

NOBODY = "00000000-0000-0000-0000-000000000000"
"""The user of answers without a name: argilla's responses need one."""

_STATES = {"discarded": "skipped", "submitted": "given"}
_FLAT = ("id", "status", "_server_id", "inserted_at", "updated_at")
_NESTED = {"id", "fields", "metadata", "suggestions", "responses", "status", "_server_id"}


def is_flat(record: Mapping[str, Any]) -> bool:
    """Return whether a record has its questions in names with dots.

    Examples
    --------
    >>> is_flat({"text": "Fine.", "mood.responses": ["good"]}), is_flat({"fields": {}})
    (True, False)
    """
    ends = (".responses", ".suggestion")
    return "fields" not in record and any(name.endswith(ends) for name in record)


def read_records(records: Any, asked: Asked) -> Annotations:
    """Return the rows of records.

    Examples
    --------
    >>> responses = {"mood": [{"value": "good", "user_id": "u1", "status": "submitted"}]}
    >>> record = {"id": "3", "fields": {"text": "Fine."}, "responses": responses}
    >>> [row] = read_records([record], Asked("records.json")).rows
    >>> row.id, row.answers
    ('3', (Answer(value=('good',), who='u1', status='given'),))
    """
    nested = []
    for place, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            raise AnnotationsError(f"{asked.name}: record {place} is no object of JSON.")
        nested.append(_nested(record) if is_flat(record) else record)
        if not isinstance(nested[-1].get("fields"), Mapping):
            raise AnnotationsError(f"{asked.name}: record {place} has no fields.")
    told = [
        name
        for record in nested
        for part in ("responses", "suggestions")
        for name in record.get(part) or {}
    ]
    question = asked.one_of(told)
    left = LeftOut("the rows have no place for")
    rows = [_row(record, question, left) for record in nested]
    return Annotations(rows, question, kind_of(rows, asked.kind, asked.name), left.notes)


def _nested(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a flat record as a nested one."""
    fields: dict[str, Any] = {}
    responses: dict[str, Any] = {}
    suggestions: dict[str, Any] = {}
    questions = [
        name.rsplit(".", 1)[0] for name in record if name.endswith((".responses", ".suggestion"))
    ]
    for question in dict.fromkeys(questions):
        start = f"{question}.responses"
        parts = [record.get(name) or [] for name in (start, f"{start}.users", f"{start}.status")]
        responses[question] = [
            {"value": value, "user_id": who, "status": status}
            for value, who, status in zip_longest(*parts)
        ]
        value = record.get(f"{question}.suggestion")
        if value is not None:
            start = f"{question}.suggestion"
            more = {name: record.get(f"{start}.{name}") for name in ("score", "agent")}
            suggestions[question] = {"value": value, **more}
    for name, value in record.items():
        if name not in _FLAT and not any(name.startswith(f"{q}.") for q in questions):
            fields[name] = value
    about = {"id": record.get("id"), "fields": fields}
    return about | {"responses": responses, "suggestions": suggestions}


def _row(record: Mapping[str, Any], question: str, left: LeftOut) -> Row:
    cells = dict(record["fields"])
    for name, value in (record.get("metadata") or {}).items():
        if name in cells:
            left.add(f"metadata called {name}, like a field")
        else:
            cells[name] = value
    for name in sorted(set(record) - _NESTED):
        left.add(f"{name} of records", record[name] not in (None, [], {}))
    answers = []
    for response in (record.get("responses") or {}).get(question) or ():
        if response.get("status") == "draft":
            left.add("drafts")
            continue
        value = _value(response.get("value"))
        if value is None and response.get("value") is not None:
            left.add("responses that are neither labels nor numbers")
            continue
        who = response.get("user_id")
        named = None if who in (None, "", "None", NOBODY) else str(who)
        missing = "given" if value is not None else "skipped"
        status = _STATES.get(response.get("status") or "", missing)
        if status == "skipped":
            answers.append(Answer(None, named, "skipped"))
        elif value is not None:
            answers.append(Answer(value, named))
    id = record.get("id")
    guesses = _guesses((record.get("suggestions") or {}).get(question), left)
    return Row(cells, None if id is None else str(id), tuple(answers), guesses)


def _value(value: Any) -> Value | None:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return tuple(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if number else None


def _guesses(suggestion: Any, left: LeftOut) -> tuple[Guess, ...]:
    value = None if suggestion is None else _value(suggestion.get("value"))
    if value is None:
        return ()
    score, agent = suggestion.get("score"), suggestion.get("agent")
    if isinstance(score, list):
        left.add("scores of single labels in suggestions")
        score = None
    return (Guess(value, score, None if agent is None else str(agent)),)


def write_records(found: Annotations, *, lines: bool = False) -> tuple[str, tuple[str, ...]]:
    """Return records as JSON, as argilla reads it, or one in each line; and notes.

    Examples
    --------
    >>> row = Row({"text": "Fine."}, "3", (Answer(("good",), "u1"),))
    >>> [record] = json.loads(write_records(Annotations([row]))[0])
    >>> record["responses"]
    {'label': [{'value': 'good', 'user_id': 'u1', 'status': 'submitted'}]}
    """
    left = LeftOut("argilla has no place for")
    records = [_record(row, found, left) for row in found.rows]
    texts = [json.dumps(record, ensure_ascii=False) for record in records]
    if lines:
        return "".join(f"{one}\n" for one in texts), left.notes
    return "[" + ",\n ".join(texts) + "]\n", left.notes


def _record(row: Row, found: Annotations, left: LeftOut) -> dict[str, Any]:
    people = [answer.who for answer in row.answers]
    twice = next((who for who in people if people.count(who) > 1), "")
    if twice != "":
        person = twice or "people without a name"
        raise AnnotationsError(
            f"the row {row.id or row.cells} has several answers of {person}, and argilla keeps "
            "one of each person. Give them names, or leave answers out."
        )
    left.add("further predictions of a row", max(0, len(row.guesses) - 1))
    unknown = sum(answer.status == "unknown" for answer in row.answers)
    left.add('the difference between "skipped" and "unknown"', unknown)
    responses = [
        {
            "value": _told(answer.value, found),
            "user_id": answer.who or NOBODY,
            "status": "discarded" if answer.value is None else "submitted",
        }
        for answer in row.answers
    ]
    suggestions = [
        {"value": _told(guess.value, found), "score": guess.score, "agent": guess.model}
        for guess in row.guesses[:1]
    ]
    return {
        "id": row.id,
        "fields": {name: plain_text(cell) for name, cell in row.cells.items()},
        "metadata": {},
        "suggestions": {found.question: suggestions[0]} if suggestions else {},
        "responses": {found.question: responses} if responses else {},
        "vectors": {},
        "status": "completed" if any(a.value is not None for a in row.answers) else "pending",
    }


def _told(value: Value | None, found: Annotations) -> Any:
    if not isinstance(value, tuple):
        return value
    return list(value) if found.kind == "several" else value[0]
