#!/usr/bin/env python3
"""Sessions that cannot be opened hold up nobody.

usage: sessions_test.py PROGRAM
"""

import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from server import Server  # noqa: E402

PROGRAM = None
UPGRADE = ("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")


def supervisor_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


class Sessions(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="fairlead-sessions-")
        os.chmod(self.root, 0o711)
        self.server = Server(PROGRAM, self.root + "/state", "--simulate", "2xT4").start()

    def tearDown(self):
        try:
            for w in self.server.all("/api/v1/workloads"):
                self.server.request("DELETE", f"/api/v1/workloads/{w['id']}?gracePeriod=0s")
            self.server.wait_for("no workload", lambda: not self.server.all("/api/v1/workloads"))
        finally:
            self.server.stop()
        shutil.rmtree(self.root, ignore_errors=True)

    def submit(self, name, *command):
        answer = self.server.post("/api/v1/workloads",
                                  {"name": name, "run": {"command": list(command), "workingDir": "/"}})
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json["id"]

    def wait(self, workload, phase):
        def reached():
            return self.server.get(f"/api/v1/workloads/{workload}").json["status"]["phase"] == phase
        self.server.wait_for(f"{workload} is {phase}", reached, 60)

    def task(self, workload):
        return self.server.get(f"/api/v1/workloads/{workload}/tasks").json["items"][0]

    def exec_later(self, task):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(60)
        connection.connect(self.server.socket)
        connection.sendall(UPGRADE.format(f"/api/v1/tasks/{task}/exec?command=true").encode())
        return connection

    # A task with hardly any CPU, or a supervisor that somebody stopped: eight such calls once left no
    # thread of the server for anybody else, and its engine started and ended nothing.
    def test_eight_execs_into_a_task_that_does_not_answer(self):
        stuck = self.submit("stuck", "sleep", "1000")
        self.wait(stuck, "running")
        task = self.task(stuck)
        supervisor = supervisor_of(task["pid"])
        os.kill(supervisor, signal.SIGSTOP)
        try:
            began = time.monotonic()
            waiting = [self.exec_later(task["id"]) for _ in range(8)]
            other = self.submit("other", "true")
            self.wait(other, "succeeded")
            self.assertEqual(self.server.get("/healthz").status, 200)
            self.assertLess(time.monotonic() - began, 60, "it took minutes when it waited for them")
            for connection in waiting:
                answer = ""
                while "10 s" not in answer and (more := connection.recv(65536).decode()):
                    answer += more
                connection.close()
                self.assertTrue(answer.startswith("HTTP/1.1 503"), answer)
                self.assertIn("has not answered for 10 s", answer)
        finally:
            os.kill(supervisor, signal.SIGCONT)
        with self.exec_later(task["id"]) as again:
            self.assertTrue(again.recv(12).startswith(b"HTTP/1.1 101"))


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    suite = unittest.TestLoader().loadTestsFromTestCase(Sessions)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
