"""Personal links: the secret in an address says who somebody is.

A secret has 192 random bits. The file holds its SHA-256 alone: from that nobody can get back to the
secret, and because secrets are random, no list of likely ones helps. So a link is shown once.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .._util.files import replacing
from .standing import Person

VERSION = 1


class LinksError(Exception):
    """A file of links that cannot be used."""


def new_secret() -> str:
    """Return a secret that nobody can guess."""
    return secrets.token_urlsafe(24)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


class Links:
    """Who may come in.

    Parameters
    ----------
    hashes : dict
        For the SHA-256 of every secret, whose it is.

    Examples
    --------
    >>> links = Links.of("not a secret", "eva")
    >>> links.admits("not a secret"), links.admits("a guess")
    (('eva',), None)
    """

    def __init__(self, hashes: dict[str, Person]) -> None:
        self._hashes = hashes

    @classmethod
    def of(cls, secret: str, person: Person = None) -> Links:
        """Return one link."""
        return cls({_hash(secret): person})

    def admits(self, secret: str) -> tuple[Person] | None:
        """Return whose secret this is; None if it is nobody's.

        All hashes are compared, each in the same time, whatever the secret is.
        """
        given, found = _hash(secret), None
        for known, person in self._hashes.items():
            if secrets.compare_digest(given, known):
                found = (person,)
        return found

    def arrives(self) -> str | None:
        """Return the secret for a person who comes without one: nobody does."""
        return None


def kept_links(
    path: Path, people: Sequence[str], *, new: bool = False
) -> tuple[Links, dict[str, str]]:
    """Return the links of people, and the secrets that were made now, by their names.

    Parameters
    ----------
    path : Path
        The file of hashes. Who stands in it already keeps the link.
    people : sequence of str
        Who may come in; others who stand in the file may not.
    new : bool, default=False
        Whether all of these people get new links, and the old ones end.
    """
    known = _read(path)
    made = {name: new_secret() for name in people if new or name not in known}
    known |= {name: _hash(secret) for name, secret in made.items()}
    if made:
        with replacing(path) as file:
            with suppress(OSError, AttributeError):  # not on Windows
                os.fchmod(file.fileno(), 0o600)
            file.write(json.dumps({"graphkm_links": VERSION, "people": known}, indent=1).encode())
    return Links({known[name]: name for name in people}), made


def _read(path: Path) -> dict[str, str]:
    """Return the hashes of a file, by name."""
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_bytes())
        people = found["people"]
        whole = found["graphkm_links"] == VERSION and all(
            isinstance(text, str) and len(text) == 64 for text in people.values()
        )
        if not whole:
            raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError):
        raise LinksError(
            f"{path}: this is no file of links. Move it away; everybody gets a new link then."
        ) from None
    return dict(people)
