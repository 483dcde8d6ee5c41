"""The base of the e2e tests: a cluster, its kubectl, and waits with a deadline. Python's standard library only.

A process has one cluster, which `cluster()` starts at the first call. Each test has its own namespace. Deadlines are
stated for an idle machine and multiplied by the slowness of this one (speed.py).
"""

import functools
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import time
import unittest

import api
import audit
import speed

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = ROOT / "build" / "e2e"
RUN_VARIABLE = "CAPSTAN_E2E_RUN"  # environment variable with the name of this process' folder in RUNS
FOLDER = RUNS / os.environ.get(RUN_VARIABLE, "alone")
POLL_S = 0.1
PARTS = 8  # number of parts of the address range; each worker of a run uses one
NAME_MAX = 53  # longest name of a namespace: Helm's limit, because some tests name a Helm release like the namespace


class Cluster:
    """A cluster of scripts/cluster in `folder`. It ends with this process, in every case."""

    def __init__(self, folder, *options):
        self.folder = pathlib.Path(folder)
        # Each cluster draws its address range at random, so that clusters of several runs on one machine rarely get the
        # same range. Up to PARTS workers of one run always get different ranges.
        part = int(re.sub(r"\D", "", FOLDER.name) or 0) % PARTS
        self.pod_network = f"127.{random.SystemRandom().randrange(32, 240, PARTS) + part}"
        self._up = ["up", "--owner-pid", str(os.getpid()), "--minutes", "60",
                    "--pod-cidr", f"{self.pod_network}.0.0/16", *options]

    def script(self, verb, *arguments):
        """Runs scripts/cluster and returns the finished process with its output."""
        return subprocess.run([ROOT / "scripts" / "cluster", verb, "--dir", self.folder, *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800)

    def up(self):
        done = self.script(*self._up)
        if done.returncode != 0:
            raise AssertionError(f"the cluster did not come up:\n{done.stderr}")
        return self

    def popen_up(self):
        """Starts `up` and returns the process without waiting."""
        return subprocess.Popen([ROOT / "scripts" / "cluster", *self._up, "--dir", self.folder],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def down(self):
        self.script("down")

    def control_server(self, verb, server):
        """Stops, kills or starts one server, and waits for its end or its readiness."""
        done = self.script(verb, server)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    @property
    def kubeconfig(self):
        return self.folder / "kubeconfig"

    @functools.cached_property
    def audit(self):
        return audit.AuditLog(self.folder / "audit.log")

    @functools.cached_property
    def api(self):
        return api.of_cluster(self.folder, self.ports()["kube-apiserver"])

    @property
    def keeper(self):
        """Returns the id of the keeper process, which is also the session of all processes of the cluster."""
        return int((self.folder / "keeper").read_text().split()[0])

    def ports(self):
        return {name: int(port) for name, port in
                (line.split() for line in (self.folder / "ports").read_text().splitlines())}

    def kubectl(self, *arguments, given=None):
        """Runs kubectl with `given` as standard input, and returns its output. An error is an AssertionError."""
        command = [self.folder / "kubectl", "--kubeconfig", self.kubeconfig, "--request-timeout", "30s", *arguments]
        done = subprocess.run(command, input=given or "", capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, *objects):
        """Applies objects, each a dictionary or the path of a manifest."""
        for item in objects:
            if isinstance(item, dict):
                self.kubectl("apply", "--server-side", "--filename", "-", given=json.dumps(item))
            else:
                self.kubectl("apply", "--server-side", "--filename", item)

    def get(self, kind, name, namespace=None):
        """Returns an object, or None if there is none of that name."""
        return self.api.get(kind, name, namespace)

    def list(self, kind, namespace=None, selector=None):
        return self.api.list(kind, namespace, selector)


@functools.cache
def servers():
    """Returns the folder of the built servers, kubectl and helm."""
    return pathlib.Path(subprocess.check_output([ROOT / "scripts" / "cluster", "build"], text=True).strip())


def helm(verb, *arguments):
    """Runs helm and returns its output. An error is an AssertionError."""
    version = ["--kube-version", "1.34"] if verb in ("lint", "template") else []
    done = subprocess.run([servers() / "helm", verb, *version, *arguments],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(f"helm {verb} {' '.join(map(str, arguments))}: {done.stdout}{done.stderr}")
    return done.stdout


@functools.cache
def cluster():
    """Returns the cluster of this process, and starts it at the first call."""
    started = Cluster(FOLDER / "cluster").up()
    machine.measure(lambda name: started.apply({"apiVersion": "v1", "kind": "ConfigMap",
                                                "metadata": {"name": name, "namespace": "default"}}))
    return started


def stop_cluster():
    if cluster.cache_info().currsize:
        cluster().down()


machine = speed.Machine()


def stretched(seconds):
    """Converts seconds on an idle machine to seconds on this machine."""
    return seconds * machine.factor


def eventually(what, check, seconds=60):
    """Calls `check` until it returns a true value, and returns that value. Retries after an AssertionError."""
    seconds = stretched(seconds)
    until = time.monotonic() + seconds
    while True:
        try:
            last = check()
            if last:
                return last
        except AssertionError as error:
            last = error
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds:.0f} s: {what}; last seen: {last!r}")
        time.sleep(POLL_S)


def condition(item, kind):
    """Returns the status of a condition of an object, "True", "False" or "Unknown", or None if it is missing."""
    conditions = (item or {}).get("status", {}).get("conditions", [])
    return next((c["status"] for c in conditions if c["type"] == kind), None)


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


def session_of(pid):
    """Returns the session of a process, or None if it has ended, even if its parent has not waited for it."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[3])


def processes_of(session):
    pids = (int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit())
    return [pid for pid in pids if session_of(pid) == session]


class ClusterTest(unittest.TestCase):
    """A test on the cluster of this process, in its own namespace, which is deleted afterwards."""

    LONG = False  # True for a test that takes minutes: it starts before the short ones

    def setUp(self):
        self.cluster = cluster()
        name = re.sub(r"[^a-z0-9]+", "-", self._testMethodName.removeprefix("test_").lower())
        self.namespace = name[:NAME_MAX].strip("-")
        with machine.timed():
            self.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        self.addCleanup(self.cluster.kubectl, "delete", "namespace", self.namespace, "--wait=false")
        eventually("pods can be created in the namespace",
                   lambda: self.cluster.get("serviceaccount", "default", self.namespace))

    def pods(self, selector=None):
        return self.cluster.list("pods", self.namespace, selector)
