"""Our own program in its roles around a cluster. What is started here ends with the test, however that ends."""

import contextlib
import json
import pathlib
import subprocess
import threading

import harness

CAPSTAN = harness.ROOT / "build" / "dev" / "capstan"


class Process:
    """A process that the kernel ends with the test; its output goes to `log`."""

    def __init__(self, log, *command, stdin=subprocess.DEVNULL):
        self.log = pathlib.Path(log)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "a") as out:
            self._process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=stdin, stdout=out,
                                             stderr=out, text=True)

    @property
    def stdin(self):
        return self._process.stdin

    @property
    def ended(self):
        return self._process.poll() is not None

    def signal(self, number):
        self._process.send_signal(number)

    def stop(self):
        """Ends it as a node ends a pod; gives its exit code."""
        self._process.terminate()
        try:
            return self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def text(self):
        return self.log.read_text()


class Engines:
    """An emulated engine behind the address of every pod of a namespace, from when it has one until it is deleted."""

    def __init__(self, cluster, namespace, log, *options, port=8000):
        self._cluster, self._namespace, self._port = cluster, namespace, port
        self._process = Process(log, CAPSTAN, "engine", "serve", "--bind-file", "-", *options, stdin=subprocess.PIPE)
        self._serving = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def text(self):
        return self._process.text()

    def stop(self):
        self._over.set()
        self._thread.join()
        return self._process.stop()

    def _follow(self):
        while not self._over.wait(0.2):
            with contextlib.suppress(AssertionError):  # an API server that does not answer takes no pod away
                pods = self._cluster.list("pods", self._namespace)
                self._serve({pod["status"]["podIP"] for pod in pods if pod.get("status", {}).get("podIP")})

    def _serve(self, wanted):
        lines = [f"{ip}:{self._port}\n" for ip in sorted(wanted - self._serving)]
        lines += [f"-{ip}:{self._port}\n" for ip in sorted(self._serving - wanted)]
        self._process.stdin.write("".join(lines))
        self._process.stdin.flush()
        self._serving = wanted


def trace(path, requests, per_second, input_tokens, output_tokens):
    """Writes a trace of equal requests at equal distances (the form of the Azure LLM traces)."""
    rows = [f"2024-01-01 00:{int(i / per_second // 60):02}:{i / per_second % 60:010.7f},{input_tokens},{output_tokens}"
            for i in range(requests)]
    pathlib.Path(path).write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + "\n".join(rows) + "\n")
    return path


def account_kubeconfig(cluster, path, namespace, account):
    """A kubeconfig of a ServiceAccount, with a token of an hour."""
    token = cluster.kubectl("create", "token", account, "--namespace", namespace, "--duration", "1h").strip()
    config = json.loads(cluster.kubectl("config", "view", "--raw", "--output", "json"))
    config["users"][0]["user"] = {"token": token}
    pathlib.Path(path).write_text(json.dumps(config))
    return path
