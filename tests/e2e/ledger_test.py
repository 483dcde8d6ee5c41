"""The ledger of a Shadow controller, compared with a simulation that follows the recommendations for the same load."""

import json
import re
import subprocess
import time
import unittest

import controller
import objects
import programs
from controller import chat
from harness import eventually, stretched

REPLICAS = 8  # a constant number
CALM_S, BUSY_S = 30, 75
# Requests per second. The eight pods are read at different times, so the sum of running requests can be up to twice the
# real number, and the cool-down keeps the highest sum. Even then, at six running requests per replica, CALM needs one
# replica and BUSY needs three.
CALM, BUSY = 3, 13
POLICY = {"queue": {"waitingPerReplica": 4, "runningPerReplica": 6}, "behavior": {"coolDown": "5s"}}
SCENARIO = {
    "name": "ledger",
    "load": {"trace": "trace.csv"},
    "service": {"model": "Llama-3.1-8B", "gpu": "H100", "slo": {"ttft": "2s"}, "engine_perturbation": "0%",
                "replicas": {"min": 1, "max": REPLICAS, "initial": 1}},
    "cluster": {"existing": [{"instance": "p5.48xlarge"}], "scrape": {"interval": "1s", "delay": "0s"}},
    "policies": [{"name": "shadow", "place": "gang", "provision": "group",
                  "scale": {"policy": "queue_hpa", "waiting_per_replica": 4, "running_per_replica": 6,
                            "sync_period": "500ms", "downscale_stabilization": "5s"}}]}


class Ledger(controller.ControllerTest):
    LONG = True

    def test_its_gpu_hours_match_a_simulation(self):
        self.install()
        self.addCleanup(self.cluster.kubectl, "delete", "fleetpolicy", "default", "--ignore-not-found")
        self.cluster.apply(objects.fleet_policy())
        self.cluster.kubectl("scale", "deployment", "engine", "--replicas", str(REPLICAS), "--namespace",
                             self.namespace)
        limits = {"targetRef": {"kind": "Deployment", "name": "engine"}, "minReplicas": 1, "maxReplicas": REPLICAS}
        self.cluster.apply({**chat(self.namespace), "spec": {**chat(self.namespace)["spec"], **POLICY,
                                                             "roles": [{"variants": [limits]}]}})
        self.start()
        eventually("one of eight idle replicas is enough", lambda: self.status().get("recommended") == 1
                   and self.status().get("ready") == REPLICAS)
        times = [i / CALM for i in range(int(CALM * CALM_S))]
        times += [CALM_S + i / BUSY for i in range(int(BUSY * BUSY_S))]
        trace = programs.trace_at(self.logs / "trace.csv", times, 200, 160)
        load = programs.RoutedLoad(self.cluster, self.namespace, self.logs / "load", trace)
        self.addCleanup(load.stop)
        eventually("the load has begun", lambda: self.running() > 0)
        began, before = time.monotonic(), self.gpu_hours()
        eventually("the load is over", lambda: load.ended, seconds=2 * (CALM_S + BUSY_S))
        passed_s, saved = time.monotonic() - began, before - self.gpu_hours()
        recommended_s = REPLICAS * passed_s - 3600 * saved
        simulated_s, length_s = self.simulated()
        # The load and the simulation end with the last answer. A small difference in length adds at most the time of
        # one idle replica.
        self.assertLess(abs(passed_s - length_s), stretched(3))
        self.assertGreater(simulated_s, 1.5 * passed_s, "several replicas are wanted")
        self.assertAlmostEqual(recommended_s / simulated_s, 1, delta=0.05 * stretched(1))

    def gpu_hours(self):
        return float(re.search(r"^capstan_ledger_gpu_hours\{[^}]*\} (\S+)$", self.metrics(), re.M).group(1))

    def simulated(self):
        """Returns the GPU time of the replicas and the simulated time, both in seconds."""
        path = self.logs / "scenario.yaml"
        path.write_text(json.dumps(SCENARIO))
        result = json.loads(subprocess.run([programs.CAPSTAN, "sim", path, "-o", "json"], check=True,
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout)
        run = result["policies"][0]
        spent = run["gpu_time_by_state_ns"]
        return (sum(spent[state] for state in ("starting", "busy", "idle", "draining")) / 1e9,
                run["simulated_ns"] / 1e9)


if __name__ == "__main__":
    unittest.main()
