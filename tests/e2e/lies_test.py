"""Replicas with missing or false metrics: `capstan run` keeps the replicas and names the pods without valid metrics."""

import contextlib
import http.server
import threading
import unittest

import controller
from harness import condition, eventually

PAGE = '# TYPE {0} {4}\n{0}{{{1}}} {2}\n# TYPE {3} {4}\n{3}{{{1}}} {2}\n'
MODEL = "Llama-3.1-8B"
TEXT = "text/plain; version=0.0.4; charset=utf-8"


def page(value, model=MODEL, labels="", kind="gauge"):
    labels_text = f'model_name="{model}"{labels}'
    return PAGE.format("vllm:num_requests_waiting", labels_text, value, "vllm:num_requests_running", kind).encode()


FALSE_METRICS = {
    "not a number": (TEXT, page("NaN")),
    "endless": (TEXT, page("+Inf")),
    "negative": (TEXT, page("-5")),
    "another model's": (TEXT, page("0", model="Qwen3-32B")),
    "another pod's": (TEXT, page("0", labels=',pod="other"')),
    "a word": (TEXT, page("idle")),
    "a counter": (TEXT, page("0", kind="counter")),
    "a hundred megabytes": (TEXT, page("0") + b"# " + b"x" * 100_000_000 + b"\n"),
    "a web page": ("text/html", b"<html><body>Welcome to nginx!</body></html>"),
    "no metrics": (TEXT, b""),
}


class FalseMetricsServer:
    """A server that answers at the address of a replica, in place of the engine."""

    def __init__(self, address, kind, body):
        self.asked = 0

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(handler):
                self.asked += 1
                handler.send_response(200)
                handler.send_header("Content-Type", kind)
                handler.send_header("Content-Length", str(len(body)))
                handler.end_headers()
                try:
                    handler.wfile.write(body)
                except OSError:
                    pass  # the client has closed the connection

            def log_message(handler, *words):
                pass

        self._server = http.server.ThreadingHTTPServer((address, 8000), Answer)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()


class Lies(controller.ActiveTest):
    LONG = True

    def setUp(self):
        super().setUp()
        self.activate()
        self.start()
        self.at_least(3)
        self.serves(3)
        self.fresh("True")
        self.address = self.pods()[0]["status"]["podIP"]

    def fresh(self, status):
        eventually(f"SignalsFresh is {status}", lambda: condition(self.scaler(), "SignalsFresh") == status)

    def liar(self, kind, body):
        """Starts the false server at the address, once the engine has left it."""
        def start():
            with contextlib.suppress(OSError):
                return FalseMetricsServer(self.address, kind, body)
        return eventually("the address is free", start)

    def assert_held_and_reported(self):
        """Checks that replicas with missing or false metrics are kept, although one replica would be enough for an idle
        service. Returns the message of the condition SignalsFresh."""
        self.fresh("False")
        condition_entry = next(c for c in self.status()["conditions"] if c["type"] == "SignalsFresh")
        self.assertEqual(condition_entry["reason"], "SignalMissing")
        self.at_least(1)
        self.decides(3)
        self.assertEqual((self.replicas(), self.status()["recommended"]), (3, 3))
        self.at_least(3)
        return condition_entry["message"]

    def test_impossible_metrics_count_as_missing(self):
        self.engines.leave(self.address)
        messages = {}
        for name, (kind, body) in FALSE_METRICS.items():
            with self.subTest(lie=name):
                liar = self.liar(kind, body)
                try:
                    messages[name] = self.assert_held_and_reported()
                    self.assertGreater(liar.asked, 0)
                finally:
                    liar.stop()
                honest = self.liar(TEXT, page(0))
                self.fresh("True")
                honest.stop()
        print("\nlies:", *(f"\n  {name}: {message}" for name, message in messages.items()))
        self.assertTrue(all(messages.values()), messages)
        self.assertIn("names another pod than the expected one", messages["another pod's"])
        self.assertIn("declares a counter", messages["a counter"])

    def test_silence_lowers_nothing_until_it_is_over(self):
        self.engines.leave(self.address)
        self.assertIn("Failed to connect", self.assert_held_and_reported())
        self.at_least(1)
        self.engines.take(self.address)
        eventually("the engine answers again, and one replica is enough", lambda: self.replicas() == 1)
        eventually("the other pods are deleted", lambda: len(self.deletions()) == 2)
        self.assert_invariants()


class ShadowLies(controller.ControllerTest):
    def test_silence_lowers_no_recommendation(self):
        self.install()
        self.cluster.apply(controller.chat(self.namespace, behavior={"coolDown": "1s"}))
        self.start()
        self.load()
        high = eventually("more replicas are recommended", lambda: max(0, self.status().get("recommended", 0) - 1)) + 1
        self.engines.stop()
        eventually("the missing signals are seen", lambda: condition(self.scaler(), "SignalsFresh") == "False")
        self.decides(5)  # five decisions, one per second: longer than the cool-down of 1 s
        status = self.status()
        self.assertGreaterEqual(status["recommended"], high)
        self.assertEqual((status["replicas"], status["reason"]), (1, "signal_missing"))


if __name__ == "__main__":
    unittest.main()
