"""A server for tests: started on a directory of its own, killed, started again; and a client for it.

Only the standard library; everything over the unix socket.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import time


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=30):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, status, headers, text):
        self.status = status
        self.headers = headers
        self.text = text

    @property
    def json(self):
        return json.loads(self.text)


class Server:
    def __init__(self, program, state, *options):
        self.program = program
        self.state = state
        self.options = options
        self.process = None
        self.log = open(state + ".log", "ab")

    @property
    def socket(self):
        return self.state + "/fairlead.sock"

    def start(self, wait=True):
        command = [self.program, "up", "--state", self.state, *self.options]
        if "--listen" not in self.options:
            command += ["--listen", ""]
        if os.geteuid() == 0:
            command.append("--allow-root-tasks")
        self.process = subprocess.Popen(command, stderr=self.log, stdin=subprocess.DEVNULL)
        if wait:
            self.wait_until_ready()
        return self

    def wait_until_ready(self, seconds=60):
        deadline = time.monotonic() + seconds
        while True:
            try:
                if self.get("/readyz").status == 200:
                    return
            except (OSError, http.client.HTTPException):
                pass
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}; see {self.log.name}")
            if time.monotonic() > deadline:
                raise AssertionError("the server does not get ready")
            time.sleep(0.01)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def request(self, method, path, body=None, headers=None):
        connection = UnixConnection(self.socket)
        try:
            text = None if body is None else body if isinstance(body, str) else json.dumps(body)
            fields = dict(headers or {})
            if text is not None:
                fields.setdefault("Content-Type", "application/json")
            connection.request(method, path, text, fields)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode())
        finally:
            connection.close()

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, body=None, **headers):
        return self.request("POST", path, body, {k.replace("_", "-"): v for k, v in headers.items()})

    def all(self, path):
        """Every item of a list, page by page."""
        items, token = [], ""
        while True:
            mark = "&" if "?" in path else "?"
            page = self.get(f"{path}{mark}limit=1000" + (f"&pageToken={token}" if token else "")).json
            items += page["items"]
            token = page.get("nextPageToken")
            if not token:
                return items

    def wait_for(self, what, condition, seconds=120):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited in vain for: {what}")
            time.sleep(0.02)
