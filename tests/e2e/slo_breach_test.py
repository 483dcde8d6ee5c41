"""Capstan rolls back settings that breach the SLO and restores the capacity, until a person acknowledges the breach."""

import json
import re
import time
import unittest

import controller
import objects
from harness import condition, eventually, stretched

LIGHT = {"requests": 2000, "per_second": 5, "input_tokens": 200, "output_tokens": 400}  # about twelve concurrent
HEAVY = {"requests": 4000, "per_second": 20, "input_tokens": 6000, "output_tokens": 20}  # too much for one replica
BREACH = {"metric": "ttft", "bound": "1s", "for": "20s"}


class SloBreach(controller.ActiveTest):
    LONG = True

    def setUp(self):
        super().setUp()
        self.activate()
        self.cluster.apply(objects.fleet_policy(layers={"replicas": "Active"}, sloBreach=BREACH))
        self.settings(running=4)
        self.start()
        self.serves(1)

    def settings(self, running):
        """Sets the running requests per replica, and a bound on waiting requests that is too high to matter."""
        patch = {"spec": {"queue": {"runningPerReplica": running, "waitingPerReplica": 1000}}}
        self.cluster.kubectl("patch", "inferencescaler", "chat", "--namespace", self.namespace, "--type", "merge",
                             "--patch", json.dumps(patch))

    def message(self):
        return next(c["message"] for c in self.status()["conditions"] if c["type"] == "SLOBreach")

    def test_a_breach_restores_until_it_is_acknowledged(self):
        first = self.pods()
        light = self.load(first, **LIGHT)
        eventually("at least three replicas are wanted", lambda: self.replicas() >= 3)
        time.sleep(stretched(25))  # long enough for the SLO to count as met
        good = self.replicas()
        self.settings(running=1000)
        heavy = self.load(first, **HEAVY)
        eventually("one replica is left", lambda: self.replicas() == 1)
        eventually("the breach is seen", lambda: condition(self.scaler(), "SLOBreach") == "True")
        restored = eventually("the replicas are restored", lambda: [
            e for e in self.scales() if e.body["spec"]["replicas"] >= good and e.at > self.scale_down_to_one().at])[0]
        eventually("an Event says so", lambda: "SloRollBack" in {
            e.body.get("reason") for e in self.cluster.audit.writes(user=self.user, resource="events")})
        heavy.stop()
        light.stop()
        self.decides(8)  # one decision per second: enough time to scale down, if that were allowed
        self.assertEqual([e for e in self.scales() if e.at > restored.at and
                          e.body["spec"]["replicas"] < restored.body["spec"]["replicas"]], [])
        self.assertEqual(condition(self.scaler(), "SLOBreach"), "True")
        self.acknowledge()
        eventually("the stated settings are in force", lambda: self.replicas() == 1)
        eventually("the condition is over", lambda: condition(self.scaler(), "SLOBreach") == "False")
        self.assert_invariants()

    def scale_down_to_one(self):
        """Returns the first write that sets one replica."""
        return [e for e in self.scales() if e.body["spec"]["replicas"] == 1][0]

    def acknowledge(self):
        """Acknowledges the breach as the message of the condition says."""
        command = re.search(r"kubectl (-n \S+ annotate isc chat .*)$", self.message())[1]
        self.cluster.kubectl(*command.split())


if __name__ == "__main__":
    unittest.main()
