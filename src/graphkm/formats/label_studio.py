"""Tasks of Label Studio in JSON, with annotations and predictions.

The format is the one of https://labelstud.io/guide/task_format: a task has `data`, `annotations`
with a `result` each, and `predictions` with a `score` and a `model_version`. Answers to Choices,
Number and Rating are read, Choices and Number written. Label Studio gives tasks ids of its own and
knows people by email or number. So a row's id and other names of people stand in `meta` as well,
which it keeps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .left_out import LeftOut
from .names import Asked
from .shape import STATUSES, Annotations, AnnotationsError, Answer, Guess, Row, Value, kind_of

OBJECT = "row"
"""The name of what is labelled, in the labelling interface."""

_KEYS = {"choices": "choices", "number": "number", "rating": "rating"}
_TASK = {"id", "data", "meta", "annotations", "completions", "predictions"}
_WHOLE = re.compile(r"0|[1-9]\d{0,17}")


def read_tasks(tasks: Any, asked: Asked) -> Annotations:
    """Return the rows of tasks.

    Examples
    --------
    >>> result = [{"from_name": "mood", "type": "choices", "value": {"choices": ["good"]}}]
    >>> task = {"id": 3, "data": {"text": "Fine."}, "annotations": [{"result": result}]}
    >>> found = read_tasks([task], Asked("tasks.json"))
    >>> found.question, found.rows[0].id, found.rows[0].answers[0].value
    ('mood', '3', ('good',))
    """
    for place, task in enumerate(tasks, 1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise AnnotationsError(f"{asked.name}: task {place} has no data.")
    question = asked.one_of([r["from_name"] for task in tasks for r in _answering(task)])
    left = LeftOut("only answers to one question of Choices, Number or Rating are taken, and not")
    rows = [_row(task, question, asked, left) for task in tasks]
    return Annotations(rows, question, kind_of(rows, asked.kind, asked.name), left.notes)


def _said(task: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from task.get("annotations") or task.get("completions") or ()
    yield from task.get("predictions") or ()


def _answering(task: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the results of a task that answer a question."""
    for said in _said(task):
        yield from filter(is_answer, results_of(said))


def results_of(said: Any) -> list[Any]:
    """Return the results of an annotation or a prediction."""
    found = said.get("result") if isinstance(said, Mapping) else None
    return found if isinstance(found, list) else []


def is_answer(result: Any) -> bool:
    """Return whether a result answers a question about the whole row.

    Examples
    --------
    >>> is_answer({"from_name": "n", "type": "number", "value": {"number": 3}})
    True
    >>> is_answer({"from_name": "box", "type": "rectanglelabels", "value": {"x": 3}})
    False
    """
    if not isinstance(result, Mapping) or not isinstance(result.get("from_name"), str):
        return False
    value = result.get("value")
    return isinstance(value, Mapping) and set(value) == {_KEYS.get(str(result.get("type")))}


def value_of_results(results: list[Any], question: str) -> Value | None:
    """Return what results say to a question; None if nothing.

    Examples
    --------
    >>> one = {"from_name": "n", "type": "number", "value": {"number": 3}}
    >>> value_of_results([one], "n")
    3
    """
    for result in results:
        if is_answer(result) and result["from_name"] == question:
            (value,) = result["value"].values()
            if isinstance(value, list) and all(isinstance(name, str) for name in value):
                return tuple(value)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return value
    return None


def _row(task: Mapping[str, Any], question: str, asked: Asked, left: LeftOut) -> Row:
    for said in _said(task):
        for result in results_of(said):
            if not (is_answer(result) and result["from_name"] == question):
                kind = result.get("type") if isinstance(result, Mapping) else "unknown"
                left.add(f"results of the type {kind}")
    numbers = [each for each in task.get("predictions") or () if not isinstance(each, Mapping)]
    left.add("predictions of which the file has the number alone", len(numbers))
    others = set(task) - _TASK
    for name in sorted(others):
        left.add(f"{name} of tasks", task[name] not in (None, [], {}, 0, False))
    annotations = task.get("annotations") or task.get("completions") or ()
    meta = task.get("meta")
    meta = meta if isinstance(meta, Mapping) else {}
    id = meta.get("row", task.get("id"))
    return Row(
        dict(task["data"]),
        None if id is None else str(id),
        tuple(answer_of(each, question, asked.kind == "several") for each in annotations),
        tuple(_guesses(task.get("predictions") or (), question)),
    )


