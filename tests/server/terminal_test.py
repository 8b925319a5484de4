#!/usr/bin/env python3
"""The program in a terminal: shells, attaching, views, keys, and a terminal that is as it was at the end.

usage: terminal_test.py PROGRAM
"""

import errno
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from server import Server  # noqa: E402

PROGRAM = None
SECONDS = 30
INTERRUPTED = 130
DETACH = b"\x10\x11"  # Ctrl-P Ctrl-Q


class Terminal:
    """A terminal of 80 × 24 and the program that has it."""

    def __init__(self, words, environment):
        self.master, self.slave = pty.openpty()
        self.resize(80, 24)
        self.before = self.settings()
        self.text = ""
        self.seen = 0
        self.process = subprocess.Popen(
            words, stdin=self.slave, stdout=self.slave, stderr=self.slave, env=environment,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def settings(self):
        return termios.tcgetattr(self.slave)

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self.master, keys if isinstance(keys, bytes) else keys.encode())

    def read(self, seconds):
        """Whether something came."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            self.text += os.read(self.master, 65536).decode(errors="replace")
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False
        return True

    def expect(self, text):
        """Waits for this, after what was expected before."""
        deadline = time.monotonic() + SECONDS
        while (at := self.text.find(text, self.seen)) < 0:
            if time.monotonic() > deadline:
                raise AssertionError(f"waited in vain for {text!r}; there is {self.text[self.seen:]!r}")
            self.read(0.1)
        self.seen = at + len(text)

    def end(self):
        """The exit status, with all that was printed read."""
        deadline = time.monotonic() + SECONDS
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"it does not end; there is {self.text[self.seen:]!r}")
            self.read(0.1)
        while self.read(0.05):
            pass
        return self.process.returncode

    def hang_up(self):
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = -1

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.master >= 0:
            self.hang_up()


class InTerminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="fairlead-terminal-")
        cls.environment = {"PATH": os.environ["PATH"], "HOME": cls.root, "TERM": "xterm",
                           "FAIRLEAD_STATE": cls.root + "/state", "PS1": "$ ", "LC_ALL": "C.UTF-8"}
        cls.server = Server(PROGRAM, cls.root + "/state", "--simulate", "4xT4").start()
        cls.submit("job", ["sleep", "600"])

    @classmethod
    def tearDownClass(cls):
        for w in cls.server.all("/api/v1/workloads"):
            cls.server.request("DELETE", f"/api/v1/workloads/{w['id']}?gracePeriod=0s")
        cls.server.wait_for("the end of all", lambda: not cls.server.get(
            "/api/v1/workloads?limit=1&phase=starting,running,stopping").json["items"])
        cls.server.stop()
        shutil.rmtree(cls.root, ignore_errors=True)

    @classmethod
    def submit(cls, name, command, **run):
        # A home without files: what the account's own shell does at its start is not tested.
        body = {"name": name, "run": {"command": command, "workingDir": "/tmp", "env": {"HOME": cls.root}, **run}}
        workload = cls.server.post("/api/v1/workloads", body).json["id"]
        cls.server.wait_for(f"{name} runs", lambda: cls.phase(workload) == "running")
        return workload

    @classmethod
    def phase(cls, workload):
        return cls.server.get(f"/api/v1/workloads/{workload}").json["status"]["phase"]

    def open(self, *words):
        terminal = Terminal([PROGRAM, *words], self.environment)
        self.addCleanup(terminal.close)
        return terminal

    def ends(self, terminal, status):
        self.assertEqual(terminal.end(), status, terminal.text)
        self.assertEqual(terminal.settings(), terminal.before, "the terminal is not as it was")

    def test_a_shell_beside_a_task(self):
        terminal = self.open("bash", "job")
        terminal.type("echo $((40 + 2))\r")
        terminal.expect("42")
        terminal.resize(100, 40)
        time.sleep(0.6)  # the size is looked at some times a second
        terminal.type("stty size\r")
        terminal.expect("40 100")
        terminal.type("exit 3\r")
        self.ends(terminal, 3)

    def test_keys_go_to_the_process(self):
        terminal = self.open("exec", "-it", "job", "--", "sh")
        terminal.type("echo be''gun; sleep 100\r")
        terminal.expect("begun")
        time.sleep(0.3)
        terminal.type("\x03")
        terminal.type("echo ba''ck\r")
        terminal.expect("back")
        terminal.type("\x04")
        terminal.end()
        self.assertEqual(terminal.settings(), terminal.before)

    def test_attaching_and_leaving(self):
        workload = self.submit("cat", ["cat"], tty=True, stdin=True)
        terminal = self.open("attach", "cat")
        terminal.type("hello\r")
        terminal.expect("hello\r\nhello")
        terminal.type(DETACH)
        terminal.expect("detached; it runs on")
        self.ends(terminal, 0)
        self.assertEqual(self.phase(workload), "running")

    def test_the_view_ends_by_key_and_by_signal(self):
        for leave, status in (("q", 0), ("\x03", 0), (signal.SIGTERM, 0), (signal.SIGHUP, 0),
                              (signal.SIGQUIT, 0)):
            terminal = self.open("top")
            terminal.expect("\x1b[?1049h")
            terminal.expect("job")
            terminal.resize(60, 10)
            terminal.expect("\x1b[H\x1b[2J")
            if isinstance(leave, str):
                terminal.type(leave)
            else:
                terminal.process.send_signal(leave)
            self.ends(terminal, status)
            self.assertIn("\x1b[?25h\x1b[?1049l", terminal.text)

    def test_the_view_stops_and_goes_on(self):
        terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], self.environment)
        self.addCleanup(terminal.close)
        terminal.type(f"{PROGRAM} top\r")
        terminal.expect("\x1b[?1049h")
        terminal.expect("job")
        terminal.type("\x1a")
        terminal.expect("\x1b[?1049l")
        terminal.expect("Stopped")
        terminal.type("stty -a | grep -o -w -e icanon -e -icanon; echo shell\r")
        terminal.expect("icanon\r\nshell")
        terminal.type("fg\r")
        terminal.expect("\x1b[?1049h")
        terminal.type("q")
        terminal.expect("\x1b[?1049l")
        terminal.type("exit\r")
        self.assertEqual(terminal.end(), 0, terminal.text)

    def test_a_watched_list_ends_by_ctrl_c(self):
        terminal = self.open("list", "-w")
        terminal.expect("job")
        terminal.type("\x03")
        self.ends(terminal, INTERRUPTED)

    def test_run_is_left_running_by_ctrl_c(self):
        terminal = self.open("run", "--name", "left", "--", "sh", "-c", "echo on''line; sleep 600")
        terminal.expect("online")
        terminal.type("\x03")
        self.ends(terminal, INTERRUPTED)
        terminal.seen = 0
        terminal.expect("fairlead logs -f left")
        terminal.expect("runs on")
        found = self.server.get("/api/v1/workloads?name=left").json["items"][0]
        self.assertEqual(found["status"]["phase"], "running")

    def test_a_secret_that_is_not_typed_leaves_the_echo_on(self):
        terminal = self.open("login")
        terminal.expect("Token: ")
        terminal.type("\x03")
        self.ends(terminal, INTERRUPTED)

    def test_a_terminal_that_closes_ends_the_session(self):
        for words in (["bash", "job"], ["top"], ["attach", "job"]):
            terminal = self.open(*words)
            terminal.type("\r")
            time.sleep(0.5)
            terminal.read(1)
            terminal.hang_up()
            terminal.process.wait(SECONDS)

    def test_a_server_that_dies_leaves_the_terminal_as_it_was(self):
        sessions = [self.open("bash", "job"), self.open("exec", "-it", "job", "--", "sh")]
        for terminal in sessions:
            terminal.type("echo rea''dy\r")
            terminal.expect("ready")
        view = self.open("top")
        view.expect("job")
        self.server.kill()
        try:
            for terminal in sessions:
                self.assertNotEqual(terminal.end(), 0)
                self.assertEqual(terminal.settings(), terminal.before)
            view.expect("trying again")
        finally:
            self.server.start()
        view.expect("\x1b[H\x1b[2J")  # it is there again
        view.type("q")
        self.ends(view, 0)


class OverARestart(unittest.TestCase):
    """What follows goes on where it was when the server dies and comes again."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="fairlead-restart-")
        self.server = Server(PROGRAM, self.root + "/state", "--simulate", "4xT4").start()
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.root,
                            "FAIRLEAD_STATE": self.root + "/state"}

    def tearDown(self):
        self.server.stop()
        shutil.rmtree(self.root, ignore_errors=True)

    def follow(self, *words):
        with open(self.root + "/out", "w") as out, open(self.root + "/err", "w") as err:
            return subprocess.Popen([PROGRAM, *words], env=self.environment, stdout=out, stderr=err,
                                    stdin=subprocess.DEVNULL)

    def text(self, name):
        with open(f"{self.root}/{name}") as file:
            return file.read()

    def restart(self, away=1.0):
        self.server.kill()
        time.sleep(away)
        self.server.start()

    def test_a_log_has_each_line_once(self):
        count = 60
        script = f"for i in $(seq {count}); do echo line $i; sleep 0.05; done"
        body = {"name": "talks", "run": {"command": ["sh", "-c", script], "workingDir": "/tmp"}}
        self.server.post("/api/v1/workloads", body)
        client = self.follow("logs", "-f", "talks")
        self.server.wait_for("the first lines", lambda: "line 5\n" in self.text("out"))
        self.restart()
        self.assertEqual(client.wait(60), 0, self.text("err"))
        self.assertEqual(self.text("out").split("\n"), [f"line {i + 1}" for i in range(count)] + [""])
        self.assertIn("the server is away", self.text("err"))

    def test_a_watch_has_each_change_once(self):
        self.submit("first")
        client = self.follow("list", "-w", "-o", "json")
        self.server.wait_for("the list", lambda: '"first"' in self.text("out"))
        self.restart()
        self.submit("second")
        self.server.wait_for("the change", lambda: '"second"' in self.text("out"))
        client.send_signal(signal.SIGINT)
        self.assertEqual(client.wait(30), INTERRUPTED)
        self.assertIn("the server is away", self.text("err"))
        self.assertIn("the server is back", self.text("err"))

    def submit(self, name):
        body = {"name": name, "run": {"command": ["true"], "workingDir": "/tmp"}}
        self.assertEqual(self.server.post("/api/v1/workloads", body).status, 201)


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    return 0 if unittest.main(argv=sys.argv, verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
