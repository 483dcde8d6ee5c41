"""`capstan run` in Shadow, on emulated engines, with the permissions of the chart: its status and its writes."""

import json
import re
import unittest

import controller
import objects
import programs
from controller import chat
from harness import condition, eventually


class Shadow(controller.ControllerTest):
    def test_it_recommends_and_writes_nothing_else(self):
        self.install()
        self.addCleanup(self.cluster.kubectl, "delete", "fleetpolicy", "default", "--ignore-not-found")
        self.cluster.apply(objects.fleet_policy())
        self.cluster.apply(objects.queue(self.namespace))
        self.addCleanup(self.cluster.kubectl, "delete", "queues.capstan.dev", self.namespace)
        self.cluster.apply(chat(self.namespace))
        process = self.start()
        eventually("one replica is enough", lambda: condition(self.scaler(), "SignalsFresh") == "True")
        self.assertEqual(self.status()["recommended"], 1)
        self.load()
        eventually("more replicas are recommended", lambda: self.status()["recommended"] > 1)
        status = self.status()
        self.assertEqual((status["effectiveMode"], status["replicas"], status["desired"]), ("Shadow", 1, 1))
        eventually("an Event says so", lambda: self.cluster.audit.writes(user=self.user, resource="events"))
        self.assertEqual(process.stop(), 0)
        actions = [line for state in self.recorded()["actions"] for line in state["recorded"]]
        self.assertIn(f"scale {self.namespace}/chat to", " ".join(actions))
        lease = self.cluster.get("lease", "capstan", self.namespace)
        self.assertEqual(lease["spec"].get("holderIdentity", ""), "", "the Lease was not released")
        self.assertEqual(self.cluster.get("deployment", "engine", self.namespace)["spec"]["replicas"], 1)
        self.assert_nothing_else_written()
        self.assert_permissions_are_exact()

    def assert_nothing_else_written(self):
        written = {(e.resource, e.subresource) for e in self.cluster.audit.writes(user=self.user)}
        self.assertEqual(written, {("inferencescalers", "status"), ("fleetpolicies", "status"), ("queues", "status"),
                                   ("events", ""), ("leases", ""), ("configmaps", "")})
        self.assertEqual(self.requests(resource="secrets"), [])

    def assert_permissions_are_exact(self):
        """Checks that every permission is used, if its kind exists, and that no request lacks a permission."""
        self.assertEqual(self.forbidden(), [])
        kinds = set(self.cluster.kubectl("api-resources", "--output", "name").split())
        granted = set()
        for where, name in (("clusterrole", None), ("role", self.namespace)):
            for rule in self.cluster.get(where, f"{self.namespace}-capstan", name)["rules"]:
                granted |= {(resource, verb) for group in rule["apiGroups"] for resource in rule["resources"]
                            for verb in rule["verbs"]
                            if ".".join(filter(None, [resource.split("/")[0], group])) in kinds}
        used = {("/".join(filter(None, [e.resource, e.subresource])), e.verb) for e in self.requests() if e.resource}
        # Some granted verbs count as used although this test does not need them: `list`, because a watch falls back to
        # it; `create` for the ConfigMap, because the first patch creates it; `patch` for Events, because an Event may
        # be repeated.
        used |= {(resource, "list") for resource, verb in used if verb == "watch"}
        used |= {("configmaps", "create"), ("events", "patch")}
        self.assertEqual(granted, used)

    def test_an_autoscaler_on_the_same_workload_is_a_conflict(self):
        self.install()
        self.cluster.apply(chat(self.namespace))
        self.start()
        eventually("it decides", lambda: condition(self.scaler(), "Conflict") == "False")
        self.cluster.apply({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "rival", "namespace": self.namespace},
            "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "engine"},
                     "maxReplicas": 3}})
        eventually("a conflict is seen", lambda: condition(self.scaler(), "Conflict") == "True")
        condition_entry = next(c for c in self.status()["conditions"] if c["type"] == "Conflict")
        self.assertIn(f"HorizontalPodAutoscaler {self.namespace}/rival", condition_entry["message"])
        self.assertEqual(condition(self.scaler(), "Ready"), "False")
        self.cluster.kubectl("delete", "hpa", "rival", "--namespace", self.namespace)
        eventually("the conflict is over", lambda: condition(self.scaler(), "Conflict") == "False")

    def test_silence_is_not_idleness_and_a_successor_remembers(self):
        self.install()
        self.cluster.kubectl("scale", "deployment", "engine", "--replicas", "2", "--namespace", self.namespace)
        self.cluster.apply(chat(self.namespace, behavior={"coolDown": "1s"}))
        first = self.start()
        eventually("one of two idle replicas is enough", lambda: self.status().get("recommended") == 1
                   and self.status()["ready"] == 2)
        self.engines.stop()
        eventually("the missing signals are seen", lambda: self.status()["signals"]["fresh"] == 0)
        self.assertEqual(condition(self.scaler(), "SignalsFresh"), "False")
        eventually("the recommendation is not below the present replicas", lambda: self.status()["recommended"] == 2)
        first.stop()
        self.start()
        eventually("a successor decides", lambda: re.search(r"checkpoint of [1-9]\d* target", (
            self.logs / "controller").read_text()))

    def test_once_decides_and_writes_nothing(self):
        self.install()
        self.cluster.apply(chat(self.namespace))
        once = programs.Process(self.logs / "once", programs.CAPSTAN, "run", "--once", "-o", "json", "--kubeconfig",
                                self.kubeconfig(), "--namespace", self.namespace)
        eventually("the program has decided and ended", lambda: once.ended)
        self.assertEqual(once.stop(), 0, once.text())
        self.assertEqual(json.loads(once.text())["format_version"], 1)
        self.assertEqual(self.cluster.audit.writes(user=self.user), [])


if __name__ == "__main__":
    unittest.main()
