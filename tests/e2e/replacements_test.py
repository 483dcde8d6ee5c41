"""Nodes of Capstan's that Karpenter takes away: each is replaced once, whichever of the two buys for it."""

import json
import unittest

import controller
import objects
from harness import condition, eventually, stretched

REPLICAS = 2  # each fills a node


class Replacements(controller.OnAPool):
    LONG = True

    def setUp(self):
        super().setUp()
        self.install("permissions.placement=true", "permissions.nodes=true")

    def serve(self, replicas=REPLICAS, **pool):
        """A Deployment, placed by Capstan on nodes that it has bought; gives the names of their claims."""
        self.begin(**pool)
        self.start()
        self.cluster.apply(objects.deployment("engine", self.namespace, replicas, gpus=8, pod={
            "schedulerName": "capstan", "nodeSelector": {"karpenter.sh/nodepool": self.pool},
            "terminationGracePeriodSeconds": 1}))
        eventually("all are bound", lambda: self.bound(replicas), seconds=90)
        self.assertEqual([user for user, _ in self.bought()], [self.user] * replicas)
        return {c["metadata"]["name"] for c in self.claims()}

    def bought(self):
        """Who, and when."""
        return sorted(((e.user, e.at) for e in self.created_claims()), key=lambda each: each[1])

    def going(self):
        """When each claim was told to go, in order."""
        told = {}
        for e in self.cluster.audit.writes(resource="nodeclaims", verb="delete"):
            if e.name.startswith(f"{self.pool}-"):
                told.setdefault(e.name, e.at)
        return sorted(told.values())

    def moved(self, old):
        """Whether every pod is on a node of another claim than the old ones, and there is no claim besides."""
        nodes = {c.get("status", {}).get("nodeName") for c in self.claims() if c["metadata"]["name"] not in old}
        pods = {p["spec"]["nodeName"] for p in self.bound(len(old)) or []}
        return len(pods) == len(old) == len(self.claims()) and pods == nodes

    def assert_one_for_each_that_went(self, replicas=REPLICAS):
        """No claim was made for a node before the node had been told to go, and none was made twice for it."""
        bought, going = self.bought(), self.going()
        for (user, at), told in zip(bought[replicas:], going):
            self.assertGreater(at, told, f"{user} bought before a node went: {bought}, {going}")
        self.assertLessEqual(len(bought), replicas + len(going), f"{bought}, {going}")

    def test_a_node_that_is_deleted_is_replaced_once(self):
        """Karpenter buys for the pods of a node that goes, and Capstan for the pod that takes their place."""
        old = self.serve(replicas=1)
        self.cluster.kubectl("delete", "nodeclaim", *old, "--wait=false")
        eventually("the pod is on another node", lambda: self.moved(old), seconds=120)
        self.assert_one_for_each_that_went(replicas=1)

    def test_nodes_that_expire_are_replaced_once(self):
        """Their claims are deleted whatever runs there, both at once; the new ones expire in their turn."""
        old = self.serve(expire_after=f"{stretched(40):.0f}s")  # so long the new ones can be seen
        eventually("the pods are on other nodes", lambda: self.moved(old), seconds=120)
        self.assertGreaterEqual(len(self.going()), REPLICAS)
        self.assert_one_for_each_that_went()

    def test_nodes_that_drift_are_replaced_once(self):
        """Karpenter brings up the replacement first, one at a time, and then evicts the pods for Capstan to place."""
        old = self.serve()
        eventually("the nodes are held no more", lambda: not any(
            "karpenter.sh/do-not-disrupt" in c["metadata"].get("annotations", {}) for c in self.claims()))
        label = {"spec": {"template": {"metadata": {"labels": {"example.com/image": "newer"}}}}}
        self.cluster.kubectl("patch", "nodepool", self.pool, "--type", "merge", "--patch", json.dumps(label))
        eventually("they drift", lambda: any(condition(c, "Drifted") == "True" for c in self.claims()), seconds=90)
        eventually("the pods are on other nodes", lambda: self.moved(old), seconds=180)
        self.assertEqual(len(self.going()), REPLICAS, "each went once")
        self.assertLessEqual(len(self.bought()), 2 * REPLICAS, self.bought())


if __name__ == "__main__":
    unittest.main()
