"""Gangs and node claims in Active, with real bindings and Karpenter's real node life cycle, seen in the audit log."""

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

    def announced_nodes(self):
        """Returns the node in the last annotation of each pod."""
        return {e.name: json.loads(e.body["metadata"]["annotations"]["capstan.dev/bind"])["node"]
                for e in self.intents()}

    def test_a_multi_node_gang_gets_one_group_of_nodes(self):
        self.begin()
        self.start()
        self.gang(2)
        pods = eventually("the gang is bound", lambda: self.bound(2), seconds=90)
        self.assertEqual(len({p["spec"]["nodeName"] for p in pods}), 2)
        created = self.created_claims()
        self.assertEqual([e.user for e in created], [self.user] * 2, "Karpenter buys no nodes for the same gang")
        groups = {e.body["metadata"]["labels"]["capstan.dev/claim-group"] for e in created}
        self.assertEqual(len(groups), 1)
        bindings = self.bindings()
        self.assertEqual(sorted(e.name for e in bindings), ["worker-0", "worker-1"])
        self.assertEqual(self.announced_nodes(), {p["metadata"]["name"]: p["spec"]["nodeName"] for p in pods})
        announced = max(e.at for e in self.intents())
        self.assertLess(announced, min(e.at for e in bindings), "all pods are annotated before the first one is bound")
        eventually("the nodes have no hold any more", lambda: not any(
            "karpenter.sh/do-not-disrupt" in c["metadata"].get("annotations", {}) for c in self.claims()))
        self.assertEqual(self.forbidden(), [])

    def test_without_the_nodes_layer_karpenter_buys(self):
        self.begin(nodes="Off")
        self.start()
        self.gang(2)
        eventually("the gang is bound", lambda: self.bound(2), seconds=90)
        self.assertEqual([e.user for e in self.created_claims()], ["karpenter"] * 2)
        named = [e.name for e in self.cluster.audit.writes(user=self.user, resource="pods", subresource="status")
                if [c["reason"] for c in e.body["status"]["conditions"]] == ["Unschedulable"]]
        self.assertEqual(sorted(set(named)), ["worker-0", "worker-1"])
        self.assertEqual(sorted(e.name for e in self.bindings()), ["worker-0", "worker-1"])

    def test_a_limit_one_node_short_launches_nothing(self):
        self.begin(gpu_limit=8)
        self.start()
        self.gang(2)
        pod = eventually("the condition shows the verdict", lambda: next(
            (p for p in self.pods() if condition(p, "PodScheduled") == "False"), None))
        verdict = next(c for c in pod["status"]["conditions"] if c["type"] == "PodScheduled")
        self.assertEqual(verdict["reason"], "NeverFits")
        self.assertIn("2 pods with 8 ", verdict["message"])
        self.assertIn(f"raise the GPU limit of pool {self.pool} from 8 to 16", verdict["message"])
        eventually("an Event says so", lambda: [e for e in self.cluster.list("events.events.k8s.io", self.namespace)
                                                if e["reason"] == "NeverFits"])
        self.assertEqual((self.created_claims(), self.bindings()), ([], []))

    def test_a_queue_delays_a_gang_until_its_limit_allows_it(self):
        for queue in (objects.queue(f"{self.pool}-all", limit=8), objects.queue(self.pool, 64, f"{self.pool}-all")):
            self.cluster.apply(queue)
            self.addCleanup(self.cluster.kubectl, "delete", "queues.capstan.dev", queue["metadata"]["name"])
        self.begin(nodes="Off")  # a gang without nodes is Unschedulable, and Karpenter buys for it
        self.start()
        self.gang(2, labels={"capstan.dev/queue": self.pool})
        pod = eventually("the condition shows the verdict", lambda: next(
            (p for p in self.pods() if condition(p, "PodScheduled") == "False"), None))
        verdict = next(c for c in pod["status"]["conditions"] if c["type"] == "PodScheduled")
        self.assertEqual(verdict["reason"], "QueueLimit")
        self.assertIn(f"queue {self.pool}-all holds 0 of its 8 GPUs, 16 more needed; raise the limit of queue "
                      f"{self.pool}-all by 8 GPUs to 16", verdict["message"])
        eventually("the status shows waiting GPUs", lambda: self.queue_gpus(self.pool) == {"held": 0, "waiting": 16})
        self.assertEqual((self.created_claims(), self.bindings()), ([], []))
        self.cluster.apply(objects.queue(f"{self.pool}-all", limit=16))
        eventually("the gang is bound", lambda: self.bound(2), seconds=90)
        eventually("the status shows held GPUs",
                   lambda: self.queue_gpus(f"{self.pool}-all") == {"held": 16, "waiting": 0})
        self.assertEqual([e for e in self.requests(resource="queues") if e.code == 403], [])

    def test_gpus_that_a_resource_claim_holds_are_given_away_after_it(self):
        node = f"{self.pool}-node"
        self.cluster.apply(objects.fleet_policy(layers={"placement": "Active"},
                                                nodeSelector={"karpenter.sh/nodepool": self.pool}),
                           objects.gpu_node(node, gpus=16,
                                            labels={"karpenter.sh/nodepool": self.pool}),
                           *objects.devices_of_node(node, gpus=16),
                           objects.resource_claim("gpus", self.namespace, gpus=8))
        for kind in ("node", "resourceslice"):
            self.addCleanup(self.cluster.kubectl, "delete", kind, node, "--wait=false")
        self.cluster.apply(objects.pod_with_claim("holder", self.namespace, node, "gpus"))
        self.cluster.kubectl("patch", "resourceclaim", "gpus", "--namespace", self.namespace, "--subresource", "status",
                             "--type", "merge", "--patch", json.dumps(objects.granted(node, gpus=8)))
        eventually("the claim is reserved for its pod", lambda: self.cluster.get(
            "resourceclaim", "gpus", self.namespace)["status"].get("reservedFor"))
        self.start()
        self.gang(2)
        eventually("the gang waits", lambda: any(
            condition(p, "PodScheduled") == "False" for p in self.pods() if p["metadata"]["name"] != "holder"))
        self.assertEqual(self.bindings(), [], "8 of 16 GPUs are held")
        ours = objects.pod_with_claim("ours", self.namespace, None, "gpus")
        ours["spec"]["schedulerName"] = "capstan"
        self.cluster.apply(ours)
        eventually("a pod that Capstan cannot place says so", lambda: "ResourceClaims" in [
            c.get("reason") for p in self.pods() if p["metadata"]["name"] == "ours"
            for c in p.get("status", {}).get("conditions", [])])
        self.cluster.kubectl("delete", "pod", "ours", "--namespace", self.namespace, "--wait=false")
        self.cluster.kubectl("delete", "pod", "holder", "--namespace", self.namespace, "--wait=false")
        eventually("the gang is bound", lambda: len(self.bindings()) == 2, seconds=90)
        self.assertEqual(self.forbidden(), [])

    def test_shadow_shows_where_it_would_place_gangs_of_other_schedulers(self):
        node = objects.gpu_node(f"{self.pool}-node", gpus=16, labels={"karpenter.sh/nodepool": self.pool})
        self.cluster.apply(node)
        self.addCleanup(self.cluster.kubectl, "delete", "node", f"{self.pool}-node", "--wait=false")
        self.cluster.apply(objects.fleet_policy(layers={"placement": "Shadow", "nodes": "Shadow"},
                                                placement={"shadowOf": ["kai-scheduler"]},
                                                nodeSelector={"karpenter.sh/nodepool": self.pool}))
        self.start()
        self.gang(2, scheduler="kai-scheduler")
        event = eventually("an Event shows the placement", lambda: next(
            (e for e in self.cluster.list("events.events.k8s.io", self.namespace) if e["reason"] == "WouldPlace"), None))
        self.assertEqual((event["type"], event["regarding"]["name"]), ("Normal", "worker-0"))
        self.assertEqual(event["note"],
                         f"in mode Active, Capstan would bind the pods to {self.pool}-node: "
                         "2 pods fit into one cluster, so the whole gang is placed")
        self.assertEqual(self.cluster.audit.writes(user=self.user, resource="pods"), [])

    def test_the_rest_of_a_gang_is_evicted_after_a_kubelet_rejects_a_pod(self):
        self.begin()
        self.start()
        self.gang(2, annotations={"pod-ready.stage.kwok.x-k8s.io/delay": "10m"})  # no pod becomes ready
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
        eventually("two claims are created", lambda: len(self.created_claims()) == 2)
        deleted = eventually("both claims are deleted", lambda: [
            e for e in [self.cluster.audit.writes(user=self.user, resource="nodeclaims", verb="delete")]
            if len({d.name for d in e}) == 2], seconds=90)[0]
        first = {e.body["metadata"]["name"] for e in self.created_claims()[:2]}
        self.assertEqual({e.name for e in deleted}, first)
        self.assertEqual(self.bindings(), [])

    def test_a_killed_leader_leaves_no_partial_gang(self):
        self.begin()
        leader = self.start()
        eventually("the leader decides", lambda: "starts to decide" in leader.text())
        self.start()
        self.gang(4)
        eventually("the first pod is annotated", self.announced_nodes, seconds=90)
        leader.signal(signal.SIGKILL)
        pods = eventually("the gang is bound", lambda: self.bound(4), seconds=120)
        # Checks the pods, not the log: a write whose client was killed may succeed but is logged as failed.
        binds = [json.loads(p["metadata"]["annotations"]["capstan.dev/bind"]) for p in pods]
        self.assertEqual([p["spec"]["nodeName"] for p in pods], [b["node"] for b in binds], "as in the annotations")
        self.assertEqual(len({b["transaction"] for b in binds}), 1, "one placement")
        bound = [e.name for e in self.bindings()]
        self.assertEqual(len(bound), len(set(bound)), "no pod is bound twice")
        self.assertEqual(len(self.created_claims()), 4, "no node is bought twice")

    def test_a_partly_annotated_gang_is_placed_completely(self):
        """Checks the gang after a leader was killed while it annotated the pods."""
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
        binds = [json.loads(p["metadata"]["annotations"]["capstan.dev/bind"]) for p in pods]
        self.assertEqual({b["pods"] for b in binds}, {4}, "one complete gang")
        self.assertEqual(len({b["transaction"] for b in binds}), 1, binds)
