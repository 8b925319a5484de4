#!/usr/bin/env python3
"""What was learned holds over a restart of the server: what projects used counts for their fair share
(semantics 3.3.e), and how long work took for plans (9.1.a).

usage: usage_test.py PROGRAM
"""

import os
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from server import Server  # noqa: E402

PROGRAM = None


class Usage(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="fairlead-usage-")
        self.server = Server(PROGRAM, self.root + "/state", "--simulate", "8xT4").start()

    def tearDown(self):
        self.server.stop()
        self.server.log.close()
        shutil.rmtree(self.root, ignore_errors=True)

    def submit(self, project):
        body = {"name": "all", "project": project, "gpu": 1, "completions": 8, "parallelism": 8,
                "gracePeriod": "0s", "run": {"command": ["sleep", "600"], "workingDir": "/tmp"}}
        answer = self.server.post("/api/v1/workloads", body)
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json["id"]

    def put(self, method, path, body):
        answer = self.server.request(method, path, body, {"If-Match": "*"})
        self.assertEqual(answer.status, 200, answer.text)

    def fair_shares(self):
        return [self.server.get(f"/api/v1/projects/{name}").json["status"]["pools"][0]["fairShare"]["gpu"]
                for name in ("used", "fresh")]

    def test_who_used_much_gets_less_after_a_restart_too(self):
        """With k = 1 and half of all time at all 8 GPUs or more: weights 0.5 and 1, of 8 GPUs 3 and 5."""
        self.put("PUT", "/api/v1/node-pools/default", {"name": "default", "usage": {"k": 1}})
        for name in ("used", "fresh"):
            self.assertEqual(self.server.post("/api/v1/projects", {"name": name}).status, 201)
        first = self.submit("used")
        phase = lambda: self.server.get(f"/api/v1/workloads/{first}").json["status"]["phase"]  # noqa: E731
        self.server.wait_for("the first runs", lambda: phase() == "running")
        time.sleep(3)
        self.server.request("DELETE", f"/api/v1/workloads/{first}?gracePeriod=0s")
        self.server.wait_for("its end", lambda: self.server.get(f"/api/v1/workloads/{first}").status == 404)
        waiting = [self.submit("used"), self.submit("fresh")]
        used, fresh = self.fair_shares()
        self.assertLess(used, fresh)
        self.assertEqual(self.server.stop(), 0)
        self.server.start()
        used, fresh = self.fair_shares()
        self.assertLess(used, fresh, "the history is forgotten")
        for workload in waiting:
            self.server.request("DELETE", f"/api/v1/workloads/{workload}?gracePeriod=0s")


    def test_run_times_are_remembered(self):
        """Three runs of a template; the fourth says until when it keeps the GPUs from the next."""
        def run(seconds):
            body = {"name": "t", "project": "main", "gpu": 8, "template": "nightly",
                    "run": {"command": ["sleep", str(seconds)], "workingDir": "/tmp"}}
            answer = self.server.post("/api/v1/workloads", body)
            self.assertEqual(answer.status, 201, answer.text)
            return answer.json["id"]

        def phase(workload):
            answer = self.server.get(f"/api/v1/workloads/{workload}")
            return answer.json["status"]["phase"] if answer.status == 200 else "gone"

        def delete(workload):
            self.server.request("DELETE", f"/api/v1/workloads/{workload}?gracePeriod=0s")
            self.server.wait_for("its end", lambda: phase(workload) == "gone")

        for _ in range(3):
            done = run(1)
            self.server.wait_for("its end", lambda: phase(done) == "succeeded")
            delete(done)
        for again in (False, True):
            if again:
                self.assertEqual(self.server.stop(), 0)
                self.server.start()
            runs = run(600)
            self.server.wait_for("it runs", lambda: phase(runs) == "running")
            body = {"name": "waits", "project": "main", "gpu": 1,
                    "run": {"command": ["true"], "workingDir": "/tmp"}}
            answer = self.server.post("/api/v1/workloads", body)
            self.assertEqual(answer.status, 201, answer.text)
            path = f"/api/v1/workloads/{answer.json['id']}/explanation"
            start = self.server.get(path).json["start"]
            self.assertIn("earliest", start, f"after a restart: {again}")
            self.assertFalse(start["declared"])
            delete(answer.json["id"])
            delete(runs)


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    return 0 if unittest.main(argv=sys.argv, verbosity=2, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
