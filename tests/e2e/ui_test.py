"""The page /ui of `capstan run`: who may see it, by the API server's TokenReview and SubjectAccessReview."""

import json
import re
import time
import unittest
import urllib.error
import urllib.request

import controller
import harness
import programs
from controller import chat
from harness import eventually


class Ui(controller.ControllerTest):
    def setUp(self):
        super().setUp()
        self.install("ui.enabled=true")
        for name in ("reader", "guest"):
            self.cluster.kubectl("create", "serviceaccount", name, "--namespace", self.namespace)
        self.binding = f"{self.namespace}-reader"
        self.cluster.kubectl("create", "clusterrolebinding", self.binding, f"--clusterrole={self.account}-ui",
                             f"--serviceaccount={self.namespace}:reader")
        self.addCleanup(self.cluster.kubectl, "delete", "clusterrolebinding", self.binding, "--ignore-not-found")
        self.reader, self.guest = (programs.token(self.cluster, self.namespace, name) for name in ("reader", "guest"))
        self.cluster.apply(chat(self.namespace))
        self.start(options=("--ui", "127.0.0.1:0"))
        found = eventually("the page has an address",
                           lambda: re.search(r"http://(127\.0\.0\.1:\d+)/ui", self.controllers[-1].text()))
        self.address = found[1]

    def open(self, path, token=None, **headers):
        request = urllib.request.Request(f"http://{self.address}{path}", headers=headers)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        return urllib.request.urlopen(request, timeout=harness.stretched(20))

    def status(self, path, token=None, **headers):
        try:
            with self.open(path, token, **headers) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def test_only_an_allowed_token_sees_the_decisions(self):
        eventually("the reader sees the page", lambda: self.status("/ui", self.reader) == 200)
        for path in ("/ui", "/ui/api/result", "/ui/api/events", "/ui/api/decision?state=0"):
            self.assertEqual(self.status(path), 401, path)
            self.assertEqual(self.status(path, "stranger"), 401, path)
            self.assertEqual(self.status(path, self.guest), 403, path)
        self.assertEqual(self.status("/ui", self.reader, Host="evil.example"), 403)
        self.assertEqual(self.status("/ui/api/result", self.reader, Origin="http://evil.example"), 403)
        self.load()
        action = self.first_action()
        self.assertEqual(action["layer"], "scale")
        self.assertIn(f"scale {self.namespace}/chat to", action["action"])
        with self.open(f"/ui/api/decision?state={action['state']}", self.reader) as answer:
            decision = json.load(answer)["decisions"][action["position"]]
        self.assertIn(f"{self.namespace}/chat", decision["arithmetic"])
        self.assertRegex(decision["command"], r"capstan replay .*controller\.rec --at \S+Z")
        self.assertEqual(self.requests(resource="secrets"), [])
        created = [e.code for kind in ("tokenreviews", "subjectaccessreviews") for e in self.requests(resource=kind)]
        self.assertEqual(set(created), {201})

    def first_action(self):
        """Returns the first action in the stream of events."""
        with self.open("/ui/api/events", self.reader) as events:
            for line in events:
                if line.startswith(b"data: "):
                    actions = json.loads(line[len(b"data: "):]).get("actions")
                    if actions:
                        return actions[0]
        raise AssertionError("the stream ended without an action")

    def test_a_stream_ends_when_the_permission_is_withdrawn(self):
        eventually("the reader sees the page", lambda: self.status("/ui", self.reader) == 200)
        with self.open("/ui/api/events", self.reader) as events:
            self.assertTrue(events.readline().startswith(b"retry:"))
            self.cluster.kubectl("delete", "clusterrolebinding", self.binding)
            until = time.monotonic() + harness.stretched(90)  # the token is reviewed every 30 s
            for _ in events:
                self.assertLess(time.monotonic(), until, "the stream goes on")
        eventually("the reader is refused", lambda: self.status("/ui", self.reader) == 403)


if __name__ == "__main__":
    unittest.main()
