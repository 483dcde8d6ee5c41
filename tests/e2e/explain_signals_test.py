"""`capstan explain signals` on a real API server: it passes every stage of a service that works, and names the metrics
API or the permission that is missing."""

import json
import subprocess
import unittest

import controller
import harness
import programs

LOST = 2  # exit code: a signal is lost
HPA = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}


class ExplainSignals(controller.ControllerTest):
    def setUp(self):
        super().setUp()
        self.install()
        self.cluster.apply(controller.chat(self.namespace))

    def explained(self, kubeconfig, code):
        """Returns the stages by name and the name of the broken one."""
        done = subprocess.run([programs.CAPSTAN, "explain", "signals", "chat", "--namespace", self.namespace,
                               "--kubeconfig", kubeconfig, "-o", "json"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=harness.stretched(90))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        return {stage["stage"]: stage for stage in answer["stages"]}, answer["broken"]

    def test_the_metrics_api_of_an_hpa_is_missing(self):
        stages, broken = self.explained(self.cluster.kubeconfig, 0)
        self.assertIsNone(broken)
        self.assertNotIn("adapter", stages)
        self.cluster.apply({
            **HPA, "metadata": {"name": "chat", "namespace": self.namespace},
            "spec": {"maxReplicas": 1, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment",
                                                          "name": "engine"},
                     "metrics": [{"type": "Pods", "pods": {"metric": {"name": "vllm_waiting"}, "target": {
                         "type": "AverageValue", "averageValue": "4"}}}]}})
        stages, broken = self.explained(self.cluster.kubeconfig, LOST)
        self.assertEqual(broken, "adapter")
        self.assertIn("no metrics API is registered for vllm_waiting: 404", stages["adapter"]["text"])

    def test_a_refused_request_is_named(self):
        self.cluster.kubectl("delete", "clusterrolebinding", self.account)
        stages, broken = self.explained(self.kubeconfig("without-rules"), LOST)
        self.assertEqual(broken, "access")
        self.assertIn("403 Forbidden", stages["access"]["text"])


if __name__ == "__main__":
    unittest.main()
