"""Reads from a simulated API server: finds kinds by their names, and distinguishes errors from missing objects."""

import http.client
import http.server
import json
import threading
import unittest

import api

CORE = {"items": [{"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": [
    {"resource": "pods", "singularResource": "pod", "shortNames": ["po"], "scope": "Namespaced"},
    {"resource": "events", "singularResource": "event", "scope": "Namespaced"},
    {"resource": "nodes", "singularResource": "node", "scope": "Cluster"}]}]}]}
GROUPS = {"items": [{"metadata": {"name": "events.k8s.io"}, "versions": [
    {"version": "v1", "resources": [{"resource": "events", "singularResource": "event", "scope": "Namespaced"}]},
    {"version": "v1beta1", "resources": []}]},
    {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1", "freshness": "Stale"}]}]}
POD = {"metadata": {"name": "a"}}
MISSING = {"message": 'pods "b" not found', "details": {"name": "b", "kind": "pods"}}

# The read, the requested path, and the answer.
ROWS = [
    (("get", "pod", "a", "here"), "/api/v1/namespaces/here/pods/a", POD),
    (("get", "po", "a"), "/api/v1/namespaces/default/pods/a", POD),
    (("get", "pods", "b", "here"), "/api/v1/namespaces/here/pods/b", None),
    (("get", "node", "a"), "/api/v1/nodes/a", POD),
    (("list", "events.events.k8s.io", "here"), "/apis/events.k8s.io/v1/namespaces/here/events", [POD]),
    (("list", "events", "here"), "/api/v1/namespaces/here/events", [POD]),
    (("list", "pods", "here", "app=x"), "/api/v1/namespaces/here/pods?labelSelector=app%3Dx", [POD]),
]


class Api(unittest.TestCase):
    def setUp(self):
        self.asked, self.gone = [], False
        test = self

        class Answer(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(handler):
                test.asked.append(handler.path)
                status, answer = test.answer(handler.path)
                body = json.dumps(answer).encode()
                handler.send_response(status)
                handler.send_header("Content-Length", str(len(body)))
                handler.end_headers()
                handler.wfile.write(body)

            def log_message(handler, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.connections = []

        def connect():
            self.connections.append(http.client.HTTPConnection(*self.server.server_address, timeout=10))
            self.addCleanup(self.connections[-1].close)
            return self.connections[-1]
        self.api = api.Api(connect)

    def answer(self, path):
        if path in ("/api", "/apis"):
            return 200, CORE if path == "/api" else GROUPS
        if self.gone:
            return 404, {"message": "the server could not find the requested resource", "details": {}}
        if path.endswith("/b"):
            return 404, MISSING
        return 200, POD if path.endswith("/a") else {"items": [POD]}

    def test_rows(self):
        for (verb, *words), path, wanted in ROWS:
            with self.subTest(path):
                self.assertEqual(getattr(self.api, verb)(*words), wanted)
                self.assertEqual(self.asked[-1], path)
        self.assertEqual(self.asked.count("/apis"), 1, "kinds are looked up once")
        self.assertEqual(len(self.connections), 1)

    def test_an_unknown_kind_is_an_error_and_retried(self):
        for tries in (1, 2):
            with self.assertRaisesRegex(AssertionError, "the server has no kind rocket"):
                self.api.list("rocket")
            self.assertEqual(self.asked.count("/apis"), tries)

    def test_a_deleted_definition_is_an_error_not_a_missing_object(self):
        self.api.get("pod", "a")
        self.gone = True
        with self.assertRaisesRegex(AssertionError, "could not find the requested resource"):
            self.api.get("pod", "a")

    def test_a_closed_connection_is_reopened(self):
        self.api.get("pod", "a")
        self.connections[0].sock.shutdown(2)
        self.assertEqual(self.api.get("pod", "a"), POD)
        self.assertEqual(len(self.connections), 2)

    def test_an_unreachable_server_is_an_error(self):
        self.server.shutdown()
        self.server.server_close()
        with self.assertRaises(AssertionError):
            self.api.get("pod", "a")


if __name__ == "__main__":
    unittest.main()
