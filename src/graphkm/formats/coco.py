"""Categories of whole pictures, as COCO has them (https://cocodataset.org/#format-data).

`images` have an id and a `file_name`, `categories` an id and a name, and each annotation joins one
of both. Boxes and masks are not read: a picture has the categories of its boxes. Who annotated
stands in `annotator` of an annotation; other tools pass over it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .left_out import LeftOut
from .names import Asked, check_columns
from .shape import Annotations, AnnotationsError, Answer, Row, kind_of

FILE = "file_name"
_PATHS = (FILE, "file", "image", "path", "filename")
_SHAPES = ("bbox", "segmentation", "keypoints", "counts")


def read_coco(data: Any, asked: Asked) -> Annotations:
    """Return the pictures of a data set.

    Examples
    --------
    >>> pictures = [{"id": 1, "file_name": "a.png"}]
    >>> coco = {"images": pictures, "categories": [{"id": 5, "name": "cat"}],
    ...         "annotations": [{"id": 1, "image_id": 1, "category_id": 5}]}
    >>> [row] = read_coco(coco, Asked("coco.json")).rows
    >>> row.cells, row.id, row.answers[0].value
    ({'file_name': 'a.png'}, '1', ('cat',))
    """
    name, left = asked.name, LeftOut("the rows have no place for")
    categories = {each.get("id"): str(each.get("name")) for each in _list(data, "categories", name)}
    said: dict[Any, dict[str | None, dict[str, None]]] = {}
    for each in _list(data, "annotations", name):
        if each.get("category_id") not in categories:
            raise AnnotationsError(
                f"{name}: an annotation has the category {each.get('category_id')!r}, which is not "
                "in its list of categories."
            )
        left.add("boxes and masks", int(any(each.get(shape) for shape in _SHAPES)))
        who = each.get("annotator")
        people = said.setdefault(each.get("image_id"), {})
        names = people.setdefault(None if who is None else str(who), {})
        names[categories[each["category_id"]]] = None
    rows = []
    for image in _list(data, "images", name):
        cells = {column: value for column, value in image.items() if column != "id"}
        people = said.pop(image.get("id"), {})
        answers = tuple(Answer(tuple(names), who) for who, names in people.items())
        id = image.get("id")
        rows.append(Row(cells, None if id is None else str(id), answers))
    if said:
        raise AnnotationsError(f"{name}: annotations name the picture {next(iter(said))!r}, which "
                               "is not in its list of images.")  # fmt: skip
    question = asked.question or "label"
    return Annotations(rows, question, kind_of(rows, asked.kind, name), left.notes)


def _list(data: Mapping[str, Any], part: str, name: str) -> list[dict[str, Any]]:
    found = data.get(part)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise AnnotationsError(f"{name}: {part!r} must be a list of objects.")
    return found


def write_coco(found: Annotations) -> tuple[str, tuple[str, ...]]:
    """Return pictures and their categories, and notes on what COCO has no place for.

    Examples
    --------
    >>> row = Row({"file": "a.png"}, answers=(Answer(("cat",), "eva"),))
    >>> coco = json.loads(write_coco(Annotations([row]))[0])
    >>> coco["images"]
    [{'id': 1, 'file_name': 'a.png'}]
    >>> coco["annotations"]
    [{'id': 1, 'image_id': 1, 'category_id': 1, 'annotator': 'eva'}]
    """
    if found.kind == "quantity":
        raise AnnotationsError("COCO has categories, and these labels are quantities.")
    path = next((name for name in _PATHS if name in found.columns), None)
    if path is None:
        raise AnnotationsError(
            f"COCO names the file of each picture, and the rows have no column called {FILE}, "
            f"file, image or path. Rename it with --rename COLUMN={FILE}."
        )
    check_columns([c for c in found.columns if c != path], ("id", FILE), "COCO")
    left = LeftOut("COCO has no place for")
    numbers = {name: place for place, name in enumerate(found.classes, 1)}
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for place, (row, id) in enumerate(zip(found.rows, _ids(found.rows, left), strict=True), 1):
        if not row.cells.get(path):
            raise AnnotationsError(f"row {place} names no picture in its column {path}.")
        cells = {FILE if name == path else name: cell for name, cell in row.cells.items()}
        images.append({"id": id, **cells})
        left.add("predictions", len(row.guesses))
        for answer in row.answers:
            if answer.value is None:
                left.add("answers that skip a row")
            elif not answer.value:
                left.add("answers that name no category")
            for name in answer.value if isinstance(answer.value, tuple) else ():
                told = {"id": len(annotations) + 1, "image_id": id, "category_id": numbers[name]}
                who = {} if answer.who is None else {"annotator": answer.who}
                annotations.append(told | who)
    categories = [{"id": place, "name": name} for name, place in numbers.items()]
    whole = {"images": images, "categories": categories, "annotations": annotations}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n", left.notes


def _ids(rows: list[Row], left: LeftOut) -> list[int]:
    """Return the numbers of pictures: their ids, if all are whole numbers."""
    ids = [row.id for row in rows]
    if all(id is not None and id.isascii() and id.isdecimal() for id in ids):
        numbers = [int(str(id)) for id in ids]
        if len(set(numbers)) == len(ids) and list(map(str, numbers)) == ids:
            return numbers
    left.add("ids of rows that are no numbers", sum(id is not None for id in ids))
    return list(range(1, len(rows) + 1))
