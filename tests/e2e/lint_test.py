"""`capstan lint --kubeconfig`: lints the objects of a real API server as their authors wrote them."""

import json
import subprocess
import unittest

import harness
import objects
import programs

PAGE_OBJECTS = 250  # the page size of lint's requests


def config_map(name, namespace):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}}


def duty_cycle_hpa(target, namespace):
    metric = {"metric": {"name": "DCGM_FI_DEV_GPU_UTIL"}, "target": {"type": "AverageValue", "averageValue": "80"}}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": target, "namespace": namespace},
            "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target},
                     "minReplicas": 1, "maxReplicas": 4, "metrics": [{"type": "Pods", "pods": metric}]}}


class LintCluster(harness.ClusterTest):
    def lint(self, *options):
        return subprocess.run([programs.CAPSTAN, "lint", "--kubeconfig", self.cluster.kubeconfig, "-o", "json",
                               *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def test_a_namespace_of_a_cluster_is_linted(self):
        self.cluster.apply(objects.deployment("engine", self.namespace, replicas=1),
                           duty_cycle_hpa("engine", self.namespace))
        harness.eventually("the Deployment has made its pod", self.pods)
        maps = [config_map(f"one-of-many-{i}", self.namespace) for i in range(PAGE_OBJECTS + 1)]
        self.cluster.apply({"apiVersion": "v1", "kind": "List", "items": maps})
        # Nothing shows that the pods of the test run an engine, so a finding about their autoscaler is only advice.
        done = self.lint("--namespace", self.namespace, "--advice")
        self.assertEqual(done.returncode, 2, done.stderr)
        found = {(f["rule"], f["file"]) for f in json.loads(done.stdout)["findings"]}
        self.assertIn(("gpu-util-scaling-signal", f"HorizontalPodAutoscaler/{self.namespace}/engine"), found)
        self.assertEqual([file for _, file in found if file.startswith(("Pod/", "ReplicaSet/"))], [])
        ours = [e for e in self.cluster.audit.entries()
                if e.agent.startswith("capstan/") and e.namespace == self.namespace]
        self.assertEqual({e.verb for e in ours}, {"list"})
        self.assertEqual([e for e in ours if e.resource == "secrets"], [])
        maps_asked = [e for e in ours if e.resource == "configmaps" and e.code == 200]
        self.assertGreater(len(maps_asked), 1, "the second page was not asked for")

    def test_a_namespace_with_nothing_wrong_has_no_findings(self):
        self.cluster.apply(config_map("settings", self.namespace))
        done = self.lint("--namespace", self.namespace)
        self.assertIn(done.returncode, (0, 2), done.stderr)  # pools of other tests are cluster-wide and checked too
        found = [f for f in json.loads(done.stdout)["findings"] if f"/{self.namespace}/" in f["file"]]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
