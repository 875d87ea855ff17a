"""The pages and their addresses."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .images import TYPES
from .security import Guard, new_token
from .session import MeanwhileError, Session

_STATIC = Path(__file__).with_name("static")
_PAUSE = 0.05  # seconds between two looks at the state
_HEARTBEAT = 200  # looks without news, after which a sign of life is sent
_KINDS = ("label", "unknown", "skip")


class Pages:
    """What each address answers.

    Parameters
    ----------
    session : Session
        What is labelled.
    over : callable
        Says whether the server is about to stop; streams end then.
    """

    def __init__(self, session: Session, over: Callable[[], bool]) -> None:
        self._session, self._over = session, over
        self._static = {place.name: place for place in _STATIC.iterdir()}

    def app(self) -> Starlette:
        """Return the application, without its guard."""
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/api/state", self.state),
                Route("/api/events", self.events),
                Route("/api/row/{row}", self.row),
                Route("/api/map", self.places),
                Route("/api/colours", self.colours),
                Route("/api/review", self.review),
                Route("/api/answer", self.answer, methods=["POST"]),
                Route("/api/undo", self.undo, methods=["POST"]),
                Route("/api/model", self.save, methods=["POST"]),
                Route("/api/predictions", self.predict, methods=["POST"]),
                Route("/image/{row}", self.image),
                Route("/static/{name}", self.static),
            ],
            exception_handlers={HTTPException: _complain},
        )

    async def answer(self, request: Request) -> Response:
        """Keep an answer, and return the state."""
        given = await _json(request)
        row, kind, label = given.get("row"), given.get("kind"), given.get("label")
        if not isinstance(row, int) or isinstance(row, bool) or kind not in _KINDS:
            raise HTTPException(400, "an answer needs a row, and a kind: label, unknown or skip.")
        texts = label if isinstance(label, list) else [] if label is None else [label]
        if not all(isinstance(text, str) for text in texts):
            raise HTTPException(400, "a label must be a text, or a list of texts.")
        new = given.get("new") is True
        return await _changed(
            lambda: self._session.answer(row, kind, label, new=new, **_seen(given))
        )

    async def undo(self, request: Request) -> Response:
        """Take the last answer back, and return the state."""
        given = await _json(request)
        return await _changed(lambda: self._session.undo(**_seen(given)))

    async def save(self, request: Request) -> Response:
        """Write a model."""
        return await self._long(self._session.write_model)

    async def predict(self, request: Request) -> Response:
        """Write predictions of all rows."""
        return await self._long(self._session.write_predictions)

    async def _long(self, work: Callable[[], str]) -> Response:
        """Return what a thread says at its end: a page that is stopped does not wait for it."""
        done: Future[str] = Future()
        threading.Thread(target=_fulfil, args=(done, work), daemon=True).start()
        while not done.done() and not self._over():
            await asyncio.sleep(_PAUSE)
        if not done.done():
            raise HTTPException(503, "the page was stopped before the model was trained.")
        return await _changed(lambda: {"said": done.result()})

    async def state(self, request: Request) -> Response:
        """Return the state."""
        return JSONResponse(self._session.state())

    def row(self, request: Request) -> Response:
        """Return a row."""
        return JSONResponse(self._session.row(self._number(request)))

    def image(self, request: Request) -> Response:
        """Return the image of a row. Its path comes from the data, never from the request."""
        images, number = self._session.material.images, self._number(request)
        place = images(number) if images is not None else None
        if place is None:
            raise HTTPException(404, f"row {number + 1} has no image.")
        return FileResponse(place, media_type=TYPES[place.suffix.lower()])

    def static(self, request: Request) -> Response:
        """Return a file of the page."""
        if request.path_params["name"] not in self._static:
            raise HTTPException(404)
        return FileResponse(self._static[request.path_params["name"]])

    def _number(self, request: Request) -> int:
        """Return the row that an address names."""
        text, n = request.path_params["row"], len(self._session.material)
        if not (text.isascii() and text.isdecimal()):
            raise HTTPException(404)
        number = int(text) if len(text) <= len(str(n)) else n
        if number >= n:
            raise HTTPException(404, f"rows are numbered from 0 to {n - 1} here.")
        return number

    def places(self, request: Request) -> Response:
        """Return the map."""
        return JSONResponse(self._session.map())

    def colours(self, request: Request) -> Response:
        """Return the predictions and the labels of the rows on the map."""
        return JSONResponse(self._session.colours())

    def review(self, request: Request) -> Response:
        """Return labels that look wrong."""
        return JSONResponse(self._session.review())

    async def events(self, request: Request) -> Response:
        """Return a stream of states, a new one after every change."""
        return StreamingResponse(_events(self._session, self._over), media_type="text/event-stream")

    async def page(self, request: Request) -> Response:
        """Return the page itself."""
        return FileResponse(_STATIC / "index.html")


async def _json(request: Request) -> dict[str, Any]:
    """Return the object that a request holds."""
    try:
        given = await request.json()
    except (ValueError, RecursionError, ClientDisconnect):  # not JSON, too deep, or cut off
        raise HTTPException(400, "the request is not JSON that can be read.") from None
    if not isinstance(given, dict):
        raise HTTPException(400, "the request is not an object of JSON.")
    return given


def _fulfil(done: Future[str], work: Callable[[], str]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:
        done.set_exception(error)


def _seen(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the tab saw, if it says so."""
    return {"seen": given["seen"]} if "seen" in given else {}


async def _complain(request: Request, error: Exception) -> Response:
    """Return why a request cannot be answered, in one sentence."""
    assert isinstance(error, HTTPException)
    usual = {404: "there is nothing at this address.", 405: "this address takes no such request."}
    said = usual.get(error.status_code, error.detail)
    said = said if error.detail == HTTPStatus(error.status_code).phrase else error.detail
    return JSONResponse({"error": said}, error.status_code, headers=error.headers)


async def _changed(work: Callable[[], dict[str, Any]]) -> Response:
    """Return the result of `work`, which runs in a thread, because it waits for the disk."""
    try:
        return JSONResponse(await asyncio.to_thread(work))
    except MeanwhileError as error:
        raise HTTPException(409, str(error)) from error
    except OSError as error:
        raise HTTPException(507, f"not kept: {error.strerror or error}.") from error
    except ValueError as error:  # AnswerError, or a model that cannot be trained
        raise HTTPException(400, str(error)) from error


async def _events(session: Session, over: Callable[[], bool]) -> AsyncIterator[str]:
    """Yield the state whenever it has changed."""
    seen, silent = -1, 0
    while not over():
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
        The token in the address; a random one by default.
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
        pages = Pages(session, over=lambda: server.should_exit)
        config = uvicorn.Config(
            Guard(pages.app(), token, port),  # type: ignore[arg-type]
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        session.start()
        ready(f"http://127.0.0.1:{port}/{token}/")
        try:
            server.run(sockets=[listener])
        finally:
            session.end()
