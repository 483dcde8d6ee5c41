"""Policy Capstan on real servers, with only model and SLO: replicas follow a load step up and down, and no request
fails. Checked by the audit log."""

import unittest

import controller
import objects
import programs
from harness import condition, eventually

CALM_S, BUSY_S, NIGHT_S = 20, 70, 300
# Requests per second. The KV memory of a replica holds 13 requests at a time, which is about three per second.
CALM, BUSY, NIGHT = 0.6, 5, 0.2
WHY = ("demand_met", "demand_rising", "demand_falling", "surplus_kept", "backlog_drains", "demand_unknown")


class OwnPolicy(controller.ActiveTest):
    LONG = True
    GPUS = 2
    ENGINE = ("--model", "Llama-3.3-70B", "--gpu", "H100", "--tp", "2")
    START_DELAYS = {"pod-running.stage.kwok.x-k8s.io/delay": "1s", "pod-ready.stage.kwok.x-k8s.io/delay": "2s"}

    def active_scaler(self, cool_down=None):
        target = {"targetRef": {"kind": "Deployment", "name": "engine"}, **self.LIMITS}
        return objects.scaler("chat", self.namespace, model="Llama-3.3-70B", slo={"ttft": "1s", "tpot": "80ms"},
                              mode="Active", signals={"interval": "2s"}, roles=[{"variants": [target]}])

    def setUp(self):
        super().setUp()
        self.activate()
        self.start()
        self.serves(1)

    def test_model_and_slo_are_enough(self):
        eventually("the engine is known", lambda: condition(self.scaler(), "EngineKnown") == "True")
        message = next(c["message"] for c in self.status()["conditions"] if c["type"] == "EngineKnown")
        self.assertEqual(message, "Llama-3.3-70B in bfloat16 on 2 x h100_sxm", "the GPU comes from the node")
        seconds = [i / CALM for i in range(int(CALM * CALM_S))]
        seconds += [CALM_S + i / BUSY for i in range(BUSY * BUSY_S)]
        seconds += [CALM_S + BUSY_S + i / NIGHT for i in range(int(NIGHT * NIGHT_S))]
        load = programs.RoutedLoad(self.cluster, self.namespace, self.logs / "load",
                                   programs.trace_at(self.logs / "trace.csv", seconds, 1000, 100))
        self.addCleanup(load.stop)
        eventually("there are more replicas, and all serve", self.served, seconds=CALM_S + BUSY_S)
        self.assert_shown()
        # The policy's memory of the peak fades slowly. A replica is removed after a minute in which it was not needed.
        eventually("the night has fewer replicas", lambda: self.replicas() < self.highest(),
                   seconds=BUSY_S + NIGHT_S)
        eventually("the other pods are deleted", lambda: len(self.deletions()) >= self.highest() - self.replicas())
        self.assert_all_served(load, least=BUSY * BUSY_S)
        self.assert_invariants()
        wanted = [write.body["spec"]["replicas"] for write in self.scales()]
        print(f"\nown policy: {wanted}")
        steps = [b - a for a, b in zip([1] + wanted, wanted)]
        turns = sum(1 for a, b in zip(steps, steps[1:]) if a * b < 0)
        self.assertEqual(turns, 1, f"up, and down again: {wanted}")
        self.assertEqual(self.forbidden(), [])

    def highest(self):
        return max(write.body["spec"]["replicas"] for write in self.scales())

    def served(self):
        """Returns the replicas, once there are several and all are ready."""
        workload = self.workload()
        wanted = workload["spec"]["replicas"]
        return wanted if wanted > 1 and workload["status"].get("readyReplicas") == wanted else None

    def assert_shown(self):
        """Checks that `kubectl get isc` shows policy, number and reason."""
        head, row = self.cluster.kubectl("get", "isc", "chat", "--namespace", self.namespace).splitlines()
        shown = dict(zip(head.split(), row.split()))
        self.assertEqual((shown["POLICY"], shown["MODE"], shown["MODEL"]), ("Capstan", "Active", "Llama-3.3-70B"))
        self.assertIn(shown["REASON"], WHY)
        self.assertGreater(int(shown["RECOMMENDED"]), 1)


if __name__ == "__main__":
    unittest.main()
