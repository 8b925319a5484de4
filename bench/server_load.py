#!/usr/bin/env python3
"""What a server takes: submissions per second, a long queue, watchers, short tasks.

usage: server_load.py PROGRAM [QUEUED]

Starts a server of its own on simulated GPUs. Requests come on 64 connections at once; those of one
connection are served one after another, each when it is on the disk. The machine is shared with the client,
so that the figures are low rather than high.
"""

import json
import os
import shutil
import socket
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/server"))
from server import Server, UnixConnection  # noqa: E402


def read_answers(stream, count):
    """So many answers with a body of known length; the statuses."""
    statuses = []
    for _ in range(count):
        line = stream.readline()
        if not line:
            raise AssertionError("the server hung up")
        statuses.append(int(line.split()[1]))
        length = 0
        while (field := stream.readline()) not in (b"\r\n", b""):
            if field.lower().startswith(b"content-length:"):
                length = int(field.split(b":")[1])
        stream.read(length)
    return statuses


def submit(server, prefix, count, body, clients=64, window=4):
    """Submits `count` workloads as so many clients; how many per second."""
    connections = []
    for _ in range(clients):
        s = socket.socket(socket.AF_UNIX)
        s.connect(server.socket)
        connections.append((s, s.makefile("rb")))
    begin = time.monotonic()
    sent = 0
    while sent < count:
        pending = []
        for s, stream in connections:
            n = min(window, count - sent)
            parts = []
            for _ in range(n):
                text = json.dumps({**body, "name": f"{prefix}-{sent}"})
                parts.append(f"POST /api/v1/workloads HTTP/1.1\r\nHost: l\r\nContent-Type: application/json\r\n"
                             f"Content-Length: {len(text)}\r\n\r\n{text}")
                sent += 1
            s.sendall("".join(parts).encode())
            pending.append((stream, n))
        for stream, n in pending:
            bad = [status for status in read_answers(stream, n) if status != 201]
            assert not bad, bad[:3]
    return count / (time.monotonic() - begin)


def memory_of(pid):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0


def timed(action):
    begin = time.monotonic()
    action()
    return (time.monotonic() - begin) * 1000


def main():
    program = os.path.abspath(sys.argv[1])
    queued = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    root = tempfile.mkdtemp(prefix="fairlead-load-")
    server = Server(program, root + "/state", "--simulate", "8xH100-80GB").start()
    try:
        run = {"run": {"command": ["true"], "workingDir": "/"}}
        begin = time.monotonic()
        count = 2000
        rate = submit(server, "short", count, run)
        server.wait_for("all short tasks", lambda: not server.get(
            "/api/v1/workloads?limit=1&phase=pending,starting,running,stopping").json["items"], 600)
        print(f"submissions while tasks run     {rate:,.0f}/s")
        print(f"short tasks, submitted to done  {count / (time.monotonic() - begin):,.0f}/s")

        holder = server.post("/api/v1/workloads", {
            "name": "holder", "gpu": 8, "priority": 90,
            "run": {"command": ["sleep", "86400"], "workingDir": "/"}}).json
        before = memory_of(server.process.pid)
        rate = submit(server, "queued", queued, {**run, "gpu": 8, "maxRuntime": "1h"})
        grown = memory_of(server.process.pid) - before
        print(f"submissions that must wait      {rate:,.0f}/s ({queued:,} of them)")
        print(f"memory per queued workload      {grown / queued / 1024:.1f} KiB")
        print(f"list, first 100                 {timed(lambda: server.get('/api/v1/workloads')):.1f} ms")
        print(f"list, 100 that wait             "
              f"{timed(lambda: server.get('/api/v1/workloads?phase=pending')):.1f} ms")
        print(f"one more submission             "
              f"{timed(lambda: server.post('/api/v1/workloads', {**run, 'name': 'more', 'gpu': 8})):.1f} ms")

        watchers = []
        for _ in range(1000):
            connection = UnixConnection(server.socket)
            connection.request("GET", "/api/v1/watch?kinds=workload")
            watchers.append(connection.getresponse())
            watchers[-1].readline()
        begin = time.monotonic()
        server.post("/api/v1/workloads", {**run, "name": "watched", "gpu": 8})
        for response in watchers:
            while b'"watched"' not in response.readline():
                pass
        print(f"a change to 1,000 watchers      {(time.monotonic() - begin) * 1000:.0f} ms")
        for response in watchers:
            response.close()
        server.stop()
        begin = time.monotonic()
        server.start()
        print(f"start with {queued:,} queued        {time.monotonic() - begin:.1f} s")
        server.request("DELETE", f"/api/v1/workloads/{holder['id']}?gracePeriod=0s")
        server.stop()
    finally:
        if server.process.poll() is None:
            server.kill()
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
