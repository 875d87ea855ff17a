"""Where the labelling page is: its options, and whether the network reaches it."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from .options import UsageError

if TYPE_CHECKING:
    from ..app.security import Site


@dataclass(frozen=True)
class Place:
    """Where the page shall be."""

    host: Annotated[
        str,
        typer.Option(
            help="The address of this computer at which the page is; 0.0.0.0 is all of them, and "
            "the network reaches it then."
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where the page is; 0 takes a free port.")
    ] = 0
    tls_cert: Annotated[
        Path | None,
        typer.Option(metavar="FILE.pem", help="A certificate: the page speaks TLS (https) then."),
    ] = None
    tls_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE.pem", help="Its key, if it stands in a file of its own."),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where people find the page if a proxy or a name stands before it, as in "
            "https://labels.example.org.",
        ),
    ] = None

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
