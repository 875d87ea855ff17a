"""How people come to the labelling page: links, the look of the page, and visitors of a demo."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..app.ground import Ground
from ..app.guidelines import Guidelines
from ..app.links import Links, LinksError, kept_links, new_secret
from ..app.security import Site
from ..app.server import Look, languages, serve
from ..app.visitors import Visitors
from .label_team import Labelling
from .options import UsageError
from .output import say


def page_look(lang: str | None, guidelines: Path | None, *, demo: bool) -> Look:
    """Return how the page looks; raise UsageError if it cannot look so."""
    known = [language["code"] for language in languages()]
    if lang is not None and lang not in known:
        raise UsageError(f"--lang {lang}: the page speaks {', '.join(known)}.")
    try:
        return Look(lang, None if guidelines is None else Guidelines(guidelines), demo)
    except ValueError as error:
        raise UsageError(f"--guidelines {guidelines}: no text in UTF-8 ({error}).") from error


def way_in(
    out: Path, site: Site, people: Sequence[str | None], *, together: bool, new: bool
) -> tuple[Links, list[str]]:
    """Return who may come in, and what to print: one link, or a line for each person.

    One person's link ends with the process. Those of several last: their hashes are kept beside the
    labels.
    """
    names = [name for name in people if name is not None]
    if not together:
        secret = new_secret()
        return Links.of(secret, people[0]), [site.address_of(secret)]
    try:
        door, made = kept_links(out.with_name(out.name + ".links"), names, new=new)
    except LinksError as error:
        raise UsageError(str(error)) from error
    return door, printed_links(site, names, made)


def printed_links(site: Site, people: Sequence[str], made: dict[str, str]) -> list[str]:
    """Return a line with the link of each person, as far as it is known.

    Examples
    --------
    >>> printed_links(Site("127.0.0.1", 8000), ["eva", "tom"], {"eva": "secret"})
    ['eva: http://127.0.0.1:8000/secret/', 'tom: the link of before (--new-links makes new ones)']
    """
    wide = max(map(len, people))
    before = "the link of before (--new-links makes new ones)"
    links = {name: site.address_of(secret) for name, secret in made.items()}
    return [f"{name}:{' ' * (wide - len(name))} {links.get(name, before)}" for name in people]


def serve_demo(
    labelling: Labelling,
    site: Site,
    listener: socket.socket,
    look: Look,
    tls: tuple[Path, Path | None] | None,
    browser: bool,
) -> None:
    """Serve a demo until Ctrl-C: everybody who comes labels the same rows anew."""
    ground = Ground(labelling.rows)
    visitors = Visitors(lambda: labelling.visit(ground))
    labelling.visit(ground)  # says at once what is wrong with the classes

    def ready() -> None:
        print(f"{len(labelling.rows):,} rows, in a demo that saves nothing. The page is at")
        print(site.address_of("").rstrip("/") + "/", flush=True)
        if browser:
            webbrowser.open(site.address_of("").rstrip("/") + "/")

    with suppress(KeyboardInterrupt):
        serve(visitors, visitors, site, listener, look=look, tls=tls, ready=ready)
    say("the demo is over, and nothing was saved.")
