"""`capstan run` behind a proxy that injects faults of networks and servers: it keeps the invariants and recovers."""

import os
import random
import time
import unittest

import audit
import controller
import fault_proxy
import objects
import programs
from harness import eventually, stretched

RECOVERY_MAX_S = 5  # longest time between a new need for replicas, which arises after a fault, and the write to /scale
SEED = int(os.environ.get("CAPSTAN_E2E_SEED", "1"))


class Faults(controller.ActiveTest):
    LONG = True
    LIMITS = {"minReplicas": 1, "maxReplicas": 24}

    def setUp(self):
        super().setUp()
        self.cluster.apply(objects.gpu_node(self.node, gpus=32))
        self.activate()
        self.proxy = fault_proxy.FaultProxy(self.cluster, SEED)
        self.addCleanup(self.proxy.close)
        self.start(server=self.proxy.url)
        self.secret = self.logs / "controller.kubeconfig.token"
        self.serves(1)

    def begin(self, kind):
        if kind == "expired_token":
            self.proxy.expired.add(f"Bearer {self.secret.read_text()}")
        self.proxy.begin(kind)

    def end(self, kind):
        if kind == "expired_token":
            self.secret.write_text(programs.token(self.cluster, self.namespace, self.account))
        self.proxy.end()

    def seconds_to_scale_to(self, count):
        """Sets a need for `count` replicas, more than before. Returns the seconds until the controller writes this
        number or a higher one. The controller sees the new need only through a watch."""
        needed_at = time.time()
        self.at_least(count)

        def scaled():
            return [e for e in self.scales() if e.body["spec"]["replicas"] >= count]
        return audit.seconds(eventually(f"scaled to {count}", scaled, seconds=40)[0].at) - needed_at

    def test_it_recovers_within_five_seconds_of_each_fault(self):
        count, slow = 1, {}
        for kind in fault_proxy.KINDS:
            struck = self.proxy.hits[kind]
            self.begin(kind)
            self.at_least(count + 1)  # an action during the fault
            time.sleep(6)  # the length of the fault
            self.end(kind)
            slow[kind] = round(self.seconds_to_scale_to(count + 2), 2)
            self.assertGreater(self.proxy.hits[kind], struck, f"{kind} did not hit a request")
            count += 2
        print(f"\nfaults: seconds until the next write: {slow}")
        self.assertLessEqual(max(slow.values()), stretched(RECOVERY_MAX_S), slow)
        self.assert_invariants()

    def schedule(self):
        """Returns every kind of fault twice, with order and lengths from the seed, for about a minute in total."""
        draw = random.Random(SEED)
        kinds = [*fault_proxy.KINDS] * 2
        draw.shuffle(kinds)
        return [(kind, draw.uniform(1, 4), draw.uniform(0.2, 1.2)) for kind in kinds]

    def test_a_minute_of_faults_under_load_breaks_nothing(self):
        load = None
        for step, (kind, lasts, pause) in enumerate(self.schedule()):
            if step % 5 == 0:
                load = self.load()
            if step % 5 == 3:
                load.stop()
            self.begin(kind)
            time.sleep(lasts)
            self.end(kind)
            time.sleep(pause)
        load.stop()
        highest = max(e.body["spec"]["replicas"] for e in self.scales())
        self.assertGreater(highest, 1, "the load scaled nothing")
        self.assertLess(highest, self.LIMITS["maxReplicas"], "there is room for one more")
        self.assertLessEqual(self.seconds_to_scale_to(highest + 1), stretched(RECOVERY_MAX_S))
        self.assert_invariants()


if __name__ == "__main__":
    unittest.main()
