"""Karpenter removes nodes that Capstan bought. Each node is replaced once, by Karpenter or by Capstan."""

import json
import unittest

import controller
import objects
from harness import condition, eventually, stretched

REPLICAS = 2  # each needs a whole node


class Replacements(controller.OnAPool):
    LONG = True

    def setUp(self):
        super().setUp()
        self.install("permissions.placement=true", "permissions.nodes=true")

    def serve(self, replicas=REPLICAS, **pool):
        """Creates a Deployment that Capstan places on nodes that it buys. Returns the names of the claims."""
        self.begin(**pool)
        self.start()
        self.cluster.apply(objects.deployment("engine", self.namespace, replicas, gpus=8, pod={
            "schedulerName": "capstan", "nodeSelector": {"karpenter.sh/nodepool": self.pool},
            "terminationGracePeriodSeconds": 1}))
        eventually("all pods are bound", lambda: self.bound(replicas), seconds=90)
        self.assertEqual([user for user, _ in self.bought()], [self.user] * replicas)
        return {c["metadata"]["name"] for c in self.claims()}

    def bought(self):
        """Returns user and time of each purchase."""
        return sorted(((e.user, e.at) for e in self.created_claims()), key=lambda purchase: purchase[1])

    def claim_deletions(self):
        """Returns the times of the first deletion of each claim, in order."""
        deleted = {}
        for e in self.cluster.audit.writes(resource="nodeclaims", verb="delete"):
            if e.name.startswith(f"{self.pool}-"):
                deleted.setdefault(e.name, e.at)
        return sorted(deleted.values())

    def all_on_new_nodes(self, old):
        """Returns True if all pods are on nodes of new claims, and there is no other claim."""
        nodes = {c.get("status", {}).get("nodeName") for c in self.claims() if c["metadata"]["name"] not in old}
        pods = {p["spec"]["nodeName"] for p in self.bound(len(old)) or []}
        return len(pods) == len(old) == len(self.claims()) and pods == nodes

    def assert_each_replaced_once(self, replicas=REPLICAS):
        """Checks that each replacement was bought after the deletion of its node, and only once."""
        bought, deletions = self.bought(), self.claim_deletions()
        for (user, at), deleted in zip(bought[replicas:], deletions):
            self.assertGreater(at, deleted, f"{user} bought before a node was deleted: {bought}, {deletions}")
        self.assertLessEqual(len(bought), replicas + len(deletions), f"{bought}, {deletions}")

    def test_a_node_that_is_deleted_is_replaced_once(self):
        """Karpenter could buy a node for the pod of the deleted node, and Capstan for the new pod. Only one may."""
        old = self.serve(replicas=1)
        self.cluster.kubectl("delete", "nodeclaim", *old, "--wait=false")
        eventually("the pod is on another node", lambda: self.all_on_new_nodes(old), seconds=120)
        self.assert_each_replaced_once(replicas=1)

    def test_nodes_that_expire_are_replaced_once(self):
        """Both claims are deleted at once, even with running pods. The new claims expire too."""
        # The new claims exist for this time before they expire too. The test must see the pods on the new nodes.
        old = self.serve(expire_after=f"{stretched(40):.0f}s")
        eventually("the pods are on other nodes", lambda: self.all_on_new_nodes(old), seconds=120)
        self.assertGreaterEqual(len(self.claim_deletions()), REPLICAS)
        self.assert_each_replaced_once()

    def test_nodes_that_drift_are_replaced_once(self):
        """Karpenter starts the replacements one at a time, and then evicts the pods, which Capstan places."""
        old = self.serve()
        eventually("the nodes have no hold any more", lambda: not any(
            "karpenter.sh/do-not-disrupt" in c["metadata"].get("annotations", {}) for c in self.claims()))
        label = {"spec": {"template": {"metadata": {"labels": {"example.com/image": "newer"}}}}}
        self.cluster.kubectl("patch", "nodepool", self.pool, "--type", "merge", "--patch", json.dumps(label))
        eventually("they drift", lambda: any(condition(c, "Drifted") == "True" for c in self.claims()), seconds=90)
        eventually("the pods are on other nodes", lambda: self.all_on_new_nodes(old), seconds=180)
        self.assertEqual(len(self.claim_deletions()), REPLICAS, "each claim was deleted once")
        self.assertLessEqual(len(self.bought()), 2 * REPLICAS, self.bought())


if __name__ == "__main__":
    unittest.main()
