"""`capstan run` in Active, with the permissions of the chart: its writes and their order, by the audit log."""

import threading
import unittest

import audit
import controller
import programs
from harness import eventually, stretched

HELD_TOKENS = 30_000  # an answer that takes minutes


class Active(controller.ActiveTest):
    LIMITS = {"minReplicas": 1, "maxReplicas": 40}

    def setUp(self):
        super().setUp()
        self.activate()
        self.start()
        self.serves(1)

    def scale_up(self):
        load = self.load()
        eventually("the target is scaled up", lambda: self.replicas() > 1)
        eventually("every replica serves", lambda: self.workload()["status"].get("readyReplicas") == self.replicas())
        return load

    def test_a_load_step_becomes_replicas_and_night_drains_them(self):
        load = self.scale_up()
        created = self.cluster.audit.writes(namespace=self.namespace, resource="pods", verb="create", subresource="")
        self.assertEqual({e.user for e in created}, {"system:serviceaccount:kube-system:replicaset-controller"})
        self.assertGreater(created[1].at, self.scales()[0].at)
        load.stop()
        eventually("one replica is left", lambda: self.replicas() == 1)
        eventually("the other pods are deleted", lambda: len(self.deletions()) >= len(created) - 1)
        self.assert_invariants()
        self.assertEqual(self.forbidden(), [])

    def test_a_draining_replica_serves_again_when_more_are_needed(self):
        self.at_least(3)
        self.serves(3)
        # Each replica holds a request for minutes, so that no drain ends before the replica is needed again.
        self.replay(programs.trace_at(self.logs / "trace.csv", [0, 0, 0], 100, HELD_TOKENS))
        eventually("each replica runs a request", lambda: self.running() == 3)
        self.at_least(1)
        eventually("two replicas drain", lambda: len({e.name for e in self.gates("False")}) == 2)
        drained, served = {e.name for e in self.gates("False")}, len(self.gates("True"))
        self.at_least(4)
        eventually("both serve again", lambda: drained <= {e.name for e in self.gates("True")[served:]})
        self.serves(4)
        self.assertEqual(self.deletions(), [])
        self.assertNotIn(1, [e.body["spec"]["replicas"] for e in self.scales()])

    def test_halt_stops_every_write_except_status_and_events(self):
        load = self.scale_up()
        halted = self.halt("true")
        load.stop()
        eventually("fewer replicas are recommended", lambda: self.status()["recommended"] < self.replicas())
        late_writes = [e for e in self.cluster.audit.writes(user=self.user)
                       if audit.seconds(e.at) > halted + stretched(1) and e.resource not in controller.ALWAYS_WRITTEN]
        self.assertEqual(late_writes, [])
        self.halt("false")
        eventually("the controller scales down again", lambda: self.replicas() == 1)

    def test_halt_takes_effect_within_a_second(self):
        self.scale_all_the_time()
        eventually("the controller writes", lambda: len(self.scales()) >= 3)
        halted = self.halt("true")
        eventually("the wanted number goes on rising", lambda: self.asked_for >= self.replicas() + 5)
        late_writes = [e for e in self.cluster.audit.writes(user=self.user)
                       if audit.seconds(e.at) > halted + stretched(1) and e.resource not in controller.ALWAYS_WRITTEN]
        self.assertEqual(late_writes, [])
        count = len(self.scales())
        self.halt("false")
        eventually("the controller writes again", lambda: len(self.scales()) > count)
        self.assert_invariants()

    def scale_all_the_time(self):
        """Raises the wanted number of replicas by one every half second, until it is the maximum or the test ends."""
        self.asked_for, ended = 1, threading.Event()

        def ask():
            while not ended.wait(0.5) and self.asked_for < self.LIMITS["maxReplicas"]:
                self.asked_for += 1
                self.at_least(self.asked_for)

        asker = threading.Thread(target=ask, daemon=True)
        asker.start()
        self.addCleanup(asker.join)
        self.addCleanup(ended.set)


if __name__ == "__main__":
    unittest.main()
