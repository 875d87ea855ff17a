"""A public home of files, on this machine, that can be told to misbehave."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Home:
    """One file, and a script: what happens on the first request, the second, and so on.

    "whole" answers as it should; "cut" closes the connection half-way through; "stall" stops
    half-way until `go` is set; a number is a status; bytes are another file.
    After the script's last line, all goes well.
    """

    def __init__(self, body, script=()):
        self.body, self.script = body, list(script)
        self.n_requests = 0
        self.go = threading.Event()
        self.half_sent = threading.Event()
        self.asked_twice = threading.Event()

    def next_action(self):
        self.n_requests += 1
        if self.n_requests > 1:
            self.asked_twice.set()
        return self.script.pop(0) if self.script else "whole"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        home = self.server.home
        action = home.next_action()
        if isinstance(action, int):
            self.send_error(action)
            return
        body = action if isinstance(action, bytes) else home.body
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        half = len(body) // 2
        self.wfile.write(body[:half])
        self.wfile.flush()
        home.half_sent.set()
        if action == "cut":
            self.close_connection = True
            return
        if action == "stall":
            home.go.wait()  # set at the latest when the server ends
        try:
            self.wfile.write(body[half:])
        except ConnectionError:
            self.close_connection = True  # whoever asked is gone

    def log_message(self, *_):
        pass


@contextmanager
def serve(home):
    """Yield the address of the home's file."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.home = home
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tiny"
    finally:
        home.go.set()
        server.shutdown()
        server.server_close()
        thread.join()
