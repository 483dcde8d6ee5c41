"""`capstan snapshot` of a cluster under load: the file gives the same decision as the controller every time, all
commands that read snapshots accept it, and it has no secrets."""

import json
import subprocess
import unittest

import controller
import harness
import objects
import programs
from harness import eventually

SECRET = "sentinel-4f1d7c"
SCENARIO = harness.ROOT / "scenarios" / "memory-trap.yaml"  # gives the load; the snapshot gives nodes and replicas
DECIDED = (0, 2)  # exit codes: no change, or a change


class Snapshots(controller.ControllerTest):
    POD = {"containers": [{
        "name": "engine", "image": "engine", "args": [f"--api-key={SECRET}"],
        "env": [{"name": "HF_TOKEN", "value": SECRET}],
        "envFrom": [{"secretRef": {"name": "token"}}], "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}

    def setUp(self):
        super().setUp()
        self.cluster.apply({"apiVersion": "v1", "kind": "Secret", "stringData": {"token": SECRET},
                            "metadata": {"name": "token", "namespace": self.namespace}})
        self.install()
        self.addCleanup(self.cluster.kubectl, "delete", "fleetpolicy", "default", "--ignore-not-found")
        self.cluster.apply(objects.fleet_policy(
            layers={"replicas": "Shadow", "placement": "Shadow", "nodes": "Shadow"},
            nodeSelector={"kubernetes.io/hostname": self.node}))
        self.cluster.apply(controller.chat(self.namespace))

    def capstan(self, *arguments, codes=(0,)):
        done = subprocess.run([programs.CAPSTAN, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=90)
        self.assertIn(done.returncode, codes, f"{arguments}: {done.stderr}")
        return done.stdout

    def decide(self, layer, file):
        """Returns the decision as text, and checks that it is the same each time."""
        first, second = [self.capstan("decide", layer, file, "-o", "json", codes=DECIDED) for _ in range(2)]
        self.assertEqual(first, second)
        return first

    def desired(self, file):
        """Returns the recommendation for the scaler, from the snapshot only."""
        decisions = json.loads(self.decide("scale", file))["decisions"]
        return next(d["desired"] for d in decisions if d["service"] == self.service)

    def agreed_recommendation(self, file):
        """Takes a snapshot. Returns the recommendation of the controller if the snapshot gives the same one, and if it
        did not change in the meantime."""
        before = self.status()["recommended"]
        file.write_text(self.capstan("snapshot", "--kubeconfig", self.reader, "--namespace", self.namespace))
        self.assertEqual([self.desired(file), self.status()["recommended"]], [before] * 2, "while the load still rises")
        return before

    def test_a_snapshot_under_load_decides_as_the_controller_does(self):
        self.start()
        self.reader = self.kubeconfig("reader")
        pending = [objects.gang_pod(f"worker-{i}", self.namespace, "none", 2, 1) for i in range(2)]
        for pod in pending:  # a node has room, but Shadow only reports it
            pod["spec"]["nodeSelector"] = {"kubernetes.io/hostname": self.node}
        first = self.pods()
        self.cluster.apply(*pending)
        self.load(first)
        eventually("more replicas are recommended", lambda: self.status().get("recommended", 0) > 1)
        self.service, file = f"{self.namespace}/chat", self.logs / "incident.json"
        recommended = eventually("both recommend the same", lambda: self.agreed_recommendation(file), seconds=90)
        self.assertNotIn(SECRET, file.read_text())

        place = json.loads(self.decide("place", file))["decisions"][0]
        self.assertIn("bind", json.dumps(place["actions"]))
        self.decide("provision", file)

        self.assertIn(str(recommended), self.capstan("explain", self.service, "--snapshot", file))
        self.assertIn("worker-0", self.capstan("explain", f"{self.namespace}/worker-0", "--snapshot", file))
        self.capstan("sim", SCENARIO, "--from-snapshot", file, "--service", self.service)
        writes = [e for e in self.requests() if e.credential == programs.credential(f"{self.reader}.token")
                  and e.verb not in ("get", "list", "watch")]
        self.assertEqual(writes, [])


if __name__ == "__main__":
    unittest.main()
