"""The test cluster: the properties that all other e2e tests rely on."""

import ipaddress
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import harness
import objects
from harness import condition, eventually

BARE = [word for server in ("kube-controller-manager", "kube-scheduler", "kwok", "karpenter")
        for word in ("--without", server)]
POOL = harness.ROOT / "tests" / "e2e" / "cluster" / "pool.yaml"


class Workloads(harness.ClusterTest):
    def test_pods_of_a_deployment_are_ready_at_loopback_addresses(self):
        self.cluster.apply(objects.gpu_node("loopback-node"),
                           objects.deployment("engine", self.namespace, replicas=2,
                                              pod={"nodeSelector": {"kubernetes.io/hostname": "loopback-node"}}))
        eventually("both replicas are ready", lambda: self.cluster.get(
            "deployment", "engine", self.namespace)["status"].get("readyReplicas") == 2)
        addresses = {pod["status"]["podIP"] for pod in self.pods()}
        self.assertEqual(len(addresses), 2)
        for address in addresses:
            self.assertIn(ipaddress.ip_address(address), ipaddress.ip_network(f"{self.cluster.pod_network}.0.0/16"))
            with socket.create_server((address, 0)) as engine:  # an emulator can listen at the address
                socket.create_connection(engine.getsockname(), timeout=5).close()

    def test_a_pod_becomes_ready_after_its_cold_start(self):
        slow = {"pod-running.stage.kwok.x-k8s.io/delay": "1s", "pod-ready.stage.kwok.x-k8s.io/delay": "2s"}
        self.cluster.apply(objects.gpu_node("cold-node"),
                           objects.deployment("engine", self.namespace, replicas=1, annotations=slow,
                                              pod={"nodeSelector": {"kubernetes.io/hostname": "cold-node"}}))
        pod = eventually("the pod is ready", lambda: next(
            (p for p in self.pods() if condition(p, "Ready") == "True"), None))
        phases = [e.body["status"]["phase"] for e in self.cluster.audit.writes(
            user="kwok", namespace=self.namespace, name=pod["metadata"]["name"], subresource="status")
            if "phase" in e.body.get("status", {})]
        self.assertEqual(phases, ["Running"], "an address first, readiness by a later write")

    def test_kwok_does_not_set_readiness_gates(self):
        gated = {"readinessGates": [{"conditionType": "capstan.dev/serving"}],
                 "nodeSelector": {"kubernetes.io/hostname": "gated-node"}}
        self.cluster.apply(objects.gpu_node("gated-node"),
                           objects.deployment("engine", self.namespace, replicas=1, pod=gated))
        eventually("its containers are ready", lambda: [
            p for p in self.pods() if condition(p, "ContainersReady") == "True"])
        name = self.pods()[0]["metadata"]["name"]
        for status in ("True", "False"):
            self.assertNotEqual(condition(self.pods()[0], "Ready"), status)
            self.cluster.kubectl(
                "patch", "pod", name, "--namespace", self.namespace, "--subresource", "status", "--patch",
                f'{{"status": {{"conditions": [{{"type": "capstan.dev/serving", "status": "{status}"}}]}}}}')
            eventually(f"Ready is {status}", lambda: condition(self.pods()[0], "Ready") == status)

    def test_the_audit_log_has_the_user_of_a_scale(self):
        self.cluster.apply(objects.deployment("engine", self.namespace, replicas=0))
        self.cluster.kubectl("patch", "deployment", "engine", "--namespace", self.namespace, "--subresource", "scale",
                             "--type", "merge", "--patch", '{"spec": {"replicas": 3}}')
        scale = eventually("the patch is in the log", lambda: self.cluster.audit.writes(
            verb="patch", resource="deployments", subresource="scale", namespace=self.namespace))
        self.assertEqual([(e.user, e.name, e.body) for e in scale], [("admin", "engine", {"spec": {"replicas": 3}})])
        created = eventually("three pods are created", lambda: [
            e for e in [self.cluster.audit.writes(verb="create", resource="pods", subresource="",
                                                  namespace=self.namespace)] if len(e) == 3])[0]
        self.assertEqual({e.user for e in created}, {"system:serviceaccount:kube-system:replicaset-controller"})
        self.assertLess(scale[0].at, min(e.at for e in created))

    def test_the_api_server_keeps_its_objects_over_a_restart(self):
        self.cluster.apply(objects.deployment("engine", self.namespace, replicas=0))
        self.cluster.control_server("kill", "kube-apiserver")
        with self.assertRaises(AssertionError):
            self.cluster.get("deployment", "engine", self.namespace)
        self.cluster.control_server("start", "kube-apiserver")
        self.assertIsNotNone(self.cluster.get("deployment", "engine", self.namespace))


class Nodes(harness.ClusterTest):
    def test_a_node_renews_its_lease(self):
        self.cluster.apply(objects.gpu_node("living-node"))
        lease = eventually("the node has a lease", lambda: self.cluster.get("lease", "living-node", "kube-node-lease"))
        eventually("the lease is renewed", lambda: self.cluster.get("lease", "living-node", "kube-node-lease")["spec"][
            "renewTime"] != lease["spec"]["renewTime"])


