"""Who may speak to the page: whoever has a link, and no other page.

The secret of a link is the first part of every address. Requests must name this server as their
host, so that a foreign name that leads here reaches nothing; an IP address is no name that somebody
could have given. A request that a browser sends on behalf of another page says so in Origin or
Sec-Fetch-Site, and is refused. Bodies are small.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from .knocking import Knocking
from .standing import Person

LARGEST = 64 * 1024
"""Bytes of a request's body, at most."""

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Door(Protocol):
    """Knows whose a secret is."""

    def admits(self, secret: str) -> tuple[Person] | None:
        """Return whose secret this is; None if it is nobody's."""

    def arrives(self) -> str | None:
        """Return the secret for a person who comes without one; None if nobody gets one."""


@dataclass(frozen=True)
class Site:
    """Where the page is, as browsers name it.

    Parameters
    ----------
    host : str
        Where the server listens.
    port : int
        Its port.
    secure : bool, default=False
        Whether it speaks TLS.
    address : str, optional
        Where people find it, if something stands before it, as in "https://labels.example.org".

    Examples
    --------
    >>> site = Site("127.0.0.1", 8000)
    >>> site.address_of("secret"), site.is_own("localhost:8000"), site.is_own("evil.example:8000")
    ('http://127.0.0.1:8000/secret/', True, False)
    >>> Site("0.0.0.0", 8000, address="https://labels.example.org").is_own("labels.example.org")
    True
    """

    host: str
    port: int
    secure: bool = False
    address: str | None = None

    @property
    def local(self) -> bool:
        """Whether only this computer reaches it."""
        return self.host == "localhost" or _is_loopback(self.host)

    def address_of(self, secret: str) -> str:
        """Return a link."""
        root = self.address or f"{self._scheme}://{_bracketed(self._seen_host)}:{self.port}"
        return f"{root.rstrip('/')}/{secret}/"

    def is_own(self, host: str) -> bool:
        """Return whether a request may call its host so."""
        name, port = _split(host)
        if self.address is not None:
            parts = urlsplit(self.address)
            if (name, port) in ((parts.hostname, parts.port), (parts.hostname, None)):
                return True
        if port not in (self.port, None if self.port in (80, 443) else self.port):
            return False
        return name in ("127.0.0.1", "localhost", "::1", self.host) or (
            not self.local and _is_ip(name)
        )

    def is_from(self, origin: str) -> bool:
        """Return whether a request comes from this page."""
        scheme, _, host = origin.partition("://")
        public = urlsplit(self.address) if self.address is not None else None
        if public is not None and _split(host)[0] == public.hostname:
            return origin == f"{public.scheme}://{public.netloc}".lower()
        return scheme == self._scheme and self.is_own(host)

    @property
    def _scheme(self) -> str:
        return "https" if self.secure else "http"

    @property
    def _seen_host(self) -> str:
        """Return a host that people can type: "all addresses" is none."""
        return {"0.0.0.0": own_address(), "::": own_address()}.get(self.host, self.host)


def own_address() -> str:
    """Return the address of this computer in its network; its name, if there is none."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it only asks which way would be taken
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()


def complaint(method: str, headers: dict[str, str], site: Site) -> int | None:
    """Return the status with which a request is refused; None if it may pass.

    Examples
    --------
    >>> site, own = Site("127.0.0.1", 8000), {"host": "127.0.0.1:8000"}
    >>> complaint("GET", own, site)
    >>> complaint("GET", {"host": "evil.example:8000"}, site)
    403
    >>> complaint("POST", own | {"origin": "http://evil.example"}, site)
    403
    """
    if not site.is_own(headers.get("host", "").lower()):
        return 403
    origin = headers.get("origin")
    if origin is not None and not site.is_from(origin.lower()):
        return 403
    fetched = headers.get("sec-fetch-site", "none")
    opens = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    if fetched not in ("same-origin", "none") and not opens:
        return 403
    if method == "POST" and not headers.get("content-type", "").startswith("application/json"):
        return 415
    length = headers.get("content-length", "0")
    whole = length.isascii() and length.isdigit()
    if not whole or int(length) > LARGEST or "transfer-encoding" in headers:
        return 413
    return None


class Guard:
    """Refuses requests that `complaint` names or that have no secret, and adds safe headers.

    Parameters
    ----------
    app : ASGI application
        What is guarded. It sees addresses without the secret, and in ``scope["person"]`` whose it
        was.
    door : Door
        Knows whose a secret is.
    site : Site
        Where the server listens.
    """

    def __init__(self, app: App, door: Door, site: Site) -> None:
        self._app, self._door, self._site, self._knocking = app, door, site, Knocking()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "websocket":  # the page has none
            await send({"type": "websocket.close"})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *own]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in
                   scope["headers"]}  # fmt: skip
        status = complaint(scope["method"], headers, self._site)
        if status == 403:
            await _refuse(403, guarded)
            return
        secret = scope["path"].split("/", 2)[1] if scope["path"].startswith("/") else ""
        address = (scope.get("client") or ("", 0))[0]
        admitted, waits = self._admit(secret, address)
        opens = scope["method"] == "GET" and scope["path"] in ("/", f"/{secret}/")
        if admitted is None and not waits and opens and (new := self._door.arrives()):
            await _send_on(f"/{new}/", guarded)
            return
        if admitted is None or status is not None:
            await _refuse(429 if waits else 403 if admitted is None else status, guarded, waits)
            return
        path = "/" + scope["path"].split("/", 2)[2] if scope["path"].count("/") > 1 else "/"
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        inner["person"] = admitted[0]
        await self._app(inner, receive, guarded)

    def _admit(self, secret: str, address: str) -> tuple[tuple[Person] | None, int]:
        """Return whose secret this is, and the seconds to wait if it is not to be tried now."""
        admitted = self._door.admits(secret)
        waits = self._knocking.waits(address, admitted)
        if waits:
            return None, waits
        if admitted is None:
            self._knocking.wrong(address)
        else:
            self._knocking.right(address, admitted)
        return admitted, 0


_WHY = {
    403: "only the page itself may ask here: open the address that the command has printed.",
    413: f"a request needs a Content-Length of at most {LARGEST:,} bytes.",
    415: "a request needs the Content-Type application/json.",
    429: "too many wrong addresses were tried from here; wait a minute.",
}


async def _refuse(status: int | None, send: Send, waits: int = 0) -> None:
    status = status or 403
    text = json.dumps({"error": _WHY[status]}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(text))]
    headers += [(b"retry-after", b"%d" % waits)] if waits else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})


async def _send_on(place: str, send: Send) -> None:
    headers = [(b"location", place.encode()), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _split(host: str) -> tuple[str, int | None]:
    """Return the name and the port of a host, as requests write it."""
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname or "", parts.port
    except ValueError:
        return "", -1


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return _is_ip(name) and ipaddress.ip_address(name).is_loopback
