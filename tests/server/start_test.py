#!/usr/bin/env python3
"""How a server starts on a directory that was left in a bad way.

usage: start_test.py PROGRAM
"""

import datetime
import glob
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from server import Server  # noqa: E402

PROGRAM = None
TINY = "1xT4"


def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def end_process(pid):
    if alive(pid):
        os.kill(pid, signal.SIGKILL)


class Start(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="fairlead-start-")
        os.chmod(self.root, 0o711)
        self.state = self.root + "/state"
        self.server = Server(PROGRAM, self.state, "--simulate", TINY)

    def tearDown(self):
        process = self.server.process
        if process and process.poll() is None:
            for w in self.server.all("/api/v1/workloads"):
                self.server.request("DELETE", f"/api/v1/workloads/{w['id']}?gracePeriod=0s")
            self.server.wait_for("no workload", lambda: not self.server.all("/api/v1/workloads"))
            self.server.stop()
        shutil.rmtree(self.root, ignore_errors=True)

    def submit(self, name, *command, gpu=True, **fields):
        body = {"name": name, "gracePeriod": "1s", "run": {"command": list(command), "workingDir": "/"}, **fields}
        if gpu:
            body["gpu"] = 1
        answer = self.server.post("/api/v1/workloads", body)
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json["id"]

    def workload(self, id):
        return self.server.get(f"/api/v1/workloads/{id}").json

    def run_until(self, id, phase):
        self.server.wait_for(f"{phase}, not {self.workload(id)}",
                             lambda: self.workload(id)["status"]["phase"] == phase, 60)

    def task(self, id):
        return self.server.get(f"/api/v1/workloads/{id}/tasks").json["items"][0]

    def refused(self, *options):
        """What a start says that does not come about."""
        done = subprocess.run([PROGRAM, "up", "--state", self.state, "--listen", "", "--simulate", TINY, *options],
                              capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    # The same GPU was granted twice: the new store knew nothing of who had it.
    def test_a_lost_store_is_not_begun_anew_over_what_runs(self):
        for how in (lambda: os.unlink(self.state + "/store.db"),
                    lambda: open(self.state + "/store.db", "w").close()):
            with self.subTest():
                self.server.start()
                pid = self.task_of("holder")
                self.server.kill()
                for file in glob.glob(self.state + "/store.db-*"):
                    os.unlink(file)
                how()
                said = self.refused()
                self.assertIn("store.db is missing or empty", said)
                self.assertIn("main/holder", said)
                self.assertIn(f"process {pid}", said)
                self.assertIn("--end-unknown-tasks", said)
                self.assertTrue(alive(pid))
                self.assertIn("store.db is missing or empty", self.refused(), "and the next time too")
                self.server.options = ("--simulate", TINY, "--end-unknown-tasks")
                self.server.start()
                self.assertFalse(alive(pid))
                self.assertTrue(glob.glob(self.state + "/engine/set-aside-*/*"))
                # The name and the GPU are free.
                id = self.submit("holder", "true")
                self.run_until(id, "succeeded")
                self.server.stop()
                shutil.rmtree(self.state)
                self.server.options = ("--simulate", TINY)
        self.server.start()

    def task_of(self, name):
        id = self.submit(name, "sleep", "1000")
        self.run_until(id, "running")
        return self.task(id)["pid"]

    # As when the WAL is lost, or an old backup is put back.
    def test_a_store_older_than_what_runs_is_refused(self):
        self.server.start()
        self.server.stop()
        shutil.copy(self.state + "/store.db", self.root + "/old.db")
        self.server.start()
        pid = self.task_of("holder")
        self.server.kill()
        for file in glob.glob(self.state + "/store.db-*"):
            os.unlink(file)
        shutil.copy(self.root + "/old.db", self.state + "/store.db")
        said = self.refused()
        self.assertIn("is older than what runs here", said)
        self.assertIn("main/holder", said)
        self.server.options = ("--simulate", TINY, "--end-unknown-tasks")
        self.server.start()
        self.assertFalse(alive(pid))

    def test_what_others_could_read_is_closed_to_them(self):
        os.umask(0)
        try:
            self.server.start()
            self.submit("secretive", "sh", "-c", "umask; sleep 1000", gpu=False)
            self.server.stop()
        finally:
            os.umask(0o022)
        for folder, folders, files in os.walk(self.state):
            for name in files + folders:
                mode = os.stat(os.path.join(folder, name)).st_mode
                if not stat.S_ISSOCK(mode):
                    self.assertEqual(mode & 0o066, 0, os.path.join(folder, name))
        os.chmod(self.state, 0o755)
        os.chmod(self.state + "/store.db", 0o644)
        self.server.start()
        self.assertEqual(os.stat(self.state).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(self.state + "/store.db").st_mode & 0o777, 0o600)
        self.assertIn("had mode 0755", open(self.server.log.name).read())

    # It said "disk I/O error" and did not start, and nobody could look what ran.
    def test_on_a_full_disk_it_starts_and_tells_and_goes_on(self):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", self.root],
                                 capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            for ended in (lambda: self.server.stop(), lambda: self.server.kill()):
                self.server.start()
                runs = self.submit("runs", "sleep", "1000", gpu=False)
                ends = self.submit("ends", "sh", "-c", f"while ! [ -e {self.root}/go ]; do sleep 0.05; done; exit 3",
                                   gpu=False, backoffLimit=0)
                self.run_until(runs, "running")
                self.run_until(ends, "running")
                pid = self.task(ends)["pid"]
                self.addCleanup(end_process, self.task(runs)["pid"])
                ended()
                open(self.root + "/go", "w").close()
                self.server.wait_for("its end", lambda: not alive(pid))
                fill = open(self.root + "/fill", "wb", buffering=0)
                with self.assertRaises(OSError):
                    while fill.write(b"x" * 4096) == 4096:
                        pass
                self.server.start(wait=False)
                self.server.wait_for("an answer", self.answers)
                self.assertEqual(self.workload(runs)["status"]["phase"], "running")
                refused = self.server.post("/api/v1/workloads", {"name": "no", "run": {"command": ["true"]}})
                self.assertEqual(refused.status, 503, refused.text)
                self.assertIn("full", refused.text)
                os.unlink(self.root + "/fill")
                fill.close()
                self.run_until(ends, "failed")
                self.assertEqual(self.workload(ends)["status"]["exitCode"], 3)
                self.server.wait_for("readiness", lambda: self.server.get("/readyz").status == 200)
                for id in (runs, ends):
                    self.server.request("DELETE", f"/api/v1/workloads/{id}?gracePeriod=0s")
                self.server.wait_for("no workload", lambda: not self.server.all("/api/v1/workloads"))
                self.server.stop()
                os.unlink(self.root + "/go")
        finally:
            if self.server.process.poll() is None:
                self.server.kill()
            subprocess.run(["umount", "-l", self.root])

    def answers(self):
        try:
            return self.server.get("/healthz").status == 200
        except OSError:
            return False

    # One whose supervisors are killed again and again was started again at once, each time.
    def test_what_is_lost_waits_longer_each_time(self):
        self.server.start()
        id = self.submit("lost", "sleep", "1000", gpu=False)
        for times in (1, 2):
            self.run_until(id, "running")
            pid = self.task(id)["pid"]
            supervisor = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
            os.kill(supervisor, signal.SIGKILL)
            self.server.wait_for("it is tried again", lambda: self.task(id)["attempt"] == times + 1)
            self.run_until(id, "running")
        events = self.server.all(f"/api/v1/workloads/{id}/events")
        when = [[datetime.datetime.fromisoformat(e["at"]) for e in events if e["reason"] == reason]
                for reason in ("TaskEnded", "Scheduled")]
        waits = [(begun - lost).total_seconds() for lost, begun in zip(when[0], when[1][1:])]
        self.assertEqual([round(w) for w in waits], [1, 2], events)
        self.assertEqual(self.workload(id)["status"]["tasks"]["failed"], 0)

    def test_tasks_have_the_usual_umask(self):
        os.umask(0o027)
        try:
            self.server.start()
        finally:
            os.umask(0o022)
        id = self.submit("masked", "sh", "-c", "umask", gpu=False)
        self.run_until(id, "succeeded")
        log = self.server.get(f"/api/v1/tasks/{self.task(id)['id']}/log").text
        self.assertEqual(log.strip(), "0022")


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    suite = unittest.TestLoader().loadTestsFromTestCase(Start)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
