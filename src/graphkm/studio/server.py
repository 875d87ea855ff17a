"""The addresses of a backend, as label-studio-ml 1 and 2 have them.

Label Studio asks /health and /setup when a backend is connected, /predict for predictions, and
/versions. It sends annotations to /webhook (https://labelstud.io/guide/webhook_reference). Its
webhooks carry no password of the backend. So a token may stand first in every address, and
is taken as the password of basic authentication as well.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import json
import secrets
import socket
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..formats import AnnotationsError
from .models import Models
from .project import Project

_LARGEST = 256 * 1024 * 1024  # bytes of a body

Given = dict[str, Any]
Work = Callable[[Models, Given], tuple[int, Any]]


def _setup(models: Models, given: Given) -> tuple[int, Any]:
    project = models.project(given.get("project"))
    if given.get("schema"):
        project.configure(str(given["schema"]))
    return 200, {"model_version": models.version(project)}


def _predict(models: Models, given: Given) -> tuple[int, Any]:
    project = models.project(given.get("project"))
    if given.get("label_config"):
        project.configure(str(given["label_config"]))
    tasks = _list(given, "tasks")
    project.see(tasks)
    results = models.predictions(project, tasks)
    return 200, {"results": results, "model_version": models.version(project)}


def _train(models: Models, given: Given) -> tuple[int, Any]:
    """Take all tasks with their annotations, as Label Studio sent them before webhooks."""
    project = models.project(given.get("project"))
    if given.get("label_config"):
        project.configure(str(given["label_config"]))
    tasks = _list(given, "annotations")
    said = [
        {"task": task.get("id"), **each}
        for task in tasks
        if isinstance(task, dict)
        for each in task.get("annotations") or ()
    ]
    project.answer(said, tasks)
    models.learn(project)
    return 201, {"job": f"project-{project.id}"}


def _webhook(models: Models, given: Given) -> tuple[int, Any]:
    action, about = str(given.get("action")), given.get("project")
    if not isinstance(about, dict) or about.get("id") is None:
        return 200, {"status": "nothing to learn"}
    if action == "PROJECT_DELETED":
        return 200, {"status": "kept"}
    project = models.project(about["id"])
    if about.get("label_config"):
        project.configure(str(about["label_config"]))
    learnt = _EVENTS.get(action)
    if learnt is not None:
        learnt(project, given)
    models.learn(project if action == "START_TRAINING" else None)
    return (201 if learnt is not None else 200), {"status": "ok" if learnt else "unknown event"}


def _said(project: Project, given: Given) -> None:
    project.answer(_many(given, "annotation"), _many(given, "task"))


_EVENTS: dict[str, Callable[[Project, Given], None]] = {
    "ANNOTATION_CREATED": _said,
    "ANNOTATIONS_CREATED": _said,
    "ANNOTATION_UPDATED": _said,
    "ANNOTATIONS_DELETED": lambda project, given: project.forget(_many(given, "annotation")),
    "ANNOTATION_DELETED": lambda project, given: project.forget(_many(given, "annotation")),
    "TASKS_CREATED": lambda project, given: project.see(_many(given, "task")),
    "TASKS_DELETED": lambda project, given: project.forget(tasks=_many(given, "task")),
    "START_TRAINING": lambda project, given: None,
}


def _many(given: Given, name: str) -> list[Any]:
    """Return one thing or a list of them, which events call by the singular or the plural."""
    found = given.get(name, given.get(f"{name}s"))
    return found if isinstance(found, list) else [] if found is None else [found]


def _list(given: Given, name: str) -> list[Any]:
    found = given.get(name)
    if not isinstance(found, list):
        raise AnnotationsError(f"the request needs a list called {name!r}.")
    return found


class Addresses:
    """What each address answers.

    Parameters
    ----------
    models : Models
    token : str or None
        What requests must know; None lets everybody in who reaches the server.
    """

    def __init__(self, models: Models, token: str | None = None) -> None:
        self._models, self._token = models, token

    def app(self) -> Starlette:
        """Return the application."""
        start = "" if self._token is None else "/{token}"
        routes = []
        for before in dict.fromkeys(("", start)):
            routes += [
                Route(f"{before}/", self.health),
                Route(f"{before}/health", self.health),
                Route(f"{before}/versions", self.versions, methods=["GET", "POST"]),
                Route(f"{before}/is_training", self.is_training),
                Route(f"{before}/setup", self._post(_setup), methods=["POST"]),
                Route(f"{before}/predict", self._post(_predict), methods=["POST"]),
                Route(f"{before}/train", self._post(_train), methods=["POST"]),
                Route(f"{before}/webhook", self._post(_webhook), methods=["POST"]),
            ]
        return Starlette(routes=routes, exception_handlers={HTTPException: _complain})

    async def health(self, request: Request) -> Response:
        """Return that the server is there, and what is wrong with projects."""
        self._check(request)
        told = {"status": "UP", "model_class": "graphkm"}
        return JSONResponse(told | ({"errors": self._models.errors} if self._models.errors else {}))

    async def versions(self, request: Request) -> Response:
        """Return what all models are called."""
        self._check(request)
        return JSONResponse({"versions": self._models.versions(), "message": "ok"})

    async def is_training(self, request: Request) -> Response:
        """Return whether answers wait to be learnt."""
        self._check(request)
        return JSONResponse({"is_training": self._models.is_training()})

    def _post(self, work: Work) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            self._check(request)
            given = await _json(request)
            try:
                status, told = await asyncio.to_thread(work, self._models, given)
            except OSError as error:
                raise HTTPException(507, f"not kept: {error.strerror or error}.") from error
            except ValueError as error:
                raise HTTPException(400, " ".join(str(error).split())) from error
            return JSONResponse(told, status)

        return answer

    def _check(self, request: Request) -> None:
        """Refuse requests without the token."""
        if self._token is None:
            return
        given = [request.path_params.get("token", ""), _password(request)]
        if not any(secrets.compare_digest(each.encode(), self._token.encode()) for each in given):
            raise HTTPException(
                401,
                "the token is missing: it is the first part of the address, or the password.",
                headers={"WWW-Authenticate": "Basic"},
            )


def _password(request: Request) -> str:
    """Return the password of basic authentication, or an empty text."""
    kind, _, coded = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return ""
    with contextlib.suppress(binascii.Error, ValueError):
        return base64.b64decode(coded, validate=True).decode().partition(":")[2]
    return ""


async def _json(request: Request) -> Given:
    """Return the object that a request holds; a browser's form of another page is none."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise HTTPException(415, "a request needs the Content-Type application/json.")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > _LARGEST:
        raise HTTPException(413, f"a request has at most {_LARGEST:,} bytes.")
    try:
        given = json.loads(await request.body())
    except (ValueError, RecursionError, ClientDisconnect):
        raise HTTPException(400, "the request is not JSON that can be read.") from None
    if not isinstance(given, dict):
        raise HTTPException(400, "the request is not an object of JSON.")
    return given


async def _complain(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)


def serve(
    models: Models, host: str, port: int, token: str | None, ready: Callable[[str], None]
) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    models : Models
    host : str
        The address of this computer to listen at.
    port : int
        0 takes a free one.
    token : str or None
        What requests must know.
    ready : callable
        Takes the address when the server listens.
    """
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with listener:
        listener.bind((host, port))
        listener.listen()
        port = listener.getsockname()[1]
        config = uvicorn.Config(
            Addresses(models, token).app(),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=5,
        )
        models.start()
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{port}" + ("" if token is None else f"/{token}"))
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            models.end()
