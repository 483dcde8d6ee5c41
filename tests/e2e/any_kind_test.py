"""A target of a kind that Capstan does not know, with a /scale subresource, under the permissions of the chart."""

import json
import threading
import unittest

import controller
import objects
from harness import condition, eventually

VERSION = {
    "name": "v1", "served": True, "storage": True,
    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
                                             "statusReplicasPath": ".status.replicas",
                                             "labelSelectorPath": ".status.selector"}}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "stacks.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Stack", "plural": "stacks"},
             "versions": [VERSION]}}


class AnyKind(controller.ControllerTest):
    """A Stack named "chat". The test plays its controller, which sets the replicas of a Deployment from the Stack."""

    def setUp(self):
        super().setUp()
        self.cluster.apply(DEFINITION)
        self.addCleanup(self.cluster.kubectl, "delete", "crd", "stacks.example.com", "--wait=false")
        eventually("the kind is served", lambda: "stacks" in self.cluster.kubectl("api-resources", "--api-group",
                                                                                  "example.com"))
        self.cluster.apply({"apiVersion": "example.com/v1", "kind": "Stack",
                            "metadata": {"name": "chat", "namespace": self.namespace,
                                         "annotations": {"capstan.dev/drains-itself": "true"}},
                            "spec": {"replicas": 1}})
        ended = threading.Event()
        played = threading.Thread(target=self.play, args=(ended,), daemon=True)
        played.start()
        self.addCleanup(played.join)
        self.addCleanup(ended.set)
        self.install("permissions.replicas=true", "scaleTargets[0].group=example.com",
                     "scaleTargets[0].resource=stacks")
        self.addCleanup(self.cluster.kubectl, "delete", "fleetpolicy", "default", "--ignore-not-found")
        self.cluster.apply(objects.fleet_policy(layers={"replicas": "Active"}))
        target = {"targetRef": {"apiVersion": "example.com/v1", "kind": "Stack", "name": "chat"}, "maxReplicas": 4}
        self.cluster.apply(controller.chat(self.namespace, mode="Active", behavior={"coolDown": "1s"},
                                           roles=[{"variants": [target]}]))
        self.start()

    def play(self, ended):
        """Plays the controller of the Stack until `ended` is set."""
        while not ended.wait(0.5):
            try:
                wanted = self.wanted()
                self.cluster.kubectl("scale", "deployment", "engine", "--replicas", str(wanted), "--namespace",
                                     self.namespace)
                self.cluster.kubectl("patch", "stack", "chat", "--subresource", "status", "--type", "merge",
                                     "--namespace", self.namespace, "--patch",
                                     json.dumps({"status": {"replicas": wanted, "selector": "app=engine"}}))
            except AssertionError:
                continue  # the namespace is being deleted, or the server is busy: retry in the next turn

    def wanted(self):
        return self.cluster.get("stack", "chat", self.namespace)["spec"]["replicas"]

    def scales(self):
        return self.cluster.audit.writes(user=self.user, resource="stacks", subresource="scale")

    def test_its_scale_is_set_up_and_down(self):
        eventually("the replica of the Stack is seen", lambda: self.status().get("ready") == 1)
        self.assertEqual(condition(self.scaler(), "TargetsFound"), "True")
        load = self.load()
        eventually("the Stack is scaled up", lambda: self.wanted() > 1)
        eventually("several replicas serve", lambda: self.status()["ready"] > 1)
        load.stop()
        eventually("the Stack is scaled down again", lambda: self.wanted() == 1)
        # The server writes the audit log shortly after the answer.
        eventually("the last write is in the log",
                   lambda: [write.body["spec"]["replicas"] for write in self.scales()][-1:] == [1])
        scales = self.scales()
        self.assertGreater(scales[0].body["spec"]["replicas"], 1)
        for write in scales:
            self.assertIn("resourceVersion", write.body["metadata"], "a write without its precondition")
        self.assertEqual(self.cluster.audit.writes(user=self.user, namespace=self.namespace, resource="deployments"), [])
        self.assertEqual(self.forbidden(), [])


if __name__ == "__main__":
    unittest.main()
