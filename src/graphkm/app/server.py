"""The pages and their addresses."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from .images import TYPES
from .security import Guard, new_token
from .session import AnswerError, Session

_STATIC = Path(__file__).with_name("static")
_PAUSE = 0.05  # seconds between two looks at the state
_HEARTBEAT = 200  # looks after which a silent connection is used
_KINDS = ("label", "unknown", "skip")


class Pages:
    """What each address answers.

    Parameters
    ----------
    session : Session
        What is labelled.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def app(self) -> Starlette:
        """Return the application, without its guard."""
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/api/state", self.state),
                Route("/api/events", self.events),
                Route("/api/row/{row:int}", self.row),
                Route("/api/map", self.places),
                Route("/api/colours", self.colours),
                Route("/api/answer", self.answer, methods=["POST"]),
                Route("/api/undo", self.undo, methods=["POST"]),
                Route("/api/model", self.save, methods=["POST"]),
                Route("/image/{row:int}", self.image),
                Mount("/static", StaticFiles(directory=_STATIC)),
            ]
        )

    async def answer(self, request: Request) -> Response:
        """Keep an answer, and return the state."""
        given = await _json(request)
        row, kind, label = given.get("row"), given.get("kind"), given.get("label")
        if not isinstance(row, int) or isinstance(row, bool) or kind not in _KINDS:
            return JSONResponse({"error": "an answer has a row and a kind."}, 400)
        if label is not None and not isinstance(label, str):
            return JSONResponse({"error": "a label is a text."}, 400)
        return await _changed(lambda: self._session.answer(row, kind, label))

    async def undo(self, request: Request) -> Response:
        """Take the last answer back, and return the state."""
        return await _changed(self._session.undo)

    async def save(self, request: Request) -> Response:
        """Write a model."""
        return await _changed(lambda: {"said": self._session.write_model()})

    async def state(self, request: Request) -> Response:
        """Return the state."""
        return JSONResponse(self._session.state())

    def row(self, request: Request) -> Response:
        """Return a row."""
        number = request.path_params["row"]
        if number >= len(self._session.material):
            return JSONResponse({"error": f"there is no row {number + 1}."}, 404)
        return JSONResponse(self._session.row(number))

    def image(self, request: Request) -> Response:
        """Return the image of a row. Its path comes from the data, never from the request."""
        material, number = self._session.material, request.path_params["row"]
        known = material.images is not None and number < len(material)
        place = material.images(number) if material.images is not None and known else None
        if place is None:
            return Response("no image", 404)
        return FileResponse(place, media_type=TYPES[place.suffix.lower()])

    def places(self, request: Request) -> Response:
        """Return the map."""
        return JSONResponse(self._session.map())

    def colours(self, request: Request) -> Response:
        """Return what each row on the map is."""
        return JSONResponse(self._session.colours())

    async def events(self, request: Request) -> Response:
        """Return the state again and again."""
        return StreamingResponse(_events(self._session), media_type="text/event-stream")

    async def page(self, request: Request) -> Response:
        """Return the page itself."""
        return FileResponse(_STATIC / "index.html")


async def _json(request: Request) -> dict[str, Any]:
    try:
        given = await request.json()
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


async def _changed(work: Callable[[], dict[str, Any]]) -> Response:
    """Return what work returns; it runs beside the loop, because it waits for the disk."""
    try:
        return JSONResponse(await asyncio.to_thread(work))
    except AnswerError as error:
        return JSONResponse({"error": str(error)}, 400)
    except OSError as error:
        return JSONResponse({"error": f"not kept: {error.strerror or error}."}, 507)
    except ValueError as error:
        return JSONResponse({"error": str(error)}, 400)


async def _events(session: Session) -> AsyncIterator[str]:
    """Yield the state whenever it has changed."""
    seen, silent = -1, 0
    while True:
        if session.version != seen:
            seen, silent = session.version, 0
            yield f"data: {json.dumps(session.state())}\n\n"
        elif silent >= _HEARTBEAT:
            silent = 0
            yield ": still here\n\n"
        silent += 1
        await asyncio.sleep(_PAUSE)


def serve(
    session: Session, *, port: int = 0, token: str | None = None, ready: Callable[[str], None]
) -> None:
    """Serve the page on 127.0.0.1 until Ctrl-C.

    Parameters
    ----------
    session : Session
        What is labelled.
    port : int, default=0
        0 takes a free one.
    token : str, optional
        Of the address; a random one by default.
    ready : callable
        Takes the address when the server listens.
    """
    import uvicorn

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with listener:
        listener.bind(("127.0.0.1", port))
        listener.listen()
        port = listener.getsockname()[1]
        token = token or new_token()
        config = uvicorn.Config(
            Guard(Pages(session).app(), token, port),  # type: ignore[arg-type]
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        session.start()
        ready(f"http://127.0.0.1:{port}/{token}/")
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            session.end()
