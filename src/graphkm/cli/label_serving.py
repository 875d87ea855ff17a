"""Where the labelling page is, and who may come in."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from .options import UsageError

if TYPE_CHECKING:
    from ..app.security import Site

_LONGEST = 100  # letters of a name, at most


class Place(NamedTuple):
    """Where the page shall be."""

    host: str
    port: int
    address: str | None
    tls_cert: Path | None
    tls_key: Path | None

    @property
    def tls(self) -> tuple[Path, Path | None] | None:
        """The files of the certificate and its key."""
        return None if self.tls_cert is None else (self.tls_cert, self.tls_key)

    def check(self) -> None:
        """Raise UsageError if this is no place."""
        if self.tls_key is not None and self.tls_cert is None:
            raise UsageError("--tls-key goes with --tls-cert; name the file of the certificate.")
        if self.address is not None:
            parts = urlsplit(self.address)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
                raise UsageError(
                    f"--address {self.address}: name a scheme and a host, as in "
                    "https://labels.example.org."
                )
        if self.tls_cert is not None:
            _check_certificate(self.tls_cert, self.tls_key)

    def opened(self) -> socket.socket:
        """Return a socket that listens there."""
        from ..app.server import listening

        try:
            return listening(self.host, self.port)
        except OSError as error:
            raise UsageError(
                f"--host {self.host} --port {self.port}: {error.strerror or error}. Name an "
                "address of this computer, and a port that is free."
            ) from error

    def site(self, port: int) -> Site:
        """Return where the page is, once the port is known."""
        from ..app.security import Site

        return Site(self.host, port, secure=self.tls_cert is not None, address=self.address)


def _check_certificate(cert: Path, key: Path | None) -> None:
    for path in (cert, key):
        if path is not None and not path.exists():
            raise FileNotFoundError(2, "No such file or directory", str(path))
    try:
        # A key with a password would ask for it in the middle of the start.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=lambda: "")
    except (ssl.SSLError, OSError) as error:
        raise UsageError(
            f"--tls-cert {cert}: no certificate with its key could be read ({error}). Both are "
            "files in PEM, and the key has no password."
        ) from error


def warning(site: Site) -> str:
    """Return what to warn of; empty if there is nothing."""
    if site.local or site.secure:
        return ""
    proxy = "Whatever stands before it has to speak TLS. " if site.address else ""
    return (
        "warning: the page is open to the network without TLS. Whoever can listen in between reads "
        f"rows, answers and links, and can answer in the name of others. {proxy}"
        "Pass --tls-cert and --tls-key, or use --host 127.0.0.1 behind a proxy or an SSH tunnel."
    )


def people_named(
    annotator: str | None, people: str | None, *, second: bool, new_links: bool, demo: bool
) -> list[str | None]:
    """Return who answers; None is a person without a name.

    Examples
    --------
    >>> people_named(None, "eva, tom", second=False, new_links=False, demo=False)
    ['eva', 'tom']
    """
    together = {"--annotator": annotator, "--people": people, "--demo": demo or None}
    given = [option for option, value in together.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} do not go together; pass one of them.")
    if new_links and people is None:
        raise UsageError("--new-links: name the people, as in --people eva,tom --new-links.")
    if second and not (annotator or people):
        raise UsageError("--second: name who answers, as in --annotator eva --second.")
    if people is None:
        return [None if annotator is None else _name(annotator, "--annotator")]
    found = [_name(name, "--people") for name in people.split(",")]
    if len({name.casefold() for name in found}) < len(found):
        raise UsageError(f"--people {people}: a name stands there twice.")
    return [*found]


def _name(name: str, option: str) -> str:
    """Return a person's name; raise UsageError if it is none."""
    name = name.strip()
    if not name or not name.isprintable() or len(name) > _LONGEST:
        raise UsageError(f"{option} {name!r}: a name has 1 to {_LONGEST} letters, in one line.")
    return name
