"""Targets that cannot be scaled, or that another scaler has: a condition names object and field, and Capstan does not
write."""

import time
import unittest

import controller
from harness import condition, eventually

FIELD = "spec.roles[0].variants[0].targetRef: "
# Wrong targets of a scaler: apiVersion and kind, and the reason and message of the condition.
NOT_SCALED = [
    ("v1", "ConfigMap", "NoScaleSubresource", "ConfigMap has no /scale subresource: name a Deployment, StatefulSet, "
     "LeaderWorkerSet or another kind that has one"),
    ("apps/v1", "DaemonSet", "NoScaleSubresource", "DaemonSet has no /scale subresource: name a Deployment, StatefulSet, "
     "LeaderWorkerSet or another kind that has one"),
    ("apps/v1", "Rocket", "NoSuchKind", "the API server has no kind Rocket in apps/v1: "
     "install its CustomResourceDefinition or correct targetRef"),
    ("apps/v1", "StatefulSet", "TargetNotFound", "StatefulSet {namespace}/engine does not exist: create it or correct targetRef"),
]


class Targets(controller.ActiveTest):
    def condition_of(self, name, kind):
        """Returns a condition of a scaler as status, reason and message."""
        status = self.cluster.get("inferencescaler", name, self.namespace).get("status", {})
        return next(((c["status"], c["reason"], c["message"]) for c in status.get("conditions", [])
                     if c["type"] == kind), None)

    def scaler_of(self, name, minimum, api_version="apps/v1", kind="Deployment"):
        target = {"apiVersion": api_version, "kind": kind, "name": "engine"}
        scaler = self.active_scaler()
        scaler["metadata"]["name"] = name
        scaler["spec"]["roles"] = [{"variants": [{"targetRef": target, "minReplicas": minimum, "maxReplicas": 4}]}]
        return scaler

    def test_the_younger_of_two_scalers_of_one_target_writes_nothing(self):
        self.activate()
        time.sleep(1)  # ages are in whole seconds
        self.cluster.apply(self.scaler_of("late", minimum=3))
        self.start()
        message = (f"{FIELD}Deployment {self.namespace}/engine is also scaled by InferenceScaler {self.namespace}/chat, "
                   "which is older: remove one of the two; until then this InferenceScaler does not scale it")
        eventually("the younger scaler shows the conflict",
                   lambda: (self.condition_of("late", "Conflict") or "")[2:] == (message,))
        self.assertEqual(condition(self.scaler(), "Conflict"), "False")
        self.at_least(2)
        self.serves(2)
        self.assertEqual([e.body["spec"]["replicas"] for e in self.scales()], [2], "only the older scaler writes")
        self.cluster.kubectl("delete", "inferencescaler", "chat", "--namespace", self.namespace)
        self.serves(3)
        eventually("the conflict is over", lambda: (self.condition_of("late", "Conflict") or "?")[0] == "False")

    def test_it_names_a_target_that_cannot_be_scaled(self):
        self.activate()
        for api_version, kind, _, _ in NOT_SCALED:
            self.cluster.apply(self.scaler_of(kind.lower(), 2, api_version, kind))
        self.start()
        for _, kind, reason, message in NOT_SCALED:
            with self.subTest(kind=kind):
                wanted = ("False", reason, FIELD + message.format(namespace=self.namespace))
                eventually(f"the condition is {wanted}",
                           lambda: self.condition_of(kind.lower(), "TargetsFound") == wanted)
                self.assertEqual(self.condition_of(kind.lower(), "Ready")[0], "False")
        eventually("the correct scaler has its target", lambda: condition(self.scaler(), "TargetsFound") == "True")
        written = {e.resource for e in self.cluster.audit.writes(user=self.user)} - {*controller.ALWAYS_WRITTEN}
        self.assertEqual(written - {"pods"}, set(), "the correct scaler writes only pods, for the router")
        self.assertEqual(self.forbidden(), [])


if __name__ == "__main__":
    unittest.main()
