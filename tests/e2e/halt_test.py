"""The kill switch during the binding of a gang: that bind is completed, and no other bind starts."""

import unittest

import audit
import controller
import fault_proxy
import objects
from harness import eventually, stretched


class Halt(controller.OnAPool):
    def setUp(self):
        super().setUp()
        self.install("permissions.placement=true", "permissions.nodes=true")
        labels = {"karpenter.sh/nodepool": self.pool, "nvidia.com/gpu.product": "h100_sxm"}
        self.cluster.apply(objects.gpu_node(f"{self.pool}-node", gpus=16, labels=labels))  # room for two gangs
        self.addCleanup(self.cluster.kubectl, "delete", "node", f"{self.pool}-node", "--wait=false")
        self.proxy = fault_proxy.FaultProxy(self.cluster, seed=1)
        self.addCleanup(self.proxy.close)

    def gang(self, name, gpus):
        """Creates a gang of four pods."""
        pods = [objects.gang_pod(f"{name}-{i}", self.namespace, self.pool, 4, gpus, {"capstan.dev/gang": name})
                for i in range(4)]
        self.cluster.apply(*pods)

    def names_of_bound(self):
        return sorted(e.name for e in self.bindings())

    def halt_seen(self):
        """Returns the time of the first status write with condition Halted."""
        writes = self.cluster.audit.writes(user=self.user, resource="fleetpolicies", subresource="status")
        return next((e.at for e in writes if ("Halted", "True") in {
            (c["type"], c["status"]) for c in e.body["status"].get("conditions", [])}), None)

    def test_a_started_bind_is_completed_and_no_other_starts(self):
        self.begin()
        self.start(server=self.proxy.url)
        self.proxy.begin("held_bindings")
        self.gang("first", gpus=2)
        eventually("its first pod is about to be bound", lambda: self.proxy.hits["held_bindings"] > 0, seconds=90)
        halted = self.halt("true")
        seen = eventually("the switch is seen", self.halt_seen)
        self.assertEqual(self.bindings(), [])
        self.gang("second", gpus=2)  # fits on the existing node
        self.gang("third", gpus=8)  # needs new nodes
        self.proxy.end()
        first = [f"first-{i}" for i in range(4)]
        eventually("the first gang is bound", lambda: self.names_of_bound() == first)
        self.assertGreater(min(e.at for e in self.bindings()), seen)
        self.decides(3)
        late_writes = {(e.resource, e.subresource, e.name) for e in self.cluster.audit.writes(user=self.user)
                       if audit.seconds(e.at) > halted + stretched(1) and e.resource not in controller.ALWAYS_WRITTEN}
        self.assertLessEqual(late_writes, {("pods", "binding", name) for name in first}, "something else was begun")
        self.assertEqual(self.created_claims(), [])
        self.halt("false")
        eventually("the second gang is bound", lambda: {f"second-{i}" for i in range(4)} <= {*self.names_of_bound()})
        eventually("nodes are bought for the third", self.created_claims)


if __name__ == "__main__":
    unittest.main()
