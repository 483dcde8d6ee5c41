"""Capstan's Kubernetes client with a real API server, checked by its output and by the audit log."""

import os
import subprocess

import harness
import objects

PROBE = harness.ROOT / "build" / "dev" / "tests" / "kube_real_test"


class KubeClient(harness.ClusterTest):
    def probe(self, *tests):
        environment = {**os.environ, "CAPSTAN_E2E_KUBECONFIG": str(self.cluster.kubeconfig),
                       "CAPSTAN_E2E_NAMESPACE": self.namespace}
        done = subprocess.run([PROBE, f"--gtest_filter={':'.join(tests) or '*'}"], env=environment,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("SKIPPED", done.stdout)

    def test_reads_writes_binds_and_leads(self):
        self.cluster.apply(objects.deployment("engine", self.namespace, replicas=0))
        # No other client writes to the Deployment, so that the test causes every conflict.
        self.cluster.control_server("stop", "kube-controller-manager")
        self.addCleanup(self.cluster.control_server, "start", "kube-controller-manager")
        self.probe()
        ours = [e for e in self.cluster.audit.entries() if e.agent.startswith("capstan/")]
        scales = [e for e in ours if e.namespace == self.namespace and e.subresource == "scale" and e.verb == "patch"]
        self.assertGreater(len([e for e in scales if e.code == 200]), 0)
        self.assertGreater(len([e for e in scales if e.code == 409]), 0)
        for entry in scales:
            self.assertIn("resourceVersion", entry.body.get("metadata", {}), "a write without its precondition")
        bound = [e for e in ours if e.namespace == self.namespace and e.subresource == "binding" and e.code < 300]
        self.assertEqual([e.name for e in bound], ["lonely"])
        self.assertEqual([e for e in ours if e.resource == "secrets"], [])
