"""Other autoscalers of the same workload: Capstan names them in a Conflict, and takes over when they are gone."""

import json
import time
import unittest

import audit
import controller
from harness import condition, eventually, stretched

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "engine"}
OWNER = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoComponentDeployment", "name": "decode", "uid": "1-2-3",
         "controller": True}
# The necessary part of llm-d's definition, for use if the definition is not next to the checkout.
VARIANT_AUTOSCALINGS = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "variantautoscalings.llmd.ai"},
    "spec": {"group": "llmd.ai", "scope": "Namespaced",
             "names": {"kind": "VariantAutoscaling", "plural": "variantautoscalings"},
             "versions": [{"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


class Rivals(controller.ActiveTest):
    def setUp(self):
        super().setUp()
        self.define()
        self.activate()
        self.start()
        self.serves(1)

    def define(self):
        if self.cluster.get("crd", VARIANT_AUTOSCALINGS["metadata"]["name"]):
            return
        self.cluster.apply(VARIANT_AUTOSCALINGS)
        eventually("the kind is served", lambda: "variantautoscalings" in self.cluster.kubectl(
            "api-resources", "--api-group", "llmd.ai"))

    def autoscaler(self, api_version, kind, **spec):
        return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "rival", "namespace": self.namespace},
                "spec": {"scaleTargetRef": TARGET, **spec}}

    def assert_in_conflict(self, rival):
        eventually("a conflict is seen", lambda: condition(self.scaler(), "Conflict") == "True")
        self.assertIn(rival, next(c["message"] for c in self.status()["conditions"] if c["type"] == "Conflict"))
        self.assertEqual(self.status()["effectiveMode"], "Shadow")
        before, self.wanted = len(self.scales()), self.replicas() + 1
        self.at_least(self.wanted)
        eventually("more replicas are recommended", lambda: self.status()["recommended"] == self.wanted)
        self.decides(2)
        self.assertEqual(len(self.scales()), before, f"Capstan wrote despite {rival}")

    def assert_taken_over(self):
        removed_at = time.time()
        scaled = eventually("Capstan takes over", lambda: self.scaled_to(self.wanted))
        self.assertLessEqual(audit.seconds(scaled.at) - removed_at, stretched(5))
        eventually("the conflict is over", lambda: condition(self.scaler(), "Conflict") == "False")

    def delete(self, kind):
        self.cluster.kubectl("delete", kind, "rival", "--namespace", self.namespace)

    def test_an_autoscaler_that_has_scaled(self):
        # Without a metric the HPA sets its own minimum, so that it is the last writer of the replicas.
        self.cluster.apply(self.autoscaler("autoscaling/v2", "HorizontalPodAutoscaler", minReplicas=3, maxReplicas=3))
        eventually("the HPA has scaled", lambda: self.replicas() == 3)
        self.assert_in_conflict(f"HorizontalPodAutoscaler {self.namespace}/rival")
        self.delete("hpa")
        self.assert_taken_over()

    def test_a_variant_autoscaling(self):
        self.cluster.apply(self.autoscaler("llmd.ai/v1alpha1", "VariantAutoscaling", modelID="Llama-3.1-8B"))
        self.assert_in_conflict(f"VariantAutoscaling {self.namespace}/rival")
        self.delete("variantautoscaling")
        self.assert_taken_over()

    def test_an_owner_such_as_dynamos(self):
        # The garbage collector, a part of this server, would delete the object, because no owner has the uid.
        self.cluster.control_server("stop", "kube-controller-manager")
        self.addCleanup(self.cluster.control_server, "start", "kube-controller-manager")
        self.patch({"metadata": {"ownerReferences": [OWNER]}})
        self.assert_in_conflict("DynamoComponentDeployment decode")
        self.patch({"metadata": {"ownerReferences": None}})
        self.assert_taken_over()

    def test_a_gitops_controller_that_sets_replicas_back(self):
        self.patch({"spec": {"replicas": 3}}, "--field-manager", "argocd-controller")
        self.assert_in_conflict("argocd-controller")
        self.patch({"spec": {"replicas": 2}}, "--field-manager", "a-person")
        self.assert_taken_over()

    def patch(self, patch, *options):
        self.cluster.kubectl("patch", "deployment", "engine", "--namespace", self.namespace, "--type", "merge",
                             "--patch", json.dumps(patch), *options)


if __name__ == "__main__":
    unittest.main()
