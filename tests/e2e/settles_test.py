"""Invariant 12 on real servers: with a constant goal and load, the fleet reaches the goal and then nothing changes."""

import unittest

import controller
import objects
from harness import eventually


class Settles(controller.ActiveTest):
    LONG = True

    def test_replicas_do_not_change_after_the_load_has_ended(self):
        self.activate()
        self.start()
        self.serves(1)
        load = self.load()
        eventually("several replicas serve", lambda: self.workload()["status"].get("readyReplicas", 0) > 1)
        load.stop()
        eventually("one replica is asked for", lambda: self.replicas() == 1)
        eventually("one pod is left", lambda: len(self.pods()) == 1)
        self.assert_nothing_moves()
        self.assertEqual(self.replicas(), 1)
        self.assert_invariants()


class GangsSettle(controller.OnAPool):
    LONG = True

    def test_a_placed_gang_and_its_nodes_do_not_change(self):
        self.install("permissions.placement=true", "permissions.nodes=true")
        self.begin()
        self.start()
        self.cluster.apply(*[objects.gang_pod(f"worker-{i}", self.namespace, self.pool, 2, 8) for i in range(2)])
        eventually("the gang is bound", lambda: self.bound(2), seconds=90)
        eventually("the nodes have no hold any more", lambda: not any(
            "karpenter.sh/do-not-disrupt" in c["metadata"].get("annotations", {}) for c in self.claims()))
        eventually("the pods run", lambda: all(p["status"]["phase"] == "Running" for p in self.pods()))
        claims = {c["metadata"]["name"] for c in self.claims()}
        self.assert_nothing_moves()
        self.assertEqual({c["metadata"]["name"] for c in self.claims()}, claims)


if __name__ == "__main__":
    unittest.main()
