"""All three layers Active on one service: load adds replicas and nodes, and a low load removes the replicas."""

import time

import controller
import objects
import programs
from harness import condition, eventually, stretched

GATE = "capstan.dev/serving"
STEP_S = 150  # two minutes longer than the replicas need to start
NIGHT_S = 90
START_DELAYS = {"pod-running.stage.kwok.x-k8s.io/delay": "1s", "pod-ready.stage.kwok.x-k8s.io/delay": "2s"}


class Whole(controller.OnAPool):
    LONG = True

    def setUp(self):
        super().setUp()
        self.install("permissions.replicas=true", "permissions.placement=true", "permissions.nodes=true")
        self.begin(replicas="Active")
        # Each replica needs half a node.
        self.cluster.apply(objects.deployment("engine", self.namespace, replicas=1, gpus=4, annotations=START_DELAYS, pod={
            "schedulerName": "capstan", "nodeSelector": {"karpenter.sh/nodepool": self.pool},
            "readinessGates": [{"conditionType": GATE}]}))
        # One engine serves four requests at a time, two per second.
        self.engines = programs.Engines(self.cluster, self.namespace, self.logs / "engines", "--model", "Llama-3.1-8B",
                                        "--gpu", "H100", "--max-num-seqs", "4")
        self.addCleanup(self.engines.stop)
        self.cluster.apply(objects.scaler(
            "chat", self.namespace, mode="Active", slo={"ttft": "1s"}, signals={"interval": "1s"},
            queue={"waitingPerReplica": 1, "runningPerReplica": 3}, behavior={"coolDown": "5s"}))

    def workload(self):
        return self.cluster.get("deployment", "engine", self.namespace)

    def served(self, more_than):
        """Returns the replicas, once there are more than this many and all are ready."""
        workload = self.workload()
        wanted = workload["spec"]["replicas"]
        return wanted if wanted > more_than and workload["status"].get("readyReplicas") == wanted else None

    def test_load_adds_nodes_and_a_low_load_removes_replicas(self):
        self.start()
        eventually("one replica serves", lambda: self.workload()["status"].get("readyReplicas") == 1, seconds=90)
        step_s = round(stretched(STEP_S))
        begun = time.monotonic()
        step = self.routed("step", 5, step_s)
        eventually("the SLO is broken", lambda: condition(self.scaler(), "SLOMet") == "False")
        most = eventually("more than two replicas exist, and all serve", lambda: self.served(more_than=2))
        # The percentile covers a minute, so the SLO counts as broken until a minute after the queue is empty.
        eventually("the SLO is met again", lambda: condition(self.scaler(), "SLOMet") == "True", seconds=STEP_S)
        self.assertLess(time.monotonic() - begun, step_s, "the SLO was met only after the load had ended")
        self.assertGreater(self.workload()["spec"]["replicas"], 1, "the SLO was met without added replicas")
        night = self.routed("night", 0.5, 3 * step_s)
        step.stop()
        served = step.result()
        self.assertEqual(served["requests_failed"], 0, served)
        eventually("the night has one replica", lambda: self.workload()["spec"]["replicas"] == 1, seconds=NIGHT_S)
        self.assert_all_served(night, least=1)
        self.assert_order(most)

    def routed(self, name, per_second, length_s):
        """Starts a load on the ready replicas, for this time or until the test ends it."""
        trace = programs.trace(self.logs / f"{name}.csv", int(per_second * length_s), per_second, 200, 300)
        load = programs.RoutedLoad(self.cluster, self.namespace, self.logs / name, trace)
        self.addCleanup(load.stop)
        return load

    def assert_order(self, most):
        """Checks that pods are added only after a write of /scale, and that the ReplicaSet controller creates the pods,
        and Capstan the claims and the bindings."""
        audit = self.cluster.audit
        scales = audit.writes(user=self.user, resource="deployments", subresource="scale")
        pods = audit.writes(namespace=self.namespace, resource="pods", verb="create", subresource="")
        self.assertEqual({e.user for e in pods}, {"system:serviceaccount:kube-system:replicaset-controller"})
        self.assertLess(scales[0].at, pods[1].at)
        self.assertEqual({e.user for e in self.created_claims()}, {self.user})
        self.assertLessEqual(len(self.created_claims()), -(-most // 2), "more nodes than one for two replicas")
        self.assertEqual({e.user for e in self.bindings()}, {self.user})
        self.assertEqual(self.forbidden(), [])
