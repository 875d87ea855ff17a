"""The pages and their addresses."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .classes import AnswerError
from .guidelines import Guidelines
from .images import TYPES
from .searching import Search, Wanted
from .security import Door, Guard, Site
from .session import MeanwhileError, Session
from .standing import Person

_STATIC = Path(__file__).with_name("static")
_PAUSE = 0.05  # seconds between two looks at the state
_HEARTBEAT = 200  # looks without news, after which a sign of life is sent
_KINDS = ("label", "unknown", "skip")


class Rooms(Protocol):
    """Has the labelling of each person."""

    def session(self, who: Person) -> Session:
        """Return the labelling as one person sees it."""

    def start(self) -> None:
        """Begin to learn."""

    def end(self) -> None:
        """Stop learning, and close the files."""


@dataclass(frozen=True)
class Look:
    """How the page looks, whoever sees it.

    Parameters
    ----------
    language : str, optional
        The language of the page; None follows the browser.
    guidelines : Guidelines, optional
        What is shown beside the rows.
    demo : bool, default=False
        Whether nothing is saved.
    """

    language: str | None = None
    guidelines: Guidelines | None = None
    demo: bool = False


def languages() -> list[dict[str, str]]:
    """Return the languages that the page knows: their codes, and their own names.

    Examples
    --------
    >>> [language["code"] for language in languages()]
    ['de', 'en', 'fr']
    """
    texts = [(p.stem, json.loads(p.read_text("utf-8"))) for p in sorted(_STATIC.glob("texts/*"))]
    return [{"code": code, "name": found["language"]} for code, found in texts]


class Pages:
    """What each address answers.

    Parameters
    ----------
    rooms : Rooms
        What each person labels.
    look : Look
        How the page looks.
    over : callable
        Says whether the server is about to stop; streams end then.
    """

    def __init__(self, rooms: Rooms, look: Look, over: Callable[[], bool]) -> None:
        self._rooms, self._look, self._over = rooms, look, over
        self._static = {
            str(place.relative_to(_STATIC)): place
            for place in _STATIC.rglob("*")
            if place.is_file()
        }

    def app(self) -> Starlette:
        """Return the application, without its guard."""
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/api/look", self.look),
                Route("/api/guidelines", self.guidelines),
                Route("/api/state", self.state),
                Route("/api/events", self.events),
                Route("/api/row/{row}", self.row),
                Route("/api/rows", self.rows),
                Route("/api/map", self.places),
                Route("/api/colours", self.colours),
                Route("/api/review", self.review),
                Route("/api/answer", self.answer, methods=["POST"]),
                Route("/api/undo", self.undo, methods=["POST"]),
                Route("/api/show", self.show, methods=["POST"]),
                Route("/api/rename", self.rename, methods=["POST"]),
                Route("/api/model", self.save, methods=["POST"]),
                Route("/api/predictions", self.predict, methods=["POST"]),
                Route("/image/{row}", self.image),
                Route("/static/{name:path}", self.static),
            ],
            exception_handlers={HTTPException: _complain},
        )

    def _session(self, request: Request, *, active: bool = True) -> Session:
        """Return the labelling of the person who asks, and note that the person is there."""
        session = self._rooms.session(request.scope["person"])
        if active:
            session.touch()
        return session

    def look(self, request: Request) -> Response:
        """Return how the page looks."""
        found = {"languages": languages(), "language": self._look.language, "demo": self._look.demo}
        return JSONResponse(found | {"guidelines": self._look.guidelines is not None})

    def guidelines(self, request: Request) -> Response:
        """Return the guidelines, as parts that the page builds."""
        if self._look.guidelines is None:
            raise HTTPException(404, "there are no guidelines; start the page with --guidelines.")
        return JSONResponse({"parts": self._look.guidelines.parts()})

    def rows(self, request: Request) -> Response:
        """Return rows that a person looks for."""
        session = self._session(request)
        try:
            return JSONResponse(Search(session.team, session.me)(Wanted.of(request.query_params)))
        except AnswerError as error:
            raise HTTPException(400, str(error)) from error

    async def show(self, request: Request) -> Response:
        """Note which row a person has asked for."""
        row = (await _json(request)).get("row")
        if row is not None and (not isinstance(row, int) or isinstance(row, bool)):
            raise HTTPException(400, "a row is a number, or null for the next one.")
        session = self._session(request)
        return await _changed(lambda: session.look(row))

    async def rename(self, request: Request) -> Response:
        """Give a class another name, and return the state."""
        given = await _json(request)
        old, new = given.get("old"), given.get("new")
        if not isinstance(old, str) or not isinstance(new, str):
            raise HTTPException(400, "a class needs its old name, and its new one.")
        session = self._session(request)
        return await _changed(lambda: session.rename(old, new))

    async def answer(self, request: Request) -> Response:
        """Keep an answer, and return the state."""
        given = await _json(request)
        row, kind, label = given.get("row"), given.get("kind"), given.get("label")
        if not isinstance(row, int) or isinstance(row, bool) or kind not in _KINDS:
            raise HTTPException(400, "an answer needs a row, and a kind: label, unknown or skip.")
        texts = label if isinstance(label, list) else [] if label is None else [label]
        if not all(isinstance(text, str) for text in texts):
            raise HTTPException(400, "a label must be a text, or a list of texts.")
        new, first = given.get("new") is True, given.get("first") is True
        session = self._session(request)
        return await _changed(
            lambda: session.answer(row, kind, label, new=new, first=first, **_seen(given))
        )

    async def undo(self, request: Request) -> Response:
        """Take the last answer back, and return the state."""
        given = await _json(request)
        session = self._session(request)
        return await _changed(lambda: session.undo(**_seen(given)))

    async def save(self, request: Request) -> Response:
        """Write a model."""
        return await self._long(self._session(request).write_model)

    async def predict(self, request: Request) -> Response:
        """Write predictions of all rows."""
        return await self._long(self._session(request).write_predictions)

    async def _long(self, work: Callable[[], str]) -> Response:
        """Return what a thread says at its end: a page that is stopped does not wait for it."""
        done: Future[str] = Future()
        threading.Thread(target=_fulfil, args=(done, work), daemon=True).start()
        while not done.done() and not self._over():
            await asyncio.sleep(_PAUSE)
        if not done.done():
            raise HTTPException(503, "the page was stopped before the model was trained.")
        return await _changed(lambda: {"said": done.result()})

    def state(self, request: Request) -> Response:
        """Return the state."""
        return JSONResponse(self._session(request).state())

    def row(self, request: Request) -> Response:
        """Return a row."""
        session = self._session(request, active=False)  # the page fetches rows ahead
        return JSONResponse(session.row(self._number(request, session)))

    def image(self, request: Request) -> Response:
        """Return the image of a row. Its path comes from the data, never from the request."""
        session = self._session(request, active=False)
        images, number = session.team.material.images, self._number(request, session)
        place = images(number) if images is not None else None
        if place is None:
            raise HTTPException(404, f"row {number + 1} has no image.")
        return FileResponse(place, media_type=TYPES[place.suffix.lower()])

    def static(self, request: Request) -> Response:
        """Return a file of the page."""
        if request.path_params["name"] not in self._static:
            raise HTTPException(404)
        return FileResponse(self._static[request.path_params["name"]])

    def _number(self, request: Request, session: Session) -> int:
        """Return the row that an address names."""
        text, n = request.path_params["row"], len(session.team.material)
        if not (text.isascii() and text.isdecimal()):
            raise HTTPException(404)
        number = int(text) if len(text) <= len(str(n)) else n
        if number >= n:
            raise HTTPException(404, f"rows are numbered from 0 to {n - 1} here.")
        return number

    def places(self, request: Request) -> Response:
        """Return the map."""
        return JSONResponse(self._session(request, active=False).map())

    def colours(self, request: Request) -> Response:
        """Return the predictions and the labels of the rows on the map."""
        return JSONResponse(self._session(request, active=False).colours())

    def review(self, request: Request) -> Response:
        """Return labels that look wrong."""
        return JSONResponse(self._session(request, active=False).review())

    async def events(self, request: Request) -> Response:
        """Return a stream of states, a new one after every change."""
        session = self._session(request, active=False)
        return StreamingResponse(_events(session, self._over), media_type="text/event-stream")

    async def page(self, request: Request) -> Response:
        """Return the page itself."""
        self._session(request)
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
    cause = error.__cause__
    told = {"code": cause.code, "values": cause.values} if isinstance(cause, AnswerError) else {}
    usual = {404: "there is nothing at this address.", 405: "this address takes no such request."}
    said = usual.get(error.status_code, error.detail)
    said = said if error.detail == HTTPStatus(error.status_code).phrase else error.detail
    return JSONResponse({"error": said, **told}, error.status_code, headers=error.headers)


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
    """Yield the state whenever it has changed, and a sign of life when it has not for long."""
    seen, silent, rows = -1, 0, None
    while not over():
        late = silent >= _HEARTBEAT
        if session.team.version != seen or late:
            silent, news = 0, session.team.version != seen
            seen = session.team.version
            state = await asyncio.to_thread(session.state, idle=True)
            now = state["queue"], state["paused"]  # rows may have become free meanwhile
            yield f"data: {json.dumps(state)}\n\n" if news or now != rows else ": still here\n\n"
            rows = now
        silent += 1
        await asyncio.sleep(_PAUSE)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise OSError if it cannot."""
    family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


def serve(
    rooms: Rooms,
    door: Door,
    site: Site,
    listener: socket.socket,
    *,
    look: Look = Look(),
    tls: tuple[Path, Path | None] | None = None,
    ready: Callable[[], None],
) -> None:
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    rooms : Rooms
        What each person labels.
    door : Door
        Knows who may come in.
    site : Site
        Where the page is.
    listener : socket
        What the server listens on; see `listening`.
    look : Look
        How the page looks.
    tls : pair of Path, optional
        The files of a certificate and its key; the key may stand in the first one.
    ready : callable
        Called when the server listens.
    """
    import uvicorn

    with listener:
        pages = Pages(rooms, look, over=lambda: server.should_exit)
        config = uvicorn.Config(
            Guard(pages.app(), door, site),  # type: ignore[arg-type]
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
            ssl_certfile=None if tls is None else tls[0],
            ssl_keyfile=None if tls is None else tls[1],
        )
        server = uvicorn.Server(config)
        rooms.start()
        ready()
        try:
            server.run(sockets=[listener])
        finally:
            rooms.end()
