"""A controller of the cluster of this process, with the ServiceAccount of the chart, and engines for it to scale."""

import json
import re
import shutil
import subprocess
import time
import urllib.request
import zlib

import audit
import harness
import objects
import programs
from harness import condition, eventually

INSTANCE_TYPE = "p5.48xlarge"  # eight GPUs
CHART = harness.ROOT / "deploy" / "chart" / "capstan"
# Resources that the controller writes in every mode.
ALWAYS_WRITTEN = ("inferencescalers", "fleetpolicies", "queues", "events", "leases", "configmaps")
STILL_S = 60  # time in which nothing may change once the goal is reached
LOAD = {"requests": 2000, "per_second": 5, "input_tokens": 200, "output_tokens": 400}  # about 12 concurrent


class ControllerTest(harness.ClusterTest):
    """A Deployment "engine" with one replica and an emulated engine, and a controller that tests may start."""

    POD = {}  # additional fields of the pods' spec
    GPUS = 1  # GPUs per replica
    START_DELAYS = {}  # annotations that delay a start
    ENGINE = ("--model", "Llama-3.1-8B", "--gpu", "H100")

    def setUp(self):
        super().setUp()
        self.prepare_logs()
        self.node = f"{self.namespace[:50]}-node"
        self.cluster.apply(objects.gpu_node(self.node, labels={"nvidia.com/gpu.product": "h100_sxm"}))
        self.addCleanup(self.cluster.kubectl, "delete", "node", self.node, "--wait=false")
        self.cluster.apply(objects.deployment(
            "engine", self.namespace, replicas=1, gpus=self.GPUS, annotations=self.START_DELAYS,
            pod={"nodeSelector": {"kubernetes.io/hostname": self.node}, **self.POD}))
        self.engines = programs.Engines(self.cluster, self.namespace, self.logs / "engines", *self.ENGINE)
        self.addCleanup(self.engines.stop)
        eventually("an engine listens", lambda: "started" in self.engines.text())

    def prepare_logs(self):
        self.logs = harness.FOLDER / "logs" / self.namespace
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir(parents=True)
        self.controllers = []

    def install(self, *values):
        """Installs the ServiceAccount and permissions of the chart. A process of the test replaces its Deployment."""
        words = [word for value in values for word in ("--set", value)]
        manifest = harness.helm("template", self.namespace, CHART, "--namespace", self.namespace, "--show-only",
                                "templates/serviceaccount.yaml", "--show-only", "templates/rbac.yaml", *words)
        self.cluster.kubectl("apply", "--server-side", "--filename", "-", given=manifest)
        account = f"{self.namespace}-capstan"
        self.addCleanup(self.cluster.kubectl, "delete", "clusterrole,clusterrolebinding", account, f"{account}-ui",
                        "--ignore-not-found")
        self.user = f"system:serviceaccount:{self.namespace}:{account}"
        self.account = account

    def kubeconfig(self, name="controller", server=None):
        """Returns a kubeconfig of the controller's account with a new token. `server` replaces the API server's URL."""
        return programs.account_kubeconfig(self.cluster, self.logs / f"{name}.kubeconfig", self.namespace, self.account,
                                           server)

    def start(self, name="controller", server=None, options=()):
        """Starts a controller and returns its process. It listens on a free port and writes to the log of its name. A
        controller that is started again under a name continues the recording of that name."""
        kubeconfig = self.kubeconfig(name, server)
        controller = programs.Process(self.logs / name, programs.CAPSTAN, "run", "--listen", "127.0.0.1:0",
                                      "--kubeconfig", kubeconfig, "--namespace", self.namespace,
                                      "--record", self.logs / f"{name}.rec", *options)
        controller.credential = programs.credential(f"{kubeconfig}.token")
        self.controllers.append(controller)
        self.addCleanup(controller.stop)
        return controller

    def recorded(self, name="controller", *options):
        """Returns what `capstan replay` prints about the recording of a controller that has ended."""
        answer = subprocess.run([programs.CAPSTAN, "replay", self.logs / f"{name}.rec", "-o", "json", *options],
                                check=True, capture_output=True, text=True)
        return json.loads(answer.stdout)

    def reachable(self):
        """Returns the replicas that have an address. Waits for the first one: a pod gets its address after its node."""
        return eventually("a replica has an address",
                          lambda: [pod for pod in self.pods() if pod["status"].get("podIP")])

    def load(self, pods=None, **load):
        """Starts a load on these pods, by default on all current replicas that have an address."""
        return self.replay(programs.trace(self.logs / "trace.csv", **(load or LOAD)), pods)

    def replay(self, trace, pods=None):
        """Replays a trace on these pods in turns, by default on all current replicas that have an address."""
        addresses = [pod["status"]["podIP"] for pod in pods or self.reachable()]
        endpoints = [word for address in addresses for word in ("--endpoint", f"{address}:8000")]
        load = programs.Process(self.logs / "load", programs.CAPSTAN, "engine", "load", "--trace", trace, *endpoints)
        self.addCleanup(load.stop)
        return load

    def running(self):
        """Returns the number of running requests, from the metrics of the engines."""
        total = 0
        for pod in self.reachable():
            with urllib.request.urlopen(f"http://{pod['status']['podIP']}:8000/metrics",
                                        timeout=harness.stretched(5)) as page:
                total += float(re.search(r"^vllm:num_requests_running\S* (\S+)$", page.read().decode(), re.M).group(1))
        return total

    def assert_all_served(self, load, least):
        """Ends a load. Checks that it completed more than `least` requests, none failed, and few are unanswered."""
        load.stop()
        result = load.result()
        self.assertEqual(result["requests_failed"], 0, result)
        self.assertGreater(result["requests_completed"], least, result)
        self.assertLess(result["requests_sent"] - result["requests_completed"], 4, result)

    def metrics(self):
        """Returns the metrics page of the controller that was started last."""
        port = re.search(r"127\.0\.0\.1:(\d+)", self.controllers[-1].text()).group(1)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=harness.stretched(5)) as page:
            return page.read().decode()

    def decisions(self):
        return int(re.search(r"^capstan_decisions_total (\d+)$", self.metrics(), re.M).group(1))

    def decides(self, times):
        """Waits until the controller that was started last has made `times` more decisions."""
        before = self.decisions()
        eventually(f"{times} decisions are made", lambda: self.decisions() >= before + times, seconds=20 * times)

    def fleet_writes(self):
        """Returns the writes that change the fleet: all writes of the controller except for status, Events and its
        state, and all writes to workloads and pods of the namespace."""
        return [e for e in self.cluster.audit.writes()
                if (e.user == self.user and e.resource not in ALWAYS_WRITTEN) or
                (e.namespace == self.namespace and e.resource in ("deployments", "replicasets", "pods"))]

    def assert_nothing_moves(self):
        """Checks invariant 12: at the goal, nothing changes for a minute while the controller still decides."""
        self.decides(3)  # actions in progress are complete
        moved, decided = len(self.fleet_writes()), self.decisions()
        time.sleep(STILL_S)
        self.assertGreater(self.decisions(), decided)
        self.assertEqual(self.fleet_writes()[moved:], [])

    def scaler(self):
        return self.cluster.get("inferencescaler", "chat", self.namespace)

    def status(self):
        return self.scaler().get("status", {})

    def halt(self, value):
        """Sets the kill switch and returns the time of the write, as in time.time()."""
        def switch_writes():
            return self.cluster.audit.writes(user="admin", resource="fleetpolicies", verb="patch")
        before = len(switch_writes())
        self.cluster.kubectl("patch", "fleetpolicy", "default", "--type", "merge", "--patch",
                             f'{{"spec": {{"halt": {value}}}}}')
        return audit.seconds(eventually("the switch is in the log", lambda: switch_writes()[before:])[-1].at)

    def requests(self, **fields):
        """Returns all requests of the controllers to the API server."""
        return self.cluster.audit.find(user=self.user, **fields)

    def forbidden(self):
        """Returns the requests of the controllers that were forbidden. Ignores the namespaces of other tests, because a
        namespace that is being deleted refuses every Event."""
        return [e for e in self.requests() if e.code == 403 and e.namespace in ("", self.namespace)]


