"""`capstan run` in Active, with the chart's own permissions: what the audit log tells of its writes and their order."""

import unittest

import controller
import objects
from harness import eventually

GATE = "capstan.dev/serving"


class Active(controller.ControllerTest):
    POD = {"readinessGates": [{"conditionType": GATE}]}

    def setUp(self):
        super().setUp()
        self.install("permissions.replicas=true")
        self.addCleanup(self.cluster.kubectl, "delete", "fleetpolicy", "default", "--ignore-not-found")
        self.cluster.apply(objects.fleet_policy(layers={"replicas": "Active"}))
        self.cluster.apply(controller.chat(self.namespace, mode="Active", behavior={"coolDown": "1s"}))
        self.start()
        eventually("the replica is let into the router", lambda: self.workload()["status"].get("readyReplicas") == 1)

    def workload(self):
        return self.cluster.get("deployment", "engine", self.namespace)

    def replicas(self):
        return self.workload()["spec"]["replicas"]

    def scales(self):
        return self.cluster.audit.writes(user=self.user, resource="deployments", subresource="scale")

    def deletions(self, count):
        """Deletions of pods by their ReplicaSet's controller, once there are so many."""
        found = [e for e in self.cluster.audit.writes(namespace=self.namespace, resource="pods", verb="delete")
                 if "replicaset-controller" in e.user]
        return found if len(found) >= count else None

    def gates(self, status):
        """Writes that let a pod into the router ("True"), or take it out ("False")."""
        return [e for e in self.cluster.audit.writes(user=self.user, resource="pods", subresource="status")
                if [c["status"] for c in e.body["status"]["conditions"] if c["type"] == GATE] == [status]]

    def halt(self, whether):
        self.cluster.kubectl("patch", "fleetpolicy", "default", "--type", "merge", "--patch",
                             f'{{"spec": {{"halt": {whether}}}}}')

    def scale_up(self):
        load = self.load()
        eventually("the target is scaled up", lambda: self.replicas() > 1)
        eventually("every replica serves", lambda: self.workload()["status"].get("readyReplicas") == self.replicas())
        return load

    def test_a_load_step_becomes_replicas_and_night_drains_them(self):
        load = self.scale_up()
        for write in self.scales():
            self.assertIn("resourceVersion", write.body["metadata"], "a write without its precondition")
        created = self.cluster.audit.writes(namespace=self.namespace, resource="pods", verb="create", subresource="")
        self.assertEqual({e.user for e in created}, {"system:serviceaccount:kube-system:replicaset-controller"})
        self.assertGreater(created[1].at, self.scales()[0].at)
        load.stop()
        eventually("one replica is left", lambda: self.replicas() == 1)
        lowered = [e for e in self.scales() if e.body["spec"]["replicas"] == 1][-1]
        drained = {e.name for e in self.gates("False") if e.at < lowered.at}
        deleted = {e.name for e in eventually("the others are deleted", lambda: self.deletions(len(created) - 1))}
        self.assertEqual(deleted - drained, set(), "a replica was cut without a drain")
        self.assertEqual([e for e in self.audit() if e.code == 403], [])

    def test_halt_stops_every_write_but_what_is_shown(self):
        load = self.scale_up()
        self.halt("true")
        halted = self.cluster.audit.writes(resource="fleetpolicies", verb="patch", user="admin")[-1].at
        load.stop()
        eventually("fewer are recommended", lambda: self.status()["recommended"] < self.replicas())
        late = [e for e in self.cluster.audit.writes(user=self.user) if e.at > halted and
                e.resource not in ("inferencescalers", "events", "leases", "configmaps")]
        self.assertEqual(late, [])
        self.halt("false")
        eventually("it goes on", lambda: self.replicas() == 1)


if __name__ == "__main__":
    unittest.main()