class Claims(harness.ClusterTest):
    def setUp(self):
        super().setUp()
        self.cluster.apply(POOL)
        eventually("the pool is ready", lambda: condition(self.cluster.get("nodepool", "gpu"), "Ready") == "True")

    def claim(self, name, **more):
        self.cluster.apply(objects.node_claim(name, pool="gpu", instance_type="p5.48xlarge", zone="us-east-1b", **more))
        self.addCleanup(self.cluster.kubectl, "delete", "nodeclaim", name, "--ignore-not-found", "--wait=false")

    def test_a_node_claim_becomes_a_ready_node_with_its_gpus(self):
        self.claim("whole")
        claim = eventually("the claim is initialized", lambda: next(
            (c for c in [self.cluster.get("nodeclaim", "whole")] if condition(c, "Initialized") == "True"), None))
        self.assertEqual([condition(claim, c) for c in ("Launched", "Registered", "Ready")], ["True"] * 3)
        node = self.cluster.get("node", claim["status"]["nodeName"])
        self.assertEqual(condition(node, "Ready"), "True")
        self.assertEqual(node["status"]["capacity"]["nvidia.com/gpu"], "8")
        self.assertEqual(node["status"]["allocatable"]["nvidia.com/gpu"], "8")
        labels = node["metadata"]["labels"]
        self.assertEqual(labels["topology.kubernetes.io/zone"], "us-east-1b")
        self.assertEqual(labels["nvidia.com/gpu.product"], "h100_sxm")
        self.assertIsNone(condition(self.cluster.get("nodeclaim", "whole"), "Drifted"))

    def test_a_claim_whose_node_never_boots_stays_unregistered_or_unready(self):
        self.claim("lost", annotations={"node-ready.stage.kwok.x-k8s.io/delay": "24h"})
        node = eventually("its node is registered", lambda: (self.cluster.get("nodeclaim", "lost") or {}).get(
            "status", {}).get("nodeName"))
        self.assertNotEqual(condition(self.cluster.get("node", node), "Ready"), "True")
        self.assertNotEqual(condition(self.cluster.get("nodeclaim", "lost"), "Initialized"), "True")


class Lifecycle(unittest.TestCase):
    """No process is left running after any end of a cluster. These clusters have only the necessary servers."""

    def setUp(self):
        folder = tempfile.mkdtemp(prefix="capstan-e2e-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.cluster = harness.Cluster(folder, *BARE)
        self.addCleanup(self.cluster.down)

    def assert_nothing_left(self, session, ports):
        eventually("no process is left", lambda: not harness.processes_of(session), seconds=20)
        # The last threads of an ended process may keep its sockets open briefly.
        eventually("no port answers", lambda: not any(map(harness.listens, ports.values())), seconds=20)

    def test_up_twice_is_up_once_and_down_ends_all(self):
        self.cluster.up()
        session, ports = self.cluster.keeper, self.cluster.ports()
        second = self.cluster.script("up")
        self.assertEqual((second.returncode, second.stdout), (0, f"{self.cluster.kubeconfig}\n"))
        self.assertIn("is up already", second.stderr)
        self.assertEqual(self.cluster.keeper, session)
        self.assertEqual(self.cluster.script("status").returncode, 0)
        self.assertEqual(self.cluster.script("down").returncode, 0)
        self.assert_nothing_left(session, ports)
        self.assertEqual((self.cluster.script("status").returncode, self.cluster.script("down").returncode), (1, 0))

    def test_down_ends_a_cluster_that_is_starting(self):
        starting = self.cluster.popen_up()
        self.addCleanup(starting.wait)
        eventually("the first server runs", (self.cluster.folder / "pids" / "etcd").exists, seconds=120)
        session, ports = self.cluster.keeper, self.cluster.ports()
        self.assertEqual(self.cluster.script("down").returncode, 0)
        self.assertEqual(starting.wait(timeout=30), 1)
        self.assert_nothing_left(session, ports)

    def test_servers_end_with_a_killed_keeper(self):
        self.cluster.up()
        session, ports = self.cluster.keeper, self.cluster.ports()
        os.kill(session, signal.SIGKILL)
        self.assert_nothing_left(session, ports)

    def test_a_cluster_ends_with_its_killed_owner(self):
        owner = subprocess.Popen(
            [sys.executable, "-B", "-c", "import harness, signal, sys\n"
             "harness.Cluster(sys.argv[1], *sys.argv[2:]).up()\nprint('up', flush=True)\nsignal.pause()",
             self.cluster.folder, *BARE],
            cwd=pathlib.Path(__file__).parent, stdout=subprocess.PIPE, text=True)
        self.addCleanup(owner.wait)
        self.addCleanup(owner.kill)
        self.assertEqual(owner.stdout.readline(), "up\n")
        owner.stdout.close()
        session, ports = self.cluster.keeper, self.cluster.ports()
        owner.kill()  # it stays a zombie, which counts as ended
        self.assert_nothing_left(session, ports)


if __name__ == "__main__":
    unittest.main()
