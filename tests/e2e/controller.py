"""A controller at the run's cluster: a process under the chart's own ServiceAccount, and engines for it to scale."""

import shutil
import zlib

import harness
import objects
import programs
from harness import condition, eventually

TYPE = "p5.48xlarge"  # eight GPUs
CHART = harness.ROOT / "deploy" / "chart" / "capstan"
LOAD = {"requests": 2000, "per_second": 5, "input_tokens": 200, "output_tokens": 400}  # a dozen at a time on an H100


class ControllerTest(harness.ClusterTest):
    """A Deployment "engine" of one replica with an emulated engine behind it, and a controller that may be started."""

    POD = {}  # more of the pods' spec

    def setUp(self):
        super().setUp()
        self.prepare_logs()
        self.node = f"{self.namespace[:50]}-node"
        self.cluster.apply(objects.gpu_node(self.node, labels={"nvidia.com/gpu.product": "h100_sxm"}))
        self.addCleanup(self.cluster.kubectl, "delete", "node", self.node, "--wait=false")
        self.cluster.apply(objects.deployment("engine", self.namespace, replicas=1, pod={
            "nodeSelector": {"kubernetes.io/hostname": self.node}, **self.POD}))
        self.engines = programs.Engines(self.cluster, self.namespace, self.logs / "engines", "--model", "Llama-3.1-8B",
                                        "--gpu", "H100")
        self.addCleanup(self.engines.stop)
        eventually("an engine listens", lambda: "started" in self.engines.text())

    def prepare_logs(self):
        self.logs = harness.FOLDER / "logs" / self.namespace
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir(parents=True)

    def install(self, *values):
        """The chart's ServiceAccount and permissions; its Deployment stays out, a process of the test stands for it."""
        words = [word for value in values for word in ("--set", value)]
        manifest = harness.helm("template", self.namespace, CHART, "--namespace", self.namespace, "--show-only",
                                "templates/serviceaccount.yaml", "--show-only", "templates/rbac.yaml", *words)
        self.cluster.kubectl("apply", "--server-side", "--filename", "-", given=manifest)
        account = f"{self.namespace}-capstan"
        self.addCleanup(self.cluster.kubectl, "delete", "clusterrole,clusterrolebinding", account, "--ignore-not-found")
        self.user = f"system:serviceaccount:{self.namespace}:{account}"
        self.kubeconfig = programs.account_kubeconfig(self.cluster, self.logs / "kubeconfig", self.namespace, account)

    def start(self):
        """A controller; gives its process. Its port is any that is free."""
        controller = programs.Process(self.logs / "controller", programs.CAPSTAN, "run", "--listen", "127.0.0.1:0",
                                      "--kubeconfig", self.kubeconfig, "--namespace", self.namespace)
        self.addCleanup(controller.stop)
        return controller

    def load(self):
        """Requests to whatever replicas there are now."""
        endpoints = [word for pod in self.pods() for word in ("--endpoint", f"{pod['status']['podIP']}:8000")]
        trace = programs.trace(self.logs / "trace.csv", **LOAD)
        load = programs.Process(self.logs / "load", programs.CAPSTAN, "engine", "load", "--trace", trace, *endpoints)
        self.addCleanup(load.stop)
        return load

    def scaler(self):
        return self.cluster.get("inferencescaler", "chat", self.namespace)

    def status(self):
        return self.scaler().get("status", {})

    def audit(self, **wanted):
        return self.cluster.audit.find(user=self.user, **wanted)


class OnAPool(ControllerTest):
    """A pool of the test's own, whose nodes are the only ones that Capstan may bind to."""

    def setUp(self):
        harness.ClusterTest.setUp(self)
        self.prepare_logs()
        self.pool = f"p{zlib.crc32(self.namespace.encode())}"
        self.addCleanup(self.cluster.kubectl, "delete", "nodepool", self.pool, "--ignore-not-found", "--wait=false")
        self.addCleanup(self.cluster.kubectl, "delete", "fleetpolicy", "default", "--ignore-not-found")

    def begin(self, gpu_limit=64, replicas="Shadow", nodes="Active", **policy):
        self.cluster.apply(*objects.node_pool(self.pool, gpu_limit, [TYPE]))
        eventually("the pool is ready", lambda: condition(self.cluster.get("nodepool", self.pool), "Ready") == "True")
        self.cluster.apply(objects.fleet_policy(
            layers={"replicas": replicas, "placement": "Active", "nodes": nodes},
            nodeSelector={"karpenter.sh/nodepool": self.pool},
            instanceTypes=[{"name": TYPE, "gpu": "h100_sxm", "gpus": 8, "usdPerHour": "98.32"}], **policy))

    def bindings(self):
        return [e for e in self.cluster.audit.writes(namespace=self.namespace, resource="pods", subresource="binding")
                if e.code == 201]

    def created_claims(self):
        """All claims ever made for the pool, whoever made them."""
        return [e for e in self.cluster.audit.writes(resource="nodeclaims", verb="create") if e.code == 201 and
                e.body["metadata"].get("labels", {}).get("karpenter.sh/nodepool") == self.pool]


def chat(namespace, **spec):
    """A scaler that wants a replica for every four requests, looked at each second."""
    return objects.scaler("chat", namespace, queue={"runningPerReplica": 4}, signals={"interval": "1s"}, **spec)
