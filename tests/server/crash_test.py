#!/usr/bin/env python3
"""Kills the server (SIGKILL) at random moments under load, and checks that nothing was lost.

usage: crash_test.py PROGRAM [KILLS] [SEED]

What must hold however often it dies: every submission that was acknowledged ends exactly once with
the exit code that its task had; no task ran twice; no GPU was held by two at a time; what was not
acknowledged either is there whole or not at all, and asked again with the same key it is there once.

Tasks bear witness themselves: each makes a folder of its name (which fails the second time) and one
of its GPU (which fails if somebody has it) and removes the latter at its end.
"""

import http.client
import os
import random
import shutil
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from server import Server  # noqa: E402

TASK = """
mkdir "$W/ran-$FAIRLEAD_WORKLOAD_ID" || echo "$FAIRLEAD_WORKLOAD" >> "$W/twice"
mkdir "$W/gpu-$CUDA_VISIBLE_DEVICES" || echo "$FAIRLEAD_WORKLOAD $CUDA_VISIBLE_DEVICES" >> "$W/both"
sleep "$T"
rmdir "$W/gpu-$CUDA_VISIBLE_DEVICES"
exit "$CODE"
"""


class Load(threading.Thread):
    """Submits without end; asks again, with the same key, what it had no answer to."""

    def __init__(self, server, folder, number, seed):
        super().__init__(daemon=True)
        self.server = server
        self.folder = folder
        self.number = number
        self.random = random.Random(seed)
        self.acknowledged = {}  # id: (name, code)
        self.over = False
        self.wrong = []

    def run(self):
        try:
            self.submit_until_over()
        except Exception as error:  # the thread would end, and nobody the wiser
            self.wrong.append(f"the load of w{self.number} ended: {error!r}")

    def submit_until_over(self):
        count = 0
        while not self.over:
            name = f"w{self.number}-{count}"
            count += 1
            code = self.random.choice([0, 0, 0, 3])
            body = {
                "name": name,
                "gpu": 1,
                "backoffLimit": 0,
                "run": {
                    "command": ["sh", "-c", TASK],
                    "workingDir": self.folder,
                    "env": {"W": self.folder, "CODE": str(code),
                            "T": f"{self.random.uniform(0, 0.25):.3f}"},
                },
            }
            self.submit(name, code, body)
            time.sleep(self.random.uniform(0, 0.05))

    def submit(self, name, code, body):
        while not self.over:
            try:
                answer = self.server.post("/api/v1/workloads", body, Idempotency_Key=name)
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)
                continue
            if answer.status == 201:
                self.acknowledged[answer.json["id"]] = (name, code)
            elif answer.status != 503:
                self.wrong.append(f"{name}: {answer.status} {answer.text}")
            else:
                continue
            return


def check(server, folder, loads):
    acknowledged = {}
    wrong = []
    for load in loads:
        acknowledged.update(load.acknowledged)
        wrong += load.wrong
    server.wait_for(
        "the end of all workloads",
        lambda: not server.get("/api/v1/workloads?limit=1&phase=pending,starting,running,stopping").json["items"],
        300)
    found = {w["id"]: w for w in server.all("/api/v1/workloads")}
    names = [w["name"] for w in found.values()]
    if len(names) != len(set(names)):
        wrong.append("a name is there twice")
    for workload, (name, code) in acknowledged.items():
        if workload not in found:
            wrong.append(f"{name} was acknowledged and is gone")
            continue
        status = found[workload]["status"]
        lost = [t for t in server.get(f"/api/v1/workloads/{workload}/tasks").json["items"]]
        if len(lost) != 1:
            wrong.append(f"{name} has {len(lost)} tasks")
        if status["phase"] != ("succeeded" if code == 0 else "failed"):
            wrong.append(f"{name} with exit code {code} is {status['phase']}: {status.get('reason')}")
        if status.get("exitCode") != code:
            wrong.append(f"{name}: exit code {status.get('exitCode')}, and it was {code}")
        if lost and lost[0]["starts"] != 1:
            wrong.append(f"{name} was started {lost[0]['starts']} times")
        if status["restarts"] != 0:
            wrong.append(f"{name} counts {status['restarts']} restarts")
        if not os.path.isdir(f"{folder}/ran-{workload}"):
            wrong.append(f"{name} has ended and never ran")
    for file in ("twice", "both"):
        if os.path.exists(f"{folder}/{file}"):
            wrong.append(f"{file}: " + open(f"{folder}/{file}").read())
    held = [name for name in os.listdir(folder) if name.startswith("gpu-")]
    if held:
        wrong.append(f"still held: {held}")
    return len(acknowledged), wrong


def main():
    program = os.path.abspath(sys.argv[1])
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    chance = random.Random(seed)
    root = tempfile.mkdtemp(prefix="fairlead-crash-")
    folder = root + "/witness"
    os.mkdir(folder)
    server = Server(program, root + "/state", "--simulate", "4xT4").start()
    neighbour = Server(program, root + "/neighbour", "--simulate", "1xT4")
    try:
        loads = [Load(server, folder, i, seed * 100 + i) for i in range(4)]
        for load in loads:
            load.start()
        for _ in range(kills):
            time.sleep(chance.choice([0.0, 0.02, 0.1, 0.3]) * chance.random())
            server.kill()
            # Another server that starts now tidies up what nobody answers for.
            if chance.random() < 0.2:
                neighbour.start()
                neighbour.kill()
            # Now and then it dies again while it gets up.
            server.start(wait=False)
            if chance.random() < 0.8:
                server.wait_until_ready()
        server.wait_until_ready()
        for load in loads:
            load.over = True
        for load in loads:
            load.join()
        count, wrong = check(server, folder, loads)
        server.stop()
        for line in wrong[:40]:
            print(line)
        print(f"{kills} kills, {count} submissions acknowledged, {len(wrong)} wrong (seed {seed})")
        if wrong:
            print(f"kept: {root}")
            return 1
        shutil.rmtree(root)
        return 0
    finally:
        for one in (server, neighbour):
            if one.process and one.process.poll() is None:
                one.kill()


if __name__ == "__main__":
    sys.exit(main())
