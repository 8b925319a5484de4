#!/usr/bin/env python3
"""The API as its description says: every answer is checked against api/openapi.yaml.

usage: api_test.py PROGRAM
"""

import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import jsonschema
import yaml

sys.path.insert(0, os.path.dirname(__file__))
from server import Server, UnixConnection  # noqa: E402

PROGRAM = None
DESCRIPTION = yaml.safe_load(open(os.path.join(os.path.dirname(__file__), "../../api/openapi.yaml")))


def operation_of(method, path):
    """The operation that a path is for: words before parameters."""
    parts = path.split("?")[0].strip("/").split("/")
    best = None
    for pattern, item in DESCRIPTION["paths"].items():
        words = pattern.strip("/").split("/")
        if len(words) != len(parts) or method.lower() not in item:
            continue
        if all(w.startswith("{") or w == p for w, p in zip(words, parts)):
            exact = sum(w == p for w, p in zip(words, parts))
            if best is None or exact > best[0]:
                best = (exact, item[method.lower()])
    return best and best[1]


def resolve(node):
    while "$ref" in node:
        target = DESCRIPTION
        for key in node["$ref"][2:].split("/"):
            target = target[key]
        node = target
    return node


class Checked:
    """A server whose answers are held against the description."""

    def __init__(self, server):
        self.server = server
        self.seen = set()

    def request(self, method, path, body=None, headers=None):
        answer = self.server.request(method, path, body, headers)
        operation = operation_of(method, path)
        assert operation, f"{method} {path} is not described"
        self.seen.add(operation["operationId"])
        stated = operation["responses"].get(str(answer.status)) or operation["responses"].get("default")
        assert stated, f"{method} {path}: {answer.status} is not described"
        response = resolve(stated)
        if str(answer.status) not in operation["responses"]:
            assert answer.status >= 400, f"{method} {path}: {answer.status} is not described"
        content = response.get("content")
        if not content or not answer.text:
            return answer
        kind = answer.headers["Content-Type"].split(";")[0]
        assert kind in content, f"{method} {path}: {kind} is not described"
        if "json" in kind:
            schema = dict(content[kind]["schema"])
            schema["components"] = DESCRIPTION["components"]
            jsonschema.Draft202012Validator(schema).validate(answer.json)
        return answer

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, body=None, **headers):
        return self.request("POST", path, body, {k.replace("_", "-"): v for k, v in headers.items()})


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="fairlead-api-")
        cls.server = Server(PROGRAM, cls.root + "/state", "--simulate", "4xA100-40GB").start()
        cls.api = Checked(cls.server)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.root)

    def submit(self, name, command=("true",), **fields):
        body = {"name": name, "run": {"command": list(command), "workingDir": "/tmp"}, **fields}
        answer = self.api.post("/api/v1/workloads?plan=true", body)
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json

    def phase(self, workload):
        return self.api.get(f"/api/v1/workloads/{workload}").json["status"]["phase"]

    def wait(self, workload, *phases):
        self.server.wait_for(f"{workload} is {phases}", lambda: self.phase(workload) in phases)

    def problem(self, answer, status, code, *parts):
        self.assertEqual(answer.status, status, answer.text)
        self.assertEqual(answer.json["code"], code)
        for part in parts:
            self.assertIn(part, answer.text)

    def test_a_workload_from_submission_to_deletion(self):
        w = self.submit("life", ["sh", "-c", "exit 0"], gpu=1)
        self.wait(w["id"], "succeeded")
        tasks = self.api.get(f"/api/v1/workloads/{w['id']}/tasks").json["items"]
        self.assertEqual([t["exitCode"] for t in tasks], [0])
        self.api.get(f"/api/v1/tasks/{tasks[0]['id']}")
        events = self.api.get(f"/api/v1/workloads/{w['id']}/events").json["items"]
        self.assertEqual([e["reason"] for e in events][:2], ["Submitted", "Scheduled"])
        self.assertEqual(events[-1]["reason"], "Succeeded")
        self.assertEqual(self.api.request("DELETE", f"/api/v1/workloads/{w['id']}").status, 202)
        self.problem(self.api.get(f"/api/v1/workloads/{w['id']}"), 404, "not-found")
        again = self.submit("life", gpu=1)  # the name is free again
        self.assertNotEqual(again["id"], w["id"])

    def test_what_fails_says_how(self):
        w = self.submit("three", ["sh", "-c", "exit 3"], backoffLimit=0)
        self.wait(w["id"], "failed")
        status = self.api.get(f"/api/v1/workloads/{w['id']}").json["status"]
        self.assertEqual(status["exitCode"], 3)
        self.assertIn("exit code 3", status["reason"])
        w = self.submit("nothing", ["/does/not/exist"])
        self.wait(w["id"], "failed")
        self.assertIn("/does/not/exist", self.api.get(f"/api/v1/workloads/{w['id']}").text)

    def test_failures_are_retried_up_to_the_limit(self):
        w = self.submit("again", ["sh", "-c", "exit 1"], backoffLimit=1)
        self.wait(w["id"], "failed")
        status = self.api.get(f"/api/v1/workloads/{w['id']}").json["status"]
        self.assertEqual((status["tasks"]["failed"], status["restarts"]), (2, 1))

    def test_a_sweep_runs_each_index_once(self):
        out = tempfile.mkdtemp(dir=self.root)
        os.chmod(out, 0o777)
        w = self.submit("sweep", ["sh", "-c", f"mkdir {out}/$POD_INDEX"], completions=5, parallelism=2, gpu=0.5)
        self.wait(w["id"], "succeeded")
        self.assertEqual(sorted(os.listdir(out)), ["0", "1", "2", "3", "4"])

    def test_suspended_it_holds_nothing_and_resumes(self):
        w = self.submit("pause", ["sleep", "600"], gpu=1, gracePeriod="1s")
        self.wait(w["id"], "running")
        self.assertEqual(self.api.post(f"/api/v1/workloads/{w['id']}/suspend").status, 202)
        self.wait(w["id"], "suspended")
        body = self.api.get(f"/api/v1/workloads/{w['id']}").json
        self.assertEqual(body["status"]["allocated"]["gpuMilli"], 0)
        self.assertEqual(self.api.post(f"/api/v1/workloads/{w['id']}/resume").status, 202)
        self.wait(w["id"], "running")
        self.api.request("DELETE", f"/api/v1/workloads/{w['id']}?gracePeriod=0s")

    def test_frozen_it_keeps_what_it_holds(self):
        w = self.submit("freeze", ["sleep", "600"], gpu=1, gracePeriod="1s")
        self.wait(w["id"], "running")
        answer = self.api.post(f"/api/v1/workloads/{w['id']}/suspend", {"freeze": True})
        # Where control groups cannot freeze it is refused.
        if answer.status != 422:
            self.assertEqual(answer.json["status"]["phase"], "frozen")
            self.assertEqual(answer.json["status"]["allocated"]["gpuMilli"], 1000)
            self.assertEqual(self.api.get(f"/api/v1/workloads/{w['id']}/tasks").json["items"][0]["phase"], "frozen")
            self.assertEqual(self.api.post(f"/api/v1/workloads/{w['id']}/resume").status, 202)
        self.api.request("DELETE", f"/api/v1/workloads/{w['id']}?gracePeriod=0s")

    def test_the_time_limit_ends_it(self):
        w = self.submit("short", ["sleep", "600"], maxRuntime="300ms", gracePeriod="100ms")
        self.wait(w["id"], "timed-out")

    def test_what_waits_is_explained(self):
        holder = self.submit("holder", ["sleep", "600"], gpu=3)
        waits = self.submit("waits", gpu=4)
        self.assertGreaterEqual(waits["plan"]["place"], 1)
        why = self.api.get(f"/api/v1/workloads/{waits['id']}/explanation").json
        self.assertEqual(why["reasons"][0]["code"], "no-room")
        self.assertIn("main/holder", why["text"])
        names = [i["name"] for i in self.api.get("/api/v1/queue").json["items"]]
        self.assertIn("waits", names)
        self.api.request("DELETE", f"/api/v1/workloads/{holder['id']}?gracePeriod=0s")
        self.wait(waits["id"], "succeeded")

    def test_the_impossible_is_refused_with_the_nearest(self):
        body = {"name": "huge", "gpu": 5, "run": {"command": ["true"]}}
        self.problem(self.api.post("/api/v1/workloads", body), 422, "impossible", "ask 4 GPUs")
        body = {"name": "image", "run": {"image": "x", "command": ["true"]}}
        self.problem(self.api.post("/api/v1/workloads", body), 422, "impossible", "run.image")

    def test_what_is_wrong_is_named(self):
        for body, part in [
            ({"name": "x", "gpus": 1}, "gpus"),
            ({"gpu": 1}, "name"),
            ({"name": "x", "gpu": -1, "run": {"command": ["true"]}}, "gpu"),
            ({"name": "x", "run": {}}, "command"),
            ({"name": "x", "project": "nobody", "run": {"command": ["true"]}}, "project create nobody"),
            ("{", "not valid JSON"),
            ("[]", "object"),
        ]:
            answer = self.api.post("/api/v1/workloads", body)
            self.assertIn(answer.status, (400, 404), answer.text)
            self.assertIn(part, answer.text)
        self.problem(self.api.get("/api/v1/workloads?limt=3"), 400, "invalid-argument", "limit")
        self.problem(self.api.get("/api/v1/workloads?limit=0"), 400, "invalid-argument")
        self.problem(self.api.get("/api/v1/workloads?phase=odd"), 400, "invalid-argument", "pending")
        self.assertEqual(self.server.request("PUT", "/api/v1/workloads", {}).status, 405)
        self.assertEqual(self.server.get("/api/v1/nothing").status, 404)

    def test_the_same_key_gives_the_same_answer(self):
        body = {"name": "once", "run": {"command": ["true"], "workingDir": "/tmp"}}
        first = self.api.post("/api/v1/workloads", body, Idempotency_Key="k1")
        second = self.api.post("/api/v1/workloads", body, Idempotency_Key="k1")
        self.assertEqual((first.status, first.text), (second.status, second.text))
        body["name"] = "other"
        self.problem(self.api.post("/api/v1/workloads", body, Idempotency_Key="k1"), 409, "conflict")
        self.problem(self.api.post("/api/v1/workloads", {**body, "name": "once"}), 409, "already-exists")

    def test_a_dry_run_changes_nothing(self):
        body = {"name": "dry", "gpu": 1, "run": {"command": ["true"]}}
        self.assertEqual(self.api.post("/api/v1/workloads?dryRun=true", body).status, 200)
        self.assertEqual(self.api.get("/api/v1/workloads?name=dry").json["items"], [])
        body = {"name": "dry-project"}
        self.assertEqual(self.api.post("/api/v1/projects?dryRun=true", body).status, 200)
        self.assertEqual(self.api.get("/api/v1/projects/dry-project").status, 404)

    def test_changes_say_which_state_they_mean(self):
        w = self.submit("change", ["sleep", "600"], gpu=0.1)
        self.wait(w["id"], "running")
        path = f"/api/v1/workloads/{w['id']}"
        self.problem(self.api.request("PATCH", path, {"priority": 3}), 428, "unguarded")
        self.problem(self.api.request("PATCH", path, {"priority": 3}, {"If-Match": '"1"'}), 412, "stale")
        tag = self.api.get(path).headers["ETag"]
        answer = self.api.request("PATCH", path, {"priority": 3, "labels": {"a": "b"}}, {"If-Match": tag})
        self.assertEqual((answer.status, answer.json["priority"]), (200, 3), answer.text)
        self.assertEqual(self.api.get(path).json["labels"], {"a": "b"})
        self.api.request("DELETE", path + "?gracePeriod=0s")

    def test_projects_and_departments(self):
        self.assertEqual(self.api.post("/api/v1/departments", {"name": "research"}).status, 201)
        body = {"name": "vision", "parent": "research", "quota": {"gpu": 2}, "members": ["nobody"]}
        answer = self.api.post("/api/v1/projects", body)
        self.assertEqual(answer.status, 201, answer.text)
        self.assertEqual(answer.json["status"]["pools"][0]["quota"]["gpu"], 2000)
        body["quota"] = {"gpu": 3}
        answer = self.api.request("PUT", "/api/v1/projects/vision", body, {"If-Match": "*"})
        self.assertEqual(answer.json["document"]["quota"], {"gpu": 3})
        self.problem(self.api.request("DELETE", "/api/v1/departments/research"), 409, "conflict", "vision")
        self.problem(self.api.post("/api/v1/projects", body), 409, "already-exists")
        self.problem(self.api.post("/api/v1/projects", {"name": "x", "parent": "resarch"}), 404, "not-found",
                     "did you mean research")
        self.api.get("/api/v1/projects"), self.api.get("/api/v1/departments")
        self.api.get("/api/v1/departments/research"), self.api.get("/api/v1/projects/vision")
        answer = self.api.request("PUT", "/api/v1/departments/research", {"name": "research", "rank": 7},
                                  {"If-Match": "*"})
        self.assertEqual(answer.json["document"]["rank"], 7)
        self.assertEqual(self.api.request("DELETE", "/api/v1/projects/vision").status, 204)
        self.assertEqual(self.api.request("DELETE", "/api/v1/departments/research").status, 204)

    def test_machine_pools_and_settings(self):
        node = self.api.get("/api/v1/nodes").json["items"][0]
        self.assertEqual(len(node["devices"]), 4)
        path = f"/api/v1/nodes/{node['name']}"
        answer = self.api.request("PATCH", path, {"schedulable": False}, {"If-Match": "*"})
        self.assertFalse(answer.json["schedulable"])
        w = self.submit("cordoned", gpu=1)
        self.assertEqual(self.phase(w["id"]), "pending")
        self.api.request("PATCH", path, {"schedulable": True, "labels": {"a": "b"}}, {"If-Match": "*"})
        self.wait(w["id"], "succeeded")
        self.api.get(path), self.api.get("/api/v1/devices"), self.api.get("/api/v1/node-pools")
        self.assertEqual(self.api.post("/api/v1/node-pools", {"name": "spare"}).status, 201)
        self.api.request("PUT", "/api/v1/node-pools/spare", {"name": "spare", "strategy": "spread"}, {"If-Match": "*"})
        self.api.get("/api/v1/node-pools/spare")
        answer = self.api.request("PATCH", "/api/v1/settings", {"retention": "9d"}, {"If-Match": "*"})
        self.assertEqual(answer.json["document"]["retention"], "9d", answer.text)
        self.api.get("/api/v1/settings")
        for path in ("/healthz", "/readyz", "/metrics", "/api/v1/version", "/api/v1/openapi.yaml",
                     "/api/v1/doctor", "/api/v1/whoami", "/api/v1/events", "/api/v1/audit", "/api/v1/tasks"):
            self.assertEqual(self.api.get(path).status, 200, path)

    def test_the_cluster_is_a_document_to_play_on_from(self):
        runs = self.submit("on-it", ["sleep", "600"], gpu=4, expectedRuntime="1h")
        self.wait(runs["id"], "running")
        waits = self.submit("after-it", gpu=4, expectedRuntime="30m")
        answer = self.api.get("/api/v1/cluster")
        self.assertNotIn("sleep", answer.text)
        named = {w["name"]: w for w in answer.json["cluster"]["workloads"]}
        self.assertEqual(len(named["main/on-it"]["running"]), 1)
        self.assertNotIn("running", named["main/after-it"])

        def fairlead(*arguments, text=None):
            done = subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True,
                                  env=dict(os.environ, FAIRLEAD_SERVER="unix://" + self.server.socket))
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        document = fairlead("export")
        fairlead("validate", "-", text=document)
        node = self.api.get("/api/v1/nodes").json["items"][0]["name"]
        told = json.loads(fairlead("whatif", "--add-nodes", node, "-o", "json"))
        self.assertTrue(told["ahead"])
        self.assertEqual([m["workload"] for m in told["gained"]][:1], ["main/after-it"])
        self.assertGreater(told["gained"][0]["waitBeforeSeconds"], 3500)
        self.assertLess(told["gained"][0]["waitAfterSeconds"], 60)
        for w in (waits, runs):
            path = f"/api/v1/workloads/{w['id']}"
            self.api.request("DELETE", path + "?gracePeriod=0s")
            self.server.wait_for("its end", lambda path=path: self.api.get(path).status == 404)

    def test_reservations_keep_nodes_for_a_time(self):
        def at(seconds):
            return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))

        node = self.api.get("/api/v1/nodes").json["items"][0]["name"]
        body = {"name": "upkeep", "nodes": [node], "from": at(-5), "until": at(3600), "description": "fans"}
        answer = self.api.post("/api/v1/reservations", body)
        self.assertEqual((answer.status, answer.json["status"]["state"]), (201, "active"), answer.text)
        self.addCleanup(lambda: self.server.request("DELETE", "/api/v1/reservations/upkeep"))
        kept = self.submit("kept-out", gpu=1)
        self.assertEqual(self.phase(kept["id"]), "pending")
        why = self.api.get(f"/api/v1/workloads/{kept['id']}/explanation").text
        self.assertIn("upkeep", why)
        self.problem(self.api.post("/api/v1/reservations", body), 409, "already-exists")
        self.problem(self.api.post("/api/v1/reservations", dict(body, name="x", nodes=["nowhere"])), 404, "not-found",
                     "nowhere")
        self.problem(self.api.post("/api/v1/reservations", dict(body, name="x", until=at(-60))), 400,
                     "invalid-argument")
        self.problem(self.api.post("/api/v1/reservations", dict(body, name="x", **{"for": ["mian"]})), 404,
                     "not-found", "did you mean main?")
        self.problem(self.api.request("PATCH", f"/api/v1/nodes/{node}", {"pool": "elsewhere"}, {"If-Match": "*"}), 409,
                     "conflict", "upkeep")
        # Told again after a restart.
        self.server.kill()
        self.server.start()
        self.assertEqual(self.phase(kept["id"]), "pending")
        self.assertEqual(self.api.get("/api/v1/reservations").json["items"][0]["name"], "upkeep")
        # For its project it is no hindrance.
        answer = self.api.request("PUT", "/api/v1/reservations/upkeep", dict(body, **{"for": ["main"]}),
                                  {"If-Match": "*"})
        self.assertEqual(answer.status, 200, answer.text)
        self.wait(kept["id"], "succeeded")
        self.assertEqual(self.api.request("DELETE", "/api/v1/reservations/upkeep").status, 204)
        self.problem(self.api.get("/api/v1/reservations/upkeep"), 404, "not-found")
        # What is over is gone by itself.
        self.api.post("/api/v1/reservations", dict(body, name="short", until=at(2)))
        late = self.submit("late", gpu=1)
        self.wait(late["id"], "succeeded")
        self.assertEqual(self.api.get("/api/v1/reservations").json["items"], [])

    def test_pages_of_a_list_hold_each_thing_once(self):
        for i in range(7):
            self.submit(f"page-{i}")
        seen, token = [], ""
        while True:
            page = self.api.get("/api/v1/workloads?limit=3" + (f"&pageToken={token}" if token else "")).json
            seen += [w["id"] for w in page["items"]]
            token = page.get("nextPageToken")
            if not token:
                break
        self.assertEqual(len(seen), len(set(seen)))
        self.assertGreaterEqual(len(seen), 7)

    def test_every_list_takes_a_limit(self):
        """The client asks each list for its pages in the same way."""
        for path, item in DESCRIPTION["paths"].items():
            schema = item.get("get", {}).get("responses", {}).get("200", {})
            schema = resolve(schema).get("content", {}).get("application/json", {}).get("schema", {})
            if "{" in path or "items" not in resolve(schema).get("properties", {}) or path.endswith("doctor"):
                continue
            answer = self.api.get(path + "?limit=1")
            self.assertEqual(answer.status, 200, path + ": " + answer.text)
            self.assertLessEqual(len(answer.json["items"]), 1, path)

    def test_a_watch_goes_on_where_it_was(self):
        def events(path, count, headers=None):
            connection = UnixConnection(self.server.socket)
            connection.request("GET", path, headers=headers or {})
            response = connection.getresponse()
            found = []
            while len(found) < count:
                fields = {}
                while (line := response.readline().decode().rstrip("\n")) or not fields:
                    if ": " in line and not line.startswith(":"):
                        key, value = line.split(": ", 1)
                        fields[key] = value
                found.append(fields)
            connection.close()
            return found

        start = self.api.get("/api/v1/workloads?limit=1").json["revision"]
        w = self.submit("watched")
        self.wait(w["id"], "succeeded")
        path = f"/api/v1/watch?kinds=workload&workload={w['id']}"
        first = events(path + f"&since={start}", 3)
        self.assertEqual([e["event"] for e in first], ["bookmark", "added", "modified"])
        second = events(path, 2, {"Last-Event-ID": first[1]["id"]})
        self.assertEqual(second[1]["id"], first[2]["id"])
        self.assertEqual(json.loads(first[1]["data"])["object"]["name"], "watched")
        self.assertEqual(events("/api/v1/watch?since=999999999", 2)[1]["event"], "reset")

    def test_users_and_tokens(self):
        self.assertEqual(self.api.post("/api/v1/users", {"name": "mira", "role": "viewer"}).status, 201)
        token = self.api.post("/api/v1/tokens", {"name": "laptop", "user": "mira"}).json
        self.assertTrue(token["secret"].startswith("fl_"))
        listed = self.api.get("/api/v1/tokens").json["items"]
        self.assertNotIn("secret", listed[0])
        self.assertEqual(self.api.request("DELETE", f"/api/v1/tokens/{token['id']}").status, 204)
        self.api.get("/api/v1/users"), self.api.get("/api/v1/users/mira")
        self.api.request("PUT", "/api/v1/users/mira", {"name": "mira", "role": "user"}, {"If-Match": "*"})
        self.assertEqual(self.api.request("DELETE", "/api/v1/users/mira").status, 204)
        self.problem(self.api.post("/api/v1/session", {"code": "wrong"}), 401, "unauthenticated")
        audit = self.api.get("/api/v1/audit?limit=200").json["items"]
        self.assertTrue(any(a["path"] == "/api/v1/tokens" and a["status"] == 201 for a in audit))

    @classmethod
    def seen(cls):
        return cls.api.seen