class ActiveTest(ControllerTest):
    """A controller in Active, and its writes in the audit log."""

    GATE = "capstan.dev/serving"
    POD = {"readinessGates": [{"conditionType": GATE}]}
    LIMITS = {"minReplicas": 1, "maxReplicas": 4}

    def activate(self, cool_down="1s"):
        """Installs permissions, policy and scaler. The test starts the controllers."""
        self.install("permissions.replicas=true")
        self.addCleanup(self.cluster.kubectl, "delete", "fleetpolicy", "default", "--ignore-not-found")
        self.cluster.apply(objects.fleet_policy(layers={"replicas": "Active"}))
        self.cluster.apply(self.active_scaler(cool_down))

    def active_scaler(self, cool_down="1s"):
        target = {"targetRef": {"kind": "Deployment", "name": "engine"}, **self.LIMITS}
        return chat(self.namespace, mode="Active", behavior={"coolDown": cool_down}, roles=[{"variants": [target]}])

    def workload(self):
        return self.cluster.get("deployment", "engine", self.namespace)

    def replicas(self):
        return self.workload()["spec"]["replicas"]

    def serves(self, count):
        return eventually(f"{count} replicas serve", lambda: self.workload()["status"].get("readyReplicas") == count)

    def at_least(self, count):
        """Sets minReplicas, so that the scaler needs this many replicas independently of signals."""
        self.cluster.kubectl("patch", "inferencescaler", "chat", "--namespace", self.namespace, "--type", "json",
                             "--patch", f'[{{"op": "replace", "path": "/spec/roles/0/variants/0/minReplicas", '
                             f'"value": {count}}}]')

    def scales(self):
        """Returns the successful writes of the number of replicas."""
        return self.cluster.audit.writes(user=self.user, resource="deployments", subresource="scale")

    def scaled_to(self, count):
        return next((e for e in self.scales() if e.body["spec"]["replicas"] == count), None)

    def deletions(self):
        """Returns the deletions of pods by the ReplicaSet controller."""
        return [e for e in self.cluster.audit.writes(namespace=self.namespace, resource="pods", verb="delete")
                if "replicaset-controller" in e.user]

    def gates(self, status):
        """Returns the writes that add a pod to the router ("True") or remove it ("False")."""
        return [e for e in self.cluster.audit.writes(user=self.user, resource="pods", subresource="status")
                if [c["status"] for c in e.body["status"]["conditions"] if c["type"] == self.GATE] == [status]]

    def assert_invariants(self):
        """Checks the invariants: every write has a precondition and is within the limits, and a pod of the router is
        removed from it before the pod is deleted."""
        scales = self.scales()
        for write in scales:
            self.assertIn("resourceVersion", write.body["metadata"], "a write without its precondition")
            self.assertLessEqual(write.body["spec"]["replicas"], self.LIMITS["maxReplicas"], "above the maximum")
            self.assertGreaterEqual(write.body["spec"]["replicas"], 1)
        added, removed = self.gates("True"), self.gates("False")
        for deletion in self.deletions():
            def was_in(writes):
                return any(e.name == deletion.name and e.at < deletion.at for e in writes)
            # A pod that was never added to the router has no requests, so it may be deleted without a drain.
            if was_in(added):
                self.assertTrue(was_in(removed), f"{deletion.name} was deleted without a drain")