def answer_of(annotation: Mapping[str, Any], question: str, several: bool = False) -> Answer:
    """Return what an annotation answers. If it is empty, its author could not tell.

    Examples
    --------
    >>> answer_of({"completed_by": {"id": 1, "email": "e@example.org"}, "result": []}, "mood")
    Answer(value=None, who='e@example.org', status='unknown')
    """
    results = results_of(annotation)
    own = next((r["meta"] for r in results if isinstance(r, dict) and "meta" in r), None)
    own = own if isinstance(own, Mapping) else {}
    who = own.get("annotator", _person(annotation.get("completed_by")))
    value = value_of_results(results, question)
    skipped = bool(annotation.get("was_cancelled") or annotation.get("skipped"))
    if skipped:
        status = own.get("status")
        return Answer(None, who, status if status in STATUSES[1:] else "skipped")
    if value is None:
        return Answer((), who) if several else Answer(None, who, "unknown")
    return Answer(value, who)


def _person(who: Any) -> str | None:
    """Return what a person is called: by email, or else by number."""
    if isinstance(who, Mapping):
        who = who.get("email") or who.get("id")
    return None if who is None else str(who)


def _guesses(predictions: Any, question: str) -> Iterator[Guess]:
    for each in filter(lambda one: isinstance(one, Mapping), predictions):
        value = value_of_results(results_of(each), question)
        if value is not None:
            score, model = each.get("score"), each.get("model_version")
            yield Guess(value, score, None if model is None else str(model))


def write_tasks(found: Annotations) -> tuple[str, tuple[str, ...]]:
    """Return tasks as JSON, and notes.

    Examples
    --------
    >>> row = Row({"text": "Fine."}, guesses=(Guess(("good",), 0.9, "m 1"),))
    >>> [task] = json.loads(write_tasks(Annotations([row]))[0])
    >>> task["predictions"][0]["score"], task["predictions"][0]["result"][0]["value"]
    (0.9, {'choices': ['good']})
    """
    tasks = [_task(row, found.question) for row in found.rows]
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", ()


def _task(row: Row, question: str) -> dict[str, Any]:
    task: dict[str, Any] = {"data": row.cells}
    if row.id is not None:
        task["meta"] = {"row": row.id}
        if _WHOLE.fullmatch(row.id):
            task["id"] = int(row.id)
    task["annotations"] = [_annotation(answer, question) for answer in row.answers]
    task["predictions"] = [prediction(guess, question) for guess in row.guesses]
    return task


def prediction(guess: Guess, question: str, to: str = OBJECT) -> dict[str, Any]:
    """Return a guess as Label Studio shows it to people."""
    told: dict[str, Any] = {"result": [_result(guess.value, question, to)]}
    if guess.score is not None:
        told["score"] = guess.score
    if guess.model is not None:
        told["model_version"] = guess.model
    return told


def _annotation(answer: Answer, question: str) -> dict[str, Any]:
    told: dict[str, Any] = {"was_cancelled": answer.status != "given"}
    meta: dict[str, Any] = {} if answer.status in STATUSES[:2] else {"status": answer.status}
    if answer.who is not None:
        if _WHOLE.fullmatch(answer.who):
            told["completed_by"] = int(answer.who)
        elif "@" in answer.who:
            told["completed_by"] = {"email": answer.who}
        else:
            meta["annotator"] = answer.who
    told["result"] = []
    if answer.value is not None or meta:
        told["result"] = [_result(() if answer.value is None else answer.value, question, OBJECT)]
    if meta:
        told["result"][0]["meta"] = meta
    return told


def _result(value: Value, question: str, to: str) -> dict[str, Any]:
    type = "choices" if isinstance(value, tuple) else "number"
    told = list(value) if isinstance(value, tuple) else value
    return {"from_name": question, "to_name": to, "type": type, "value": {type: told}}
