"""The whole page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from .calibration import calibration_section
from .data import data_section
from .doubts import doubts_section
from .errors import errors_section
from .growth import growth_section
from .html import Markup, element, facts
from .members import members_section, score_section
from .novel import novel_section
from .ranges import ranges_section
from .style import STYLE
from .subject import Subject

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class Section(NamedTuple):
    """A part of the page."""

    name: str
    title: str
    make: Callable[[Subject], list[Markup]]


def sections_of(subject: Subject) -> list[Section]:
    """Return the parts of the page about a model; those that need held-out labels may be absent.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> X, y = make_moons(60, random_state=0)
    >>> model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    >>> [section.name for section in sections_of(Subject(model, X, y))][:3]
    ['data', 'members', 'score']
    """
    found = [
        Section("data", "Data", data_section),
        Section("members", "Members", members_section),
        Section("score", "Held-out score", score_section),
    ]
    if subject.held is not None:
        quantities = subject.kind == "quantities"
        if not quantities:
            found.append(Section("calibration", "Calibration", calibration_section))
        title = "Errors" if quantities else "Confusion by class"
        found.append(Section("errors", title, errors_section))
        title = "Prediction intervals" if quantities else "Prediction sets"
        found.append(Section("sets", title, ranges_section))
        found.append(Section("curve", "Learning curve", growth_section))
        found.append(Section("doubts", "Labels that look wrong", doubts_section))
        if subject.kind == "classes":
            found.append(Section("novel", "Rows of no known class", novel_section))
    return [*found, Section("made", "How the model was made", made_section)]


def made_section(subject: Subject) -> list[Markup]:
    """Return how the model was made."""
    settings = {k: v for k, v in subject.model.get_params(deep=False).items() if v is not None}
    lines = dict(subject.about) or {"method": type(subject.model).__name__}
    lines["random_state"] = str(subject.model.random_state)
    lines["parameters"] = ", ".join(f"{name}={_short(value)}" for name, value in settings.items())
    return [facts(lines.items())]


def _short(value: object, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}..."


def report_page(subject: Subject) -> str:
    """Return a page on a model and on rows: HTML without scripts, which needs no network.

    Parameters
    ----------
    subject : Subject
        The model, the rows, and what is known of them.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> from graphkm.report import Subject, report_page
    >>> X, y = make_moons(100, random_state=0)
    >>> y = y.astype(float)
    >>> y[30:] = float("nan")
    >>> model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    >>> page = report_page(Subject(model, X, y, title="Two moons", repeats=0))
    >>> page.startswith("<!doctype html>"), "<h1>Two moons</h1>" in page
    (True, True)
    """
    sections = sections_of(subject)
    parts = [
        element(
            "section",
            element("h2", each.title, id=each.name),
            *each.make(subject),
            aria_labelledby=each.name,
        )
        for each in sections
    ]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("title", subject.title),
        element("style", Markup(STYLE)),
    )
    body = element(
        "body",
        element("header", element("h1", subject.title), element("p", _first_words(subject))),
        _contents(sections),
        element("main", *parts),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _first_words(subject: Subject) -> str:
    """Return what the page is about."""
    kinds = {"classes": "one class", "labels": "several labels", "quantities": "a quantity"}
    kind = kinds[subject.kind]
    if subject.kind == "quantities" and subject.said.shape[1] > 1:
        kind = "several quantities"
    told = f"The model tells {kind} of every row. The page is about it and {subject.source}."
    if subject.held is None:
        return (
            f"{told} It has too few labels to hold any out, so nothing is known of its errors. "
            "Label two different rows of a class, or more, and train it again."
        )
    return f"{told} What is called held-out comes from fits that had not seen the label."


def _contents(sections: Iterable[Section]) -> Markup:
    links = [element("li", element("a", each.title, href=f"#{each.name}")) for each in sections]
    return element("nav", element("ol", *links), aria_label="Contents")