class OverTcp(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="fairlead-tcp-")
        self.server = Server(PROGRAM, self.root + "/state", "--simulate", "1xT4", "--listen", "127.0.0.1:0")
        self.server.start()
        # It answers a moment before it says so.
        self.server.wait_for("what it says of itself", lambda: "Next    " in open(self.server.log.name).read())
        text = open(self.server.log.name).read()
        self.link = text.split("Sign in ")[1].split()[0]
        self.port = int(text.split("Page    http://127.0.0.1:")[1].split()[0])

    def tearDown(self):
        self.server.stop()
        shutil.rmtree(self.root)

    def request(self, method, path, headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response, text

    def test_nobody_comes_in_without_a_token(self):
        for path in ("/api/v1/workloads", "/metrics", "/api/v1/audit", "/api/v1/watch"):
            self.assertEqual(self.request("GET", path)[0].status, 401, path)
        self.assertEqual(self.request("GET", "/api/v1/whoami", {"Authorization": "Bearer fl_x_y"})[0].status, 401)
        self.assertEqual(self.request("GET", "/", {"Host": "evil.example"})[0].status, 421)

    def test_the_link_signs_in_once(self):
        path = "/login" + self.link.split("/login")[1]
        response, _ = self.request("GET", path)
        self.assertEqual(response.status, 303)
        cookie = response.headers["Set-Cookie"].split(";")[0]
        self.assertIn("HttpOnly", response.headers["Set-Cookie"])
        _, text = self.request("GET", "/api/v1/whoami", {"Cookie": cookie})
        self.assertEqual(json.loads(text)["role"], "admin")
        self.assertEqual(self.request("GET", path)[0].status, 401)
        body = json.dumps({"name": "p"})
        kind = {"Content-Type": "application/json", "Cookie": cookie}
        self.assertEqual(self.request("POST", "/api/v1/projects", {**kind, "Origin": "http://evil.example"}, body)[0].status, 403)
        self.assertEqual(self.request("POST", "/api/v1/projects", kind, body)[0].status, 201)
        self.assertEqual(self.request("DELETE", "/api/v1/session", {"Cookie": cookie})[0].status, 204)
        self.assertEqual(self.request("GET", "/api/v1/whoami", {"Cookie": cookie})[0].status, 401)

    def test_a_viewer_looks_and_touches_nothing(self):
        self.server.post("/api/v1/users", {"name": "vic", "role": "viewer"})
        secret = self.server.post("/api/v1/tokens", {"name": "t", "user": "vic"}).json["secret"]
        who = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        w = self.server.post("/api/v1/workloads", {"name": "mine", "run": {
            "command": ["sleep", "60"], "workingDir": "/tmp", "env": {"PASSWORD": "swordfish"}}}).json
        response, text = self.request("GET", f"/api/v1/workloads/{w['id']}", who)
        self.assertEqual(response.status, 200)
        self.assertNotIn("swordfish", text)
        self.assertIn("PASSWORD", text)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", "/api/v1/watch?kinds=workload&since=1", None, who)
        stream = connection.getresponse()
        told = ""
        while '"name":"mine"' not in told:
            told += stream.readline().decode()
        connection.close()
        self.assertNotIn("swordfish", told)
        self.assertIn("PASSWORD", told)
        self.assertEqual(self.request("DELETE", f"/api/v1/workloads/{w['id']}", who)[0].status, 403)
        self.assertEqual(self.request("GET", f"/api/v1/tasks/{w['id']}-0-0/log", who)[0].status, 403)
        self.assertEqual(self.request("GET", "/api/v1/audit", who)[0].status, 403)
        body = json.dumps({"name": "x", "run": {"command": ["true"]}})
        self.assertEqual(self.request("POST", "/api/v1/workloads", who, body)[0].status, 403)
        self.server.request("DELETE", f"/api/v1/workloads/{w['id']}?gracePeriod=0s")


class Described(unittest.TestCase):
    def test_every_operation_was_asked(self):
        """After the tests of Api, in whose answers it looks."""
        missing = {o["operationId"] for item in DESCRIPTION["paths"].values() for m, o in item.items()
                   if m in ("get", "put", "post", "patch", "delete")} - Api.api.seen
        # Streams have a test of their own (stream_test.py), sessions are asked over TCP.
        missing -= {"getTaskLog", "execInTask", "attachToTask", "forwardToTask", "watch", "deleteSession"}
        self.assertEqual(missing, set())


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    loader = unittest.TestLoader()
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Api, OverTcp, Described))
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
