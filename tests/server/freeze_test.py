#!/usr/bin/env python3
"""Workloads that are frozen: they stand still, keep what they hold, and go on or end properly.

usage: freeze_test.py PROGRAM
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from server import Server  # noqa: E402

PROGRAM = None
# Counts for ever, and says what it was told at its end.
COUNT = """trap 'echo told > {told}; cat $FAIRLEAD_NOTICE_FILE >> {told}; exit 7' TERM
n=0; while :; do n=$((n + 1)); echo $n > {at}.new; mv {at}.new {at}; sleep 0.01; done"""


def text_of(path):
    with open(path) as file:
        return file.read()


def alive(pid):
    try:
        return text_of(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Freeze(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="fairlead-freeze-")
        os.chmod(self.root, 0o711)
        self.folder = self.root + "/folder"
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o777)
        self.at = self.folder + "/at"
        self.told = self.folder + "/told"
        self.server = Server(PROGRAM, self.root + "/state", "--simulate", "2xT4").start()
        checks = self.server.get("/api/v1/doctor").json["items"]
        if any(check["name"] == "freeze" and check["state"] != "ok" for check in checks):
            self.skipTest("control groups cannot freeze here")

    def tearDown(self):
        if self.server.process.poll() is None:
            for w in self.server.all("/api/v1/workloads"):
                self.server.request("DELETE", f"/api/v1/workloads/{w['id']}?gracePeriod=0s")
            self.server.wait_for("no workload", lambda: not self.server.all("/api/v1/workloads"))
            self.server.stop()
        self.server.log.close()
        shutil.rmtree(self.root, ignore_errors=True)

    def submit(self, name, *command, **fields):
        body = {"name": name, "gpu": 2, "gracePeriod": "20s",
                "run": {"command": list(command), "workingDir": "/"}, **fields}
        answer = self.server.post("/api/v1/workloads", body)
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json["id"]

    def counting(self, **fields):
        id = self.submit("counts", "sh", "-c", COUNT.format(told=self.told, at=self.at), **fields)
        self.until(id, "running")
        self.server.wait_for("it counts", lambda: os.path.exists(self.at))
        return id

    def status(self, id):
        return self.server.get(f"/api/v1/workloads/{id}").json["status"]

    def task(self, id):
        return self.server.get(f"/api/v1/workloads/{id}/tasks").json["items"][0]

    def until(self, id, phase):
        self.server.wait_for(f"{phase}, not {self.status(id)}", lambda: self.status(id)["phase"] == phase, 60)

    def freeze(self, id):
        answer = self.server.post(f"/api/v1/workloads/{id}/suspend", {"freeze": True})
        self.assertEqual(answer.status, 202, answer.text)
        self.assertEqual(answer.json["status"]["phase"], "frozen")
        self.server.wait_for("it stands still", self.still)

    def still(self):
        before = text_of(self.at)
        time.sleep(0.1)
        return text_of(self.at) == before

    def resume(self, id):
        answer = self.server.post(f"/api/v1/workloads/{id}/resume")
        self.assertEqual(answer.status, 202, answer.text)

    def command(self, *words):
        env = {**os.environ, "FAIRLEAD_SERVER": "unix://" + self.server.socket}
        done = subprocess.run([PROGRAM, *words], env=env, capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    def test_it_stands_still_on_what_it_holds_and_goes_on_where_it_was(self):
        id = self.counting()
        pid = self.task(id)["pid"]
        self.freeze(id)
        count = int(text_of(self.at))
        status = self.status(id)
        self.assertEqual(status["allocated"]["gpuMilli"], 2000)
        self.assertEqual((status["tasks"]["frozen"], status["tasks"]["running"]), (1, 0))
        self.assertIn("frozen by ", status["reason"])
        self.assertEqual((self.task(id)["phase"], self.task(id)["pid"]), ("frozen", pid))
        self.assertIn("frozen", self.command("list"))
        self.assertIn("frozen", self.command("describe", "job", "counts"))
        self.assertIn("fairlead resume counts", self.command("exec", "counts", "--", "true"))
        other = self.submit("other", "true")
        self.assertEqual(self.status(other)["phase"], "pending", "its GPUs are not given away")
        # Asked again nothing happens.
        self.assertEqual(self.server.post(f"/api/v1/workloads/{id}/suspend", {"freeze": True}).status, 202)
        self.resume(id)
        self.until(id, "running")
        self.server.wait_for("it counts", lambda: int(text_of(self.at)) > count)
        self.assertEqual(self.task(id)["pid"], pid)
        self.assertEqual(self.status(id)["restarts"], 0)
        reasons = [e["reason"] for e in self.server.all(f"/api/v1/workloads/{id}/events")]
        self.assertIn("Frozen", reasons)
        self.assertIn("Resumed", reasons)
        paths = [entry["path"] for entry in self.server.all("/api/v1/audit")]
        self.assertEqual(paths.count(f"/api/v1/workloads/{id}/suspend"), 2)

    def test_the_command_line_freezes_and_lets_go_on(self):
        self.counting()
        self.assertIn("counts is frozen", self.command("suspend", "counts", "--freeze"))
        self.server.wait_for("it stands still", self.still)
        self.assertIn("counts goes on", self.command("resume", "counts"))

    def test_its_time_does_not_run_on(self):
        id = self.counting(maxRuntime="3s")
        self.freeze(id)
        # It would be over in the middle of this.
        time.sleep(4)
        self.assertEqual(self.status(id)["phase"], "frozen")
        self.server.kill()
        self.server.start()
        begin = time.monotonic()
        self.resume(id)
        self.until(id, "timed-out")
        self.assertGreater(time.monotonic() - begin, 0.5, "what was left of its time it has")
        self.assertIn("time-limit", text_of(self.told))

    def test_it_stands_still_over_a_restart(self):
        for how in (lambda: self.server.kill(), lambda: self.server.stop()):
            id = self.counting()
            pid = self.task(id)["pid"]
            self.freeze(id)
            how()
            self.assertTrue(self.still())
            self.server.start()
            self.assertEqual(self.status(id)["phase"], "frozen")
            self.assertTrue(self.still())
            self.resume(id)
            self.server.wait_for("it counts", lambda: not self.still())
            self.assertEqual(self.task(id)["pid"], pid)
            self.server.request("DELETE", f"/api/v1/workloads/{id}?gracePeriod=0s")
            self.server.wait_for("no workload", lambda: not self.server.all("/api/v1/workloads"))
            os.unlink(self.at)

    def test_deleted_it_is_told_and_has_its_grace(self):
        id = self.counting()
        self.freeze(id)
        self.assertEqual(self.server.request("DELETE", f"/api/v1/workloads/{id}").status, 202)
        self.server.wait_for("no workload", lambda: not self.server.all("/api/v1/workloads"), 15)
        self.assertIn('told\n{"cause": "deleted"', text_of(self.told))

    def test_suspended_it_gives_back_what_it_holds(self):
        id = self.counting()
        self.freeze(id)
        self.assertEqual(self.server.post(f"/api/v1/workloads/{id}/suspend").status, 202)
        self.until(id, "suspended")
        self.assertIn('"suspended"', text_of(self.told))
        self.assertEqual(self.status(id)["allocated"]["gpuMilli"], 0)

    # To begin anew by itself, or to wait on GPUs that it does not use, is not what was asked for.
    def test_stopped_for_others_it_is_told_and_suspended(self):
        id = self.counting(priority=10)
        self.freeze(id)
        other = self.submit("urgent", "true", priority=100)
        self.until(other, "succeeded")
        self.until(id, "suspended")
        self.assertIn('told\n{"cause": "preempted"', text_of(self.told))
        self.assertIn("resume", self.status(id)["reason"])
        self.assertEqual(self.status(id)["preemptions"], 1)
        self.resume(id)
        self.until(id, "running")

    def test_lost_it_is_suspended_and_nothing_is_left_of_it(self):
        id = self.counting()
        pid = self.task(id)["pid"]
        self.freeze(id)
        supervisor = int(text_of(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[1])
        os.kill(supervisor, 9)
        self.until(id, "suspended")
        self.assertFalse(alive(pid))
        self.assertEqual(self.status(id)["tasks"]["failed"], 0)
        self.until(self.submit("other", "true"), "succeeded")

    # The trials that run stand still, and none begins meanwhile.
    def test_of_a_sweep_nothing_begins(self):
        out = self.folder + "/out"
        os.mkdir(out)
        os.chmod(out, 0o777)
        id = self.submit("sweep", "sh", "-c", f"mkdir {out}/$POD_INDEX; [ $POD_INDEX != 0 ] || exit 0; "
                         f"while ! [ -e {self.folder}/go ]; do echo x >> {self.at}; sleep 0.01; done",
                         gpu=1, completions=4, parallelism=2)
        self.server.wait_for("two that wait", lambda: sorted(os.listdir(out)) == ["0", "1", "2"])
        self.server.wait_for("0 is over", lambda: self.status(id)["tasks"]["succeeded"] == 1)
        self.freeze(id)
        open(self.folder + "/go", "w").close()
        self.assertEqual(sorted(os.listdir(out)), ["0", "1", "2"])
        self.assertIn("frozen by", self.server.get(f"/api/v1/workloads/{id}/explanation").json["text"])
        self.resume(id)
        self.until(id, "succeeded")
        self.assertEqual(sorted(os.listdir(out)), ["0", "1", "2", "3"])

    def test_where_nothing_can_be_frozen_it_is_refused_and_says_why(self):
        wrapper = self.root + "/without-groups"
        with open(wrapper, "w") as file:
            file.write("#!/bin/sh\nexec unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec \"$0\" \"$@\"' "
                       f'{PROGRAM} "$@"\n')
        os.chmod(wrapper, 0o700)
        if subprocess.run([wrapper, "--version"], capture_output=True).returncode != 0:
            self.skipTest("no mounts of its own can be had here")
        self.server.stop()
        self.server.program = wrapper
        self.server.start()
        id = self.submit("runs", "sleep", "1000")
        self.until(id, "running")
        answer = self.server.post(f"/api/v1/workloads/{id}/suspend", {"freeze": True})
        self.assertEqual(answer.status, 422, answer.text)
        for part in ("no control groups are mounted", "fairlead suspend runs"):
            self.assertIn(part, answer.text)
        self.assertEqual(self.status(id)["phase"], "running")

    def test_what_cannot_be_frozen_is_refused(self):
        holder = self.submit("holder", "sleep", "1000")
        self.until(holder, "running")
        waits = self.submit("waits", "true")
        for body, status, part in [({"freeze": True}, 409, "does not run"), ({"freeze": 1}, 400, "freeze"),
                                   ({"frees": True}, 400, "frees")]:
            answer = self.server.post(f"/api/v1/workloads/{waits}/suspend", body)
            self.assertEqual(answer.status, status, answer.text)
            self.assertIn(part, answer.text)
        self.assertEqual(self.server.post(f"/api/v1/workloads/{waits}/suspend").status, 202)
        self.until(waits, "suspended")
        answer = self.server.post(f"/api/v1/workloads/{waits}/suspend", {"freeze": True})
        self.assertEqual(answer.status, 409, answer.text)
        self.assertIn("fairlead resume waits", answer.text)
        dry = self.server.post(f"/api/v1/workloads/{holder}/suspend?dryRun=true", {"freeze": True})
        self.assertEqual(dry.status, 202, dry.text)
        self.assertEqual(self.status(holder)["phase"], "running")


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    return 0 if unittest.main(argv=sys.argv, verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
