"""Runs the program capstan in its roles around a cluster. All processes end with the test."""

import base64
import contextlib
import json
import pathlib
import subprocess
import threading

import harness

CAPSTAN = harness.ROOT / "build" / "dev" / "capstan"


class Process:
    """A process that the kernel kills when the process of the tests ends. Its output goes to `log`. Its standard error
    goes to `errors`, or also to `log` by default."""

    def __init__(self, log, *command, stdin=subprocess.DEVNULL, errors=None):
        self.log = pathlib.Path(log)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "a") as out, open(errors or self.log, "a") as err:
            self._process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=stdin, stdout=out,
                                             stderr=err, text=True)

    @property
    def stdin(self):
        return self._process.stdin

    @property
    def pid(self):
        return self._process.pid

    @property
    def ended(self):
        return self._process.poll() is not None

    def signal(self, number):
        self._process.send_signal(number)

    def stop(self):
        """Ends the process as a node ends a pod, and returns its exit code."""
        self._process.terminate()
        try:
            return self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def text(self):
        return self.log.read_text()


class Addressed(Process):
    """A process that reads the changing addresses of the pods of a namespace from its standard input."""

    def __init__(self, cluster, namespace, log, command, counts, port=8000, errors=None):
        super().__init__(log, *command, stdin=subprocess.PIPE, errors=errors)
        self._cluster, self._namespace, self._counts, self._port = cluster, namespace, counts, port
        self._known, self._left = set(), set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def leave(self, address):
        """Withdraws an address from the process, until `take`."""
        self._left.add(address)
        harness.eventually("the process has released the address", lambda: address not in self._known)

    def take(self, address):
        self._left.discard(address)

    def stop(self):
        self._over.set()
        self._thread.join()
        return super().stop()

    def _follow(self):
        while not self._over.wait(0.2):
            # While the API server does not answer, the known pods stay. A process that has ended is ignored.
            with contextlib.suppress(AssertionError, BrokenPipeError):
                pods = self._cluster.list("pods", self._namespace)
                known = {pod["status"]["podIP"] for pod in pods if pod["status"].get("podIP") and self._counts(pod)}
                self._tell(known - self._left)

    def _tell(self, wanted):
        lines = [f"{ip}:{self._port}\n" for ip in sorted(wanted - self._known)]
        lines += [f"-{ip}:{self._port}\n" for ip in sorted(self._known - wanted)]
        self.stdin.write("".join(lines))
        self.stdin.flush()
        self._known = wanted


class Engines(Addressed):
    """An emulated engine at the address of every pod of a namespace, as long as the pod has an address."""

    def __init__(self, cluster, namespace, log, *options, port=8000):
        command = [CAPSTAN, "engine", "serve", "--bind-file", "-", *options]
        super().__init__(cluster, namespace, log, command, lambda pod: True, port)


class RoutedLoad(Addressed):
    """A load on the ready pods of a namespace. Each request goes to the pod with the least load. (A real Service cannot
    have loopback addresses.) Its log has only the result; its progress goes to a separate file."""

    def __init__(self, cluster, namespace, log, trace):
        command = [CAPSTAN, "engine", "load", "--endpoint-file", "-", "--trace", trace, "--route", "least_loaded",
                   "--output", "json"]
        super().__init__(cluster, namespace, log, command, lambda pod: harness.condition(pod, "Ready") == "True",
                         errors=f"{log}.progress")

    def result(self):
        return json.loads(self.text())


def trace(path, requests, per_second, input_tokens, output_tokens):
    """Writes a trace of equal requests at equal intervals."""
    return trace_at(path, [i / per_second for i in range(requests)], input_tokens, output_tokens)


def trace_at(path, seconds, input_tokens, output_tokens):
    """Writes a trace of equal requests at these times (in the format of the Azure LLM traces)."""
    rows = [f"2024-01-01 00:{int(at // 60):02}:{at % 60:010.7f},{input_tokens},{output_tokens}" for at in seconds]
    pathlib.Path(path).write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + "\n".join(rows) + "\n")
    return path


def token(cluster, namespace, account):
    """Returns a new token of a ServiceAccount, valid for an hour."""
    return cluster.kubectl("create", "token", account, "--namespace", namespace, "--duration", "1h").strip()


def account_kubeconfig(cluster, path, namespace, account, server=None):
    """Writes a kubeconfig of a ServiceAccount with a separate token file. `server` is another URL of the API server."""
    secret = pathlib.Path(f"{path}.token")
    secret.write_text(token(cluster, namespace, account))
    config = json.loads(cluster.kubectl("config", "view", "--raw", "--output", "json"))
    config["users"][0]["user"] = {"tokenFile": str(secret)}
    if server:
        config["clusters"][0]["cluster"]["server"] = server
    pathlib.Path(path).write_text(json.dumps(config))
    return path


def credential(token_file):
    """Returns the id of the token in a file, as in the audit log."""
    claims = pathlib.Path(token_file).read_text().split(".")[1]
    return "JTI=" + json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["jti"]
