"""The labelling interface of a Label Studio project: XML, read safely, and written.

Python's XML parser expands entities, which a small text can make huge. So a text that declares any
is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from .label_studio import OBJECT
from .shape import Annotations, AnnotationsError, Kind

_LONGEST = 1_000_000
_TAGS = {"choices": "choices", "number": "number", "rating": "rating"}
Type = Literal["choices", "number", "rating"]


@dataclass(frozen=True)
class Control:
    """A question of the interface, and what it is about.

    Parameters
    ----------
    name, to : str
        The names of the question and of what is labelled.
    type : {"choices", "number", "rating"}
    kind : {"class", "several", "quantity"}
    columns : tuple of str
        The columns of the tasks that the interface shows of it.
    shows : str
        The tag that shows it, in small letters: text, image and so on.
    classes : tuple of str
    most : int or None
        The highest rating.
    """

    name: str
    to: str
    type: Type
    kind: Kind
    columns: tuple[str, ...]
    shows: str
    classes: tuple[str, ...] = ()
    most: int | None = None


def read_config(text: str, question: str | None = None) -> Control:
    """Return the question of an interface that has one, or the one of that name.

    Examples
    --------
    >>> xml = '''<View><Text name="t" value="$text"/><Choices name="mood" toName="t">
    ...   <Choice value="good"/><Choice value="bad"/></Choices></View>'''
    >>> found = read_config(xml)
    >>> found.name, found.classes, found.columns, found.kind
    ('mood', ('good', 'bad'), ('text',), 'class')
    """
    root = _parsed(text)
    tags = {each.get("name"): each for each in root.iter() if each.get("name")}
    found = [each for each in root.iter() if each.tag.lower() in _TAGS and each.get("toName")]
    asked = [each for each in found if question in (None, each.get("name"))]
    if len(asked) != 1:
        names = ", ".join(repr(each.get("name")) for each in found) or "none"
        raise AnnotationsError(
            "the labelling interface must have one question of Choices, Number or Rating"
            f"{'' if question is None else f' called {question!r}'}; it has {names}. "
            "Name one with --question."
        )
    control = asked[0]
    to = str(control.get("toName"))
    if to not in tags:
        raise AnnotationsError(
            f"the labelling interface has nothing called {to!r}, to be labelled."
        )
    value = str(tags[to].get("value", ""))
    type: Type = _TAGS[control.tag.lower()]  # type: ignore[assignment]
    multiple = (control.get("choice") or "single").lower() == "multiple"
    rating = int(control.get("maxRating") or 5) if type == "rating" else None
    return Control(
        str(control.get("name")),
        to,
        type,
        "quantity" if type != "choices" else "several" if multiple else "class",
        (value[1:],) if value.startswith("$") and len(value) > 1 else (),
        tags[to].tag.lower(),
        tuple(
            str(each.get("alias") or each.get("value"))
            for each in control.iter()
            if each.tag.lower() == "choice"
        ),
        rating,
    )


def _parsed(text: str) -> ElementTree.Element:
    if len(text) > _LONGEST or "<!" in text.replace("<!--", ""):
        raise AnnotationsError(
            "the labelling interface declares a document type or entities, or is very long; it is "
            "not read."
        )
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise AnnotationsError(f"the labelling interface is no XML ({error}).") from error


def write_config(found: Annotations, columns: Sequence[str] = ()) -> str:
    """Return an interface for rows: it shows these columns, or all.

    Examples
    --------
    >>> from graphkm.formats import Answer, Row
    >>> row = Row({"text": "Fine."}, answers=(Answer(("good",)),))
    >>> print(write_config(Annotations([row])))
    <View>
      <Text name="row" value="$text"/>
      <Choices name="label" toName="row" choice="single">
        <Choice value="good"/>
      </Choices>
    </View>
    """
    shown = list(columns) or found.columns
    lines = ["<View>"]
    for place, column in enumerate(shown):
        if len(shown) > 1:
            lines.append(f"  <Header value={quoteattr(column)}/>")
        tag = "Image" if column.lower() in ("image", "picture", "file_name") else "Text"
        name = OBJECT if place == 0 else f"{OBJECT}_{place + 1}"
        lines.append(f"  <{tag} name={quoteattr(name)} value={quoteattr('$' + column)}/>")
    about = f"name={quoteattr(found.question)} toName={quoteattr(OBJECT)}"
    if found.kind == "quantity":
        lines.append(f"  <Number {about}/>")
    else:
        style = "multiple" if found.kind == "several" else "single"
        lines.append(f'  <Choices {about} choice="{style}">')
        lines += [f"    <Choice value={quoteattr(name)}/>" for name in found.classes]
        lines.append("  </Choices>")
    return "\n".join([*lines, "</View>"])
