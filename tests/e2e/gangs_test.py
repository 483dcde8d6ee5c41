"""Gangs and node claims in Active: real bindings, Karpenter's real life cycle of nodes, judged by the audit log."""

import json
import signal

import controller
import objects
from harness import condition, eventually

class Gangs(controller.OnAPool):
    def setUp(self):
        super().setUp()
        self.install("permissions.placement=true", "permissions.nodes=true")

    def gang(self, count, gpus=8, labels=None, scheduler="capstan", annotations=None):
        pods = [objects.gang_pod(f"worker-{i}", self.namespace, self.pool, count, gpus, annotations)
                for i in range(count)]
        for pod in pods:
            pod["metadata"]["labels"] = labels or {}
            pod["spec"]["schedulerName"] = scheduler
        self.cluster.apply(*pods)

    def queue_gpus(self, name):
        return self.cluster.get("queues.capstan.dev", name).get("status", {}).get("gpus")

    def intents(self):
        return [e for e in self.cluster.audit.writes(user=self.user, resource="pods", verb="patch", subresource="")
                if e.body["metadata"].get("annotations", {}).get("capstan.dev/bind")]

    def told(self):
        """Where each pod was told to go, last."""
        return {e.name: json.loads(e.body["metadata"]["annotations"]["capstan.dev/bind"])["node"]
                for e in self.intents()}

    def test_a_multi_node_gang_gets_one_group_of_nodes(self):
        self.begin()
        self.start()
        self.gang(2)
        pods = eventually("the gang is bound", lambda: self.bound(2), seconds=90)
        self.assertEqual(len({p["spec"]["nodeName"] for p in pods}), 2)
        created = self.created_claims()
        self.assertEqual([e.user for e in created], [self.user] * 2, "Karpenter buys nothing for the same gang")
        groups = {e.body["metadata"]["labels"]["capstan.dev/claim-group"] for e in created}
        self.assertEqual(len(groups), 1)
        bindings = self.bindings()
        self.assertEqual(sorted(e.name for e in bindings), ["worker-0", "worker-1"])
        self.assertEqual(self.told(), {p["metadata"]["name"]: p["spec"]["nodeName"] for p in pods})
        told = max(e.at for e in self.intents())
        self.assertLess(told, min(e.at for e in bindings), "all are told before one is bound")
        eventually("the nodes are held no more", lambda: not any(
            "karpenter.sh/do-not-disrupt" in c["metadata"].get("annotations", {}) for c in self.claims()))
        self.assertEqual(self.forbidden(), [])

    def test_without_the_nodes_layer_karpenter_buys(self):
        self.begin(nodes="Off")
        self.start()
        self.gang(2)
        eventually("the gang is bound", lambda: self.bound(2), seconds=90)
        self.assertEqual([e.user for e in self.created_claims()], ["karpenter"] * 2)
        told = [e.name for e in self.cluster.audit.writes(user=self.user, resource="pods", subresource="status")
                if [c["reason"] for c in e.body["status"]["conditions"]] == ["Unschedulable"]]
        self.assertEqual(sorted(set(told)), ["worker-0", "worker-1"])
        self.assertEqual(sorted(e.name for e in self.bindings()), ["worker-0", "worker-1"])

    def test_a_limit_one_node_short_launches_nothing(self):
        self.begin(gpu_limit=8)
        self.start()
        self.gang(2)
        pod = eventually("the verdict is told", lambda: next(
            (p for p in self.pods() if condition(p, "PodScheduled") == "False"), None))
        told = next(c for c in pod["status"]["conditions"] if c["type"] == "PodScheduled")
        self.assertEqual(told["reason"], "NeverFits")
        self.assertIn("2 pods with 8 ", told["message"])
        self.assertIn(f"raise the GPU limit of pool {self.pool} from 8 to 16", told["message"])
        eventually("an Event says so", lambda: [e for e in self.cluster.list("events.events.k8s.io", self.namespace)
                                                if e["reason"] == "NeverFits"])
        self.assertEqual((self.created_claims(), self.bindings()), ([], []))

    def test_a_queue_holds_a_gang_until_it_may_have_more(self):
        for queue in (objects.queue(f"{self.pool}-all", limit=8), objects.queue(self.pool, 64, f"{self.pool}-all")):
            self.cluster.apply(queue)
            self.addCleanup(self.cluster.kubectl, "delete", "queues.capstan.dev", queue["metadata"]["name"])
        self.begin(nodes="Off")  # then a gang that lacks nodes is Unschedulable, and Karpenter buys for it
        self.start()
        self.gang(2, labels={"capstan.dev/queue": self.pool})
        pod = eventually("the verdict is told", lambda: next(
            (p for p in self.pods() if condition(p, "PodScheduled") == "False"), None))
        told = next(c for c in pod["status"]["conditions"] if c["type"] == "PodScheduled")
        self.assertEqual(told["reason"], "QueueLimit")
        self.assertIn(f"queue {self.pool}-all holds 0 of its 8 GPUs, 16 more needed; raise the limit of queue "
                      f"{self.pool}-all by 8 GPUs to 16", told["message"])
        eventually("its status tells what waits", lambda: self.queue_gpus(self.pool) == {"held": 0, "waiting": 16})
        self.assertEqual((self.created_claims(), self.bindings()), ([], []))
        self.cluster.apply(objects.queue(f"{self.pool}-all", limit=16))
        eventually("the gang is bound", lambda: self.bound(2), seconds=90)
        eventually("its status tells what it holds",
                   lambda: self.queue_gpus(f"{self.pool}-all") == {"held": 16, "waiting": 0})
        self.assertEqual([e for e in self.asked(resource="queues") if e.code == 403], [])

    def test_in_shadow_it_tells_where_the_gang_of_another_scheduler_would_go(self):
        node = objects.gpu_node(f"{self.pool}-node", gpus=16, labels={"karpenter.sh/nodepool": self.pool})
        self.cluster.apply(node)
        self.addCleanup(self.cluster.kubectl, "delete", "node", f"{self.pool}-node", "--wait=false")
        self.cluster.apply(objects.fleet_policy(layers={"placement": "Shadow", "nodes": "Shadow"},
                                                placement={"shadowOf": ["kai-scheduler"]},
                                                nodeSelector={"karpenter.sh/nodepool": self.pool}))
        self.start()
        self.gang(2, scheduler="kai-scheduler")
        event = eventually("an Event tells it", lambda: next(
            (e for e in self.cluster.list("events.events.k8s.io", self.namespace) if e["reason"] == "WouldPlace"), None))
        self.assertEqual((event["type"], event["regarding"]["name"]), ("Normal", "worker-0"))
        self.assertEqual(event["note"],
                         f"would go onto {self.pool}-node: 2 pods fit into one cluster, so the whole gang is placed")
        self.assertEqual(self.cluster.audit.writes(user=self.user, resource="pods"), [])

    def test_what_is_left_of_a_gang_that_a_kubelet_refused_is_evicted(self):
        self.begin()
        self.start()
        self.gang(2, annotations={"pod-ready.stage.kwok.x-k8s.io/delay": "10m"})  # it waits for the one that is refused
        eventually("the gang is bound", lambda: self.bound(2), seconds=90)
        refusal = {"status": {"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": "no such device"}}
        self.cluster.kubectl("patch", "pod", "worker-1", "--namespace", self.namespace, "--subresource", "status",
                             "--type", "merge", "--patch", json.dumps(refusal))
        evictions = eventually("the other pod is evicted", lambda: self.cluster.audit.writes(
            user=self.user, namespace=self.namespace, resource="pods", subresource="eviction"), seconds=90)
        self.assertEqual([(e.name, e.code) for e in evictions], [("worker-0", 201)])

    def test_one_claim_that_never_becomes_a_node(self):
        self.begin(hold="20s")
        self.cluster.apply(*objects.no_second_node(self.pool))
        for kind in ("validatingadmissionpolicybinding", "validatingadmissionpolicy"):
            self.addCleanup(self.cluster.kubectl, "delete", kind, f"no-second-node-{self.pool}")
        self.start()
        self.gang(2)
        eventually("two claims are made", lambda: len(self.created_claims()) == 2)
        deleted = eventually("both are given back", lambda: [
            e for e in [self.cluster.audit.writes(user=self.user, resource="nodeclaims", verb="delete")]
            if len({d.name for d in e}) == 2], seconds=90)[0]
        first = {e.body["metadata"]["name"] for e in self.created_claims()[:2]}
        self.assertEqual({e.name for e in deleted}, first)
        self.assertEqual(self.bindings(), [])

    def test_a_killed_leader_leaves_no_partial_gang(self):
        self.begin()
        leader = self.start()
        eventually("it decides", lambda: "decides" in leader.text())
        self.start()
        self.gang(4)
        eventually("the first pod is told", self.told, seconds=90)
        leader.signal(signal.SIGKILL)
        pods = eventually("the gang is bound", lambda: self.bound(4), seconds=120)
        # By the pods themselves: a write whose asker was killed may have been carried out, and is logged as failed.
        told = [json.loads(p["metadata"]["annotations"]["capstan.dev/bind"]) for p in pods]
        self.assertEqual([p["spec"]["nodeName"] for p in pods], [t["node"] for t in told], "as they were told")
        self.assertEqual(len({t["transaction"] for t in told}), 1, "one placement")
        bound = [e.name for e in self.bindings()]
        self.assertEqual(len(bound), len(set(bound)), "none is bound twice")
        self.assertEqual(len(self.created_claims()), 4, "nothing is bought twice")

    def test_a_gang_that_was_told_in_part_is_placed_whole(self):
        """As a leader leaves it that is killed while it tells the pods where they go."""
        name = f"{self.pool}-node"
        labels = {"karpenter.sh/nodepool": self.pool, "nvidia.com/gpu.product": "h100_sxm"}
        self.cluster.apply(objects.gpu_node(name, gpus=32, labels=labels))
        self.addCleanup(self.cluster.kubectl, "delete", "node", name, "--wait=false")
        self.begin()
        self.gang(4)
        intent = json.dumps({"transaction": "left", "pods": 4, "node": name})
        self.cluster.kubectl("annotate", "pod", "worker-0", "worker-1", "--namespace", self.namespace,
                             f"capstan.dev/bind={intent}")
        self.start()
        pods = eventually("the gang is bound", lambda: self.bound(4))
        told = [json.loads(p["metadata"]["annotations"]["capstan.dev/bind"]) for p in pods]
        self.assertEqual({t["pods"] for t in told}, {4}, "in one piece")
        self.assertEqual(len({t["transaction"] for t in told}), 1, told)
