"""The labelling page in tests: a process of its own, and requests with any headers."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import urlsplit


class Page:
    """A running `graphkm label`."""

    def __init__(self, process, address):
        self.process, self.address = process, address
        parts = urlsplit(address)
        self.port, self.token = parts.port, parts.path.strip("/")

    def request(self, method, path, body=None, *, token=None, raw=None, **headers):
        """Return status, headers and body of a request; a header that is None is left out."""
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        sent = {"Host": f"127.0.0.1:{self.port}"}
        if data is not None:
            sent["Content-Type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        place = f"/{self.token if token is None else token}/{path}"
        connection.putrequest(method, place, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if data is not None and "Content-Length" not in sent:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return found

    def get(self, path):
        """Return what an address holds."""
        status, _, body = self.request("GET", path)
        assert status == 200, body
        return json.loads(body)

    def post(self, path, body):
        """Return the answer to a post."""
        status, _, found = self.request("POST", path, body)
        assert status == 200, found
        return json.loads(found)

    def wait(self, ready, seconds=90):
        """Return the state when `ready` says so."""
        end = time.monotonic() + seconds
        while not ready(state := self.get("api/state")):
            assert time.monotonic() < end, state
            time.sleep(0.05)
        return state

    def learnt(self):
        """Return the state when the model has seen every label."""
        return self.wait(lambda s: s["current"])

    def kill(self):
        """End the process without a warning, as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)


@contextmanager
def label_page(folder, *arguments, people=0):
    """Run the command in a folder, and yield its page; stop it at the end.

    With `people`, as many pages are yielded, one for each link.
    """
    command = [sys.executable, "-m", "graphkm.cli", "label", *map(str, arguments), "--no-browser"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        first, address = process.stdout.readline(), process.stdout.readline().strip()
        if people:  # a line for each: the name, and the link
            lines = [address, *(process.stdout.readline().strip() for _ in range(people - 1))]
            assert "labelled" in first, first + process.stderr.read()
            yield [Page(process, line.split()[-1] if "://" in line else "") for line in lines]
            return
        assert address.startswith("http://127.0.0.1:"), first + process.stderr.read()
        yield Page(process, address)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        process.stdout.close()
        process.stderr.close()


def free_port():
    """Return a port that is free now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