class OnAPool(ControllerTest):
    """A pool for one test. Capstan may bind only to its nodes."""

    def setUp(self):
        harness.ClusterTest.setUp(self)
        self.prepare_logs()
        self.pool = f"p{zlib.crc32(self.namespace.encode())}"
        self.addCleanup(self.cluster.kubectl, "delete", "nodepool", self.pool, "--ignore-not-found", "--wait=false")
        self.addCleanup(self.cluster.kubectl, "delete", "fleetpolicy", "default", "--ignore-not-found")

    def begin(self, gpu_limit=64, replicas="Shadow", nodes="Active", expire_after="Never", **policy):
        self.cluster.apply(*objects.node_pool(self.pool, gpu_limit, [INSTANCE_TYPE], expire_after))
        eventually("the pool is ready", lambda: condition(self.cluster.get("nodepool", self.pool), "Ready") == "True")
        self.cluster.apply(objects.fleet_policy(
            layers={"replicas": replicas, "placement": "Active", "nodes": nodes},
            nodeSelector={"karpenter.sh/nodepool": self.pool},
            instanceTypes=[{"name": INSTANCE_TYPE, "gpu": "h100_sxm", "gpus": 8, "usdPerHour": "98.32"}], **policy))

    def bound(self, count):
        found = [p for p in self.pods() if p["spec"].get("nodeName")]
        return found if len(found) == count else None

    def claims(self):
        return self.cluster.list("nodeclaims", selector=f"karpenter.sh/nodepool={self.pool}")

    def bindings(self):
        return [e for e in self.cluster.audit.writes(namespace=self.namespace, resource="pods", subresource="binding")
                if e.code == 201]

    def created_claims(self):
        """Returns all claims created for the pool, by any user."""
        return [e for e in self.cluster.audit.writes(resource="nodeclaims", verb="create") if e.code == 201 and
                e.body["metadata"].get("labels", {}).get("karpenter.sh/nodepool") == self.pool]


def chat(namespace, **spec):
    """Returns a scaler with one replica per four running requests, for which Capstan decides every second."""
    return objects.scaler("chat", namespace, queue={"runningPerReplica": 4}, signals={"interval": "1s"}, **spec)
