"""What the e2e tests stand on: a cluster, its kubectl, waits that end. Python's standard library only.

A process has one cluster, started for the first test that asks for it (`cluster()`); each test has a namespace of its
own. Deadlines are those of a quiet machine, times what this one is slower (speed.py).
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
RUN_VARIABLE = "CAPSTAN_E2E_RUN"  # what the folder of this process is called, in RUNS
FOLDER = RUNS / os.environ.get(RUN_VARIABLE, "alone")
POLL_S = 0.1
PARTS = 8  # of the addresses, one a worker
NAME_MAX = 53  # of a namespace: some tests install a release of its name, and Helm takes no longer one


class Cluster:
    """A cluster of scripts/cluster in `folder`; it ends with this process, however that ends."""

    def __init__(self, folder, *options):
        self.folder = pathlib.Path(folder)
        # A range of its own, so that clusters of several runs on one machine share no address. The workers of one run
        # draw from different ranges.
        part = int(re.sub(r"\D", "", FOLDER.name) or 0) % PARTS
        self.pod_network = f"127.{random.SystemRandom().randrange(32, 240, PARTS) + part}"
        self._up = ["up", "--owner-pid", str(os.getpid()), "--minutes", "60",
                    "--pod-cidr", f"{self.pod_network}.0.0/16", *options]

    def script(self, verb, *arguments):
        """Runs scripts/cluster; gives the finished process with what it printed."""
        return subprocess.run([ROOT / "scripts" / "cluster", verb, "--dir", self.folder, *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800)

    def up(self):
        done = self.script(*self._up)
        if done.returncode != 0:
            raise AssertionError(f"the cluster did not come up:\n{done.stderr}")
        return self

    def popen_up(self):
        """`up` as a process that is not waited for."""
        return subprocess.Popen([ROOT / "scripts" / "cluster", *self._up, "--dir", self.folder],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def down(self):
        self.script("down")

    def steer(self, verb, server):
        """Stops, kills or starts one server, and waits until it has been done."""
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
        """The process that every other process of the cluster shares its session with."""
        return int((self.folder / "keeper").read_text().split()[0])

    def ports(self):
        return {name: int(port) for name, port in
                (line.split() for line in (self.folder / "ports").read_text().splitlines())}

    def kubectl(self, *arguments, given=None):
        """Runs kubectl, `given` on its standard input; gives what it printed. An error is an AssertionError."""
        command = [self.folder / "kubectl", "--kubeconfig", self.kubeconfig, "--request-timeout", "30s", *arguments]
        done = subprocess.run(command, input=given or "", capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, *objects):
        """Objects as dictionaries, or the path of a manifest."""
        for thing in objects:
            if isinstance(thing, dict):
                self.kubectl("apply", "--server-side", "--filename", "-", given=json.dumps(thing))
            else:
                self.kubectl("apply", "--server-side", "--filename", thing)

    def get(self, kind, name, namespace=None):
        """An object, or None where there is none of that name."""
        return self.api.get(kind, name, namespace)

    def list(self, kind, namespace=None, selector=None):
        return self.api.list(kind, namespace, selector)


@functools.cache
def servers():
    """The folder of the built servers, kubectl and helm."""
    return pathlib.Path(subprocess.check_output([ROOT / "scripts" / "cluster", "build"], text=True).strip())


def helm(verb, *arguments):
    """Runs helm; gives what it printed. An error is an AssertionError."""
    version = ["--kube-version", "1.34"] if verb in ("lint", "template") else []
    done = subprocess.run([servers() / "helm", verb, *version, *arguments],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(f"helm {verb} {' '.join(map(str, arguments))}: {done.stdout}{done.stderr}")
    return done.stdout


@functools.cache
def cluster():
    """The process's cluster, started at the first call."""
    started = Cluster(FOLDER / "cluster").up()
    machine.measure(lambda name: started.apply({"apiVersion": "v1", "kind": "ConfigMap",
                                                "metadata": {"name": name, "namespace": "default"}}))
    return started


def stop_cluster():
    if cluster.cache_info().currsize:
        cluster().down()


machine = speed.Machine()


def stretched(seconds):
    """So many seconds of a quiet machine, on this one."""
    return seconds * machine.factor


def eventually(what, check, seconds=60):
    """Calls `check` until it gives something true, and gives that. An AssertionError in it counts as not yet."""
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


def condition(thing, kind):
    """The status of a condition of an object: "True", "False", "Unknown", or None where there is no such condition."""
    conditions = (thing or {}).get("status", {}).get("conditions", [])
    return next((c["status"] for c in conditions if c["type"] == kind), None)


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


def session_of(pid):
    """The session of a process; None where it has ended, whether or not somebody waited for it."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[3])


def processes_of(session):
    pids = (int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit())
    return [pid for pid in pids if session_of(pid) == session]


class ClusterTest(unittest.TestCase):
    """A test on the process's cluster, in a namespace of its own that goes with it."""

    LONG = False  # True: it takes minutes, and begins early

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
