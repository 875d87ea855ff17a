"""Who may speak to the page: whoever knows the token, from this machine, and no other page.

The token is the first part of every address. Requests must name this server as their host, so that
a foreign name that leads to 127.0.0.1 reaches nothing. A request that a browser sends on behalf of
another page says so in Origin or Sec-Fetch-Site, and is refused. Bodies are small.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

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


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(24)


def hosts_of(port: int) -> set[str]:
    """Return what a request for this server may call its host.

    Examples
    --------
    >>> sorted(hosts_of(8000))
    ['127.0.0.1:8000', 'localhost:8000']
    """
    return {f"127.0.0.1:{port}", f"localhost:{port}"}


def complaint(method: str, path: str, headers: dict[str, str], token: str, port: int) -> int | None:
    """Return the status with which a request is refused; None if it may pass.

    Examples
    --------
    >>> own = {"host": "127.0.0.1:8000"}
    >>> complaint("GET", "/secret/api/state", own, "secret", 8000)
    >>> complaint("GET", "/guess/api/state", own, "secret", 8000)
    403
    >>> complaint("GET", "/secret/", {"host": "evil.example:8000"}, "secret", 8000)
    403
    >>> foreign = own | {"origin": "http://evil.example"}
    >>> complaint("POST", "/secret/api/answer", foreign, "secret", 8000)
    403
    """
    hosts = hosts_of(port)
    if headers.get("host", "").lower() not in hosts:
        return 403
    first = path.split("/", 2)[1] if path.startswith("/") else ""
    if not secrets.compare_digest(first.encode(), token.encode()):
        return 403
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in {f"http://{host}" for host in hosts}:
        return 403
    site = headers.get("sec-fetch-site", "none")
    opens = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    if site not in ("same-origin", "none") and not opens:
        return 403
    if method == "POST" and not headers.get("content-type", "").startswith("application/json"):
        return 415
    length = headers.get("content-length", "0")
    whole = length.isascii() and length.isdigit()
    if not whole or int(length) > LARGEST or "transfer-encoding" in headers:
        return 413
    return None


class Guard:
    """Refuses requests that `complaint` names, and adds safe headers to all answers.

    Parameters
    ----------
    app : ASGI application
        What is guarded; it sees addresses without the token.
    token : str
        The first part of every address.
    port : int
        Where the server listens.
    """

    def __init__(self, app: App, token: str, port: int) -> None:
        self._app, self._token, self._port = app, token, port

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
        status = complaint(scope["method"], scope["path"], headers, self._token, self._port)
        if status is not None:
            await _refuse(status, guarded)
            return
        path = "/" + scope["path"].split("/", 2)[2] if scope["path"].count("/") > 1 else "/"
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        await self._app(inner, receive, guarded)


_WHY = {
    403: "only the page itself may ask here: open the address that the command has printed.",
    413: f"a request needs a Content-Length of at most {LARGEST:,} bytes.",
    415: "a request needs the Content-Type application/json.",
}


async def _refuse(status: int, send: Send) -> None:
    text = json.dumps({"error": _WHY[status]}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(text))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
