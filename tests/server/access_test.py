#!/usr/bin/env python3
"""Who may what, when rights change under way, and what strangers can make the server do.

usage: access_test.py PROGRAM
"""

import http.client
import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from server import Server  # noqa: E402

PROGRAM = None


class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="fairlead-access-")
        os.chmod(cls.root, 0o755)
        cls.server = Server(PROGRAM, cls.root + "/state", "--simulate", "2xT4", "--listen", "127.0.0.1:0")
        cls.server.start()
        text = open(cls.server.log.name).read()
        cls.port = int(text.split("Page    http://127.0.0.1:")[1].split()[0])

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.server.log.close()
        shutil.rmtree(cls.root)

    def call(self, method, path, token=None, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        fields = {k.replace("_", "-"): v for k, v in headers.items()}
        if token:
            fields["Authorization"] = f"Bearer {token}"
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
            body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        connection.request(method, path, body, fields)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text, response.headers

    def user(self, name, role="user", **token):
        """A new user with the account nobody, and a token of theirs."""
        answer = self.server.post("/api/v1/users", {"name": name, "role": role, "localUser": "nobody"})
        self.assertEqual(answer.status, 201, answer.text)
        answer = self.server.post("/api/v1/tokens", {"name": "t", "user": name, **token})
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json["secret"]

    def change(self, name, **fields):
        body = {"name": name, "role": "user", "localUser": "nobody", **fields}
        answer = self.server.request("PUT", f"/api/v1/users/{name}", body, {"If-Match": "*"})
        self.assertEqual(answer.status, 200, answer.text)

    def submit(self, token, name, command=("sleep", "60"), **fields):
        run = {"command": list(command), "workingDir": "/tmp"}
        return self.call("POST", "/api/v1/workloads", token, {"name": name, "run": run, **fields})

    def test_a_token_leaves_none_that_outlives_it(self):
        token = self.user("ada", expiresIn="1h")
        status, text, _ = self.call("POST", "/api/v1/tokens", token, {"name": "long", "expiresIn": "2h"})
        self.assertEqual(status, 403, text)
        self.assertIn("lasts no longer", text)
        status, text, _ = self.call("POST", "/api/v1/tokens", token, {"name": "same"})
        self.assertEqual(status, 201, text)
        until = json.loads(text)["expiresAt"]
        self.assertLessEqual(until, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3601)))
        status, text, _ = self.call("POST", "/api/v1/tokens", token, {"name": "of-root", "user": "root"})
        self.assertEqual(status, 403, text)

    def test_a_token_goes_with_the_one_it_was_made_with(self):
        first = self.user("ivy")
        chain = [first]
        for n in range(3):
            chain.append(json.loads(self.call("POST", "/api/v1/tokens", chain[-1], {"name": f"n{n}"})[1])["secret"])
        self.assertEqual(self.call("GET", "/api/v1/whoami", chain[-1])[0], 200)
        middle = chain[1].split("_")[1]
        self.assertEqual(self.server.request("DELETE", f"/api/v1/tokens/{middle}").status, 204)
        self.assertEqual([self.call("GET", "/api/v1/whoami", token)[0] for token in chain], [200, 401, 401, 401])
        deep = first
        for n in range(20):
            status, text, _ = self.call("POST", "/api/v1/tokens", deep, {"name": f"d{n}"})
            if status != 201:
                break
            deep = json.loads(text)["secret"]
        self.assertEqual(status, 403, text)

    def test_resuming_is_as_submitting(self):
        token = self.user("gus")
        status, text, _ = self.submit(token, "rests")
        workload = json.loads(text)["id"]
        path = f"/api/v1/workloads/{workload}"
        self.assertEqual(self.call("DELETE", path + "?gracePeriod=5000w", token)[0], 403)
        self.assertEqual(self.call("POST", path + "/suspend", token)[0], 202)
        self.change("gus", localUser="daemon")
        status, text, _ = self.call("POST", path + "/resume", token)
        self.assertEqual(status, 403, text)
        self.change("gus")
        main = self.server.get("/api/v1/projects/main").json["document"]
        members = {**main, "members": ["root"]}
        self.server.request("PUT", "/api/v1/projects/main", members, {"If-Match": "*"})
        status, text, _ = self.call("POST", path + "/resume", token)
        self.server.request("PUT", "/api/v1/projects/main", main, {"If-Match": "*"})
        self.assertEqual(status, 403, text)
        self.assertEqual(self.call("POST", path + "/resume", token)[0], 202)
        self.assertEqual(self.call("DELETE", path + "?gracePeriod=0s", token)[0], 202)

    def test_the_same_key_at_once_is_one_answer(self):
        token = self.user("hal")
        answers, ready = [], threading.Barrier(6)

        def ask():
            ready.wait()
            answers.append(self.call("POST", "/api/v1/workloads", token, {
                "name": "once", "run": {"command": ["true"], "workingDir": "/tmp"}}, Idempotency_Key="hal-1")[:2])

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual({status for status, _ in answers}, {201}, answers)
        self.assertEqual(len({json.loads(text)["id"] for _, text in answers}), 1)

    def test_a_session_ends_with_its_token(self):
        token = self.user("bea", expiresIn="3s")
        status, text, headers = self.call("POST", "/api/v1/session", None, {"token": token})
        self.assertEqual(status, 201, text)
        cookie = headers["Set-Cookie"].split(";")[0]
        self.assertEqual(self.call("GET", "/api/v1/whoami", Cookie=cookie)[0], 200)
        time.sleep(3.2)
        self.assertEqual(self.call("GET", "/api/v1/whoami", Cookie=cookie)[0], 401)

    def test_a_cookie_beside_a_token_ends_no_session(self):
        token = self.user("fia")
        _, _, headers = self.call("POST", "/api/v1/session", None, {"token": token})
        cookie = headers["Set-Cookie"].split(";")[0]
        self.assertEqual(self.call("DELETE", "/api/v1/session", token, Cookie=cookie)[0], 400)
        self.assertEqual(self.call("GET", "/api/v1/whoami", Cookie=cookie)[0], 200)
        self.assertEqual(self.call("DELETE", "/api/v1/session", Cookie=cookie,
                                   Origin=f"http://127.0.0.1:{self.port}")[0], 204)
        self.assertEqual(self.call("GET", "/api/v1/whoami", Cookie=cookie)[0], 401)

    def test_what_goes_on_ends_with_the_rights(self):
        token = self.user("cyd")
        status, text, _ = self.submit(token, "talks", ["sh", "-c", "echo begun; exec sleep 60"])
        self.assertEqual(status, 201, text)
        task = json.loads(text)["id"] + "-0-0"
        path = f"/api/v1/tasks/{task}/log?follow=true"
        self.server.wait_for("it runs", lambda: self.call("GET", path.replace("follow=true", ""), token)[1] != "")
        streams = []
        for what in (path, "/api/v1/watch"):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            connection.request("GET", what, headers={"Authorization": f"Bearer {token}"})
            streams.append((connection, connection.getresponse()))
        self.change("cyd", role="viewer")
        for connection, response in streams:
            try:
                response.read()  # comes to an end, within seconds and not with the task
            except http.client.IncompleteRead:
                pass
            connection.close()
        self.assertEqual(self.call("GET", path, token)[0], 403)
        self.assertEqual(self.submit(token, "more")[0], 403)
        self.server.request("DELETE", f"/api/v1/workloads/{task[:-4]}?gracePeriod=0s")

    def test_a_user_who_goes_does_not_come_back(self):
        for round_ in range(5):
            name = f"dan{round_}"
            first = self.user(name)
            made, ids, stop = [first], [], threading.Event()

            def work():
                n = 0
                while not stop.is_set():
                    n += 1
                    status, text, _ = self.call("POST", "/api/v1/tokens", made[-1], {"name": f"n{n}"})
                    if status == 201:
                        made.append(json.loads(text)["secret"])

            def submit():
                while not stop.is_set():
                    status, text, _ = self.submit(first, f"{name}-{len(ids)}", ["true"])
                    if status == 201:
                        ids.append(json.loads(text)["id"])

            threads = [threading.Thread(target=work) for _ in range(4)] + [threading.Thread(target=submit)]
            for thread in threads:
                thread.start()
            self.server.wait_for("a workload of theirs", lambda: ids)
            self.assertEqual(self.server.request("DELETE", f"/api/v1/users/{name}").status, 204)
            known = {one["id"] for one in self.server.all("/api/v1/workloads")}
            time.sleep(0.1)
            stop.set()
            for thread in threads:
                thread.join()
            self.assertGreater(len(made), 1)
            self.assertTrue(ids)
            self.assertLessEqual(set(ids), known, "no workload came after its user had gone")
            for token in made:
                self.assertEqual(self.call("GET", "/api/v1/whoami", token)[0], 401)
            names = [user["name"] for user in self.server.all("/api/v1/users")]
            self.assertNotIn(name, names)
            owners = {token["user"] for token in self.server.all("/api/v1/tokens")}
            self.assertNotIn(name, owners)

    def test_who_owns_the_machine_is_not_locked_out(self):
        for body in ({"name": "root", "disabled": True, "role": "admin"}, {"name": "root", "role": "viewer"}):
            answer = self.server.post("/api/v1/users", body)
            self.assertEqual((answer.status, answer.json["code"]), (403, "forbidden"), answer.text)
        self.assertEqual(self.server.get("/api/v1/whoami").json["role"], "admin")

    def test_nobody_makes_a_workload_immortal(self):
        token = self.user("eve")
        for fields, part in (({"gracePeriod": "5200w"}, "gracePeriod"), ({"priority": 1000}, "priority"),
                             ({"orderKey": -1}, "orderKey")):
            status, text, _ = self.submit(token, "forever", **fields)
            self.assertEqual(status, 403, text)
            self.assertIn(part, text)
        status, text, _ = self.submit(token, "usual", ["true"], gracePeriod="10m", priority=125, orderKey=3)
        self.assertEqual(status, 201, text)
        answer = self.server.post("/api/v1/workloads", {"name": "special", "priority": 1000, "gracePeriod": "1h",
                                                        "run": {"command": ["true"], "workingDir": "/tmp"}})
        self.assertEqual(answer.status, 201, answer.text)

    def test_strangers_cannot_make_it_read(self):
        def raw(head):
            with socket.create_connection(("127.0.0.1", self.port), timeout=20) as stranger:
                stranger.sendall(head.encode())
                return stranger.recv(4096).decode()

        # Answered before a byte of the body is there.
        for method, path in (("POST", "/api/v1/workloads"), ("PATCH", "/api/v1/settings")):
            head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000000\r\n\r\n"
            self.assertIn(" 401 ", raw(head).split("\r\n")[0])
        head = "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000000\r\n\r\n"
        self.assertIn(" 413 ", raw(head).split("\r\n")[0])
        # A text that grows when it is read, and one that is deep.
        bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n"
        for kind in ("application/yaml", "text/yaml", "application/x-yaml"):
            status, text, _ = self.call("POST", "/api/v1/session", None, bomb, Content_Type=kind)
            self.assertEqual(status, 400, text)
        self.assertEqual(self.call("POST", "/api/v1/session", None, "[" * 900)[0], 400)

    def test_idle_strangers_shut_nobody_out(self):
        idle = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(900)]
        try:
            self.assertEqual(self.server.get("/api/v1/whoami").status, 200)
        finally:
            for one in idle:
                one.close()


def main():
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    if os.geteuid() != 0:
        print("skipped: tasks of another account need root")
        return 0
    suite = unittest.TestLoader().loadTestsFromTestCase(Access)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
