"""Two controllers of one cluster: only the leader writes."""

import re
import signal
import unittest

import audit
import controller
from harness import eventually, stretched

LEASE_S = 15  # the duration of the Lease
TAKES_OVER_S = LEASE_S + 5  # the standby reads the Lease every 2 to 2.5 seconds
COOL_DOWN_S = 45


class Leaders(controller.ActiveTest):
    LONG = True

    def setUp(self):
        super().setUp()
        self.activate(cool_down=f"{COOL_DOWN_S}s")
        self.old = self.start("first")
        self.serves(1)
        self.new = self.start("second")
        eventually("the standby knows everything", lambda: "all objects are known" in self.new.text())

    def written_by(self, process):
        return [e for e in self.cluster.audit.writes(user=self.user) if e.credential == process.credential]

    def lease_write_of(self, process):
        """Returns the write by which a process took the Lease, or None if it has not taken it."""
        writes = [e for e in self.written_by(process) if e.resource == "leases"]
        return writes[0] if writes else None

    def scaled_up(self):
        return next((e for e in self.scales() if e.body["spec"]["replicas"] > 1), None)

    def assert_one_writer(self, until):
        """Checks that the writes of the first leader end before the Lease of the second one starts."""
        first, second = self.written_by(self.old), self.written_by(self.new)
        self.assertLess(max(e.at for e in first), until.at, "the old leader wrote under the new one's Lease")
        self.assertEqual(min(e.at for e in second), until.at, "the standby wrote before it led")

    def test_a_killed_leader_has_a_successor_that_remembers(self):
        load = self.load()
        scale_up = eventually("a scale-up has begun", self.scaled_up)
        self.old.signal(signal.SIGKILL)  # the new replicas do not serve yet
        eventually("the old leader has ended", lambda: self.old.ended)
        load.stop()  # from now on only the stored state keeps the replicas
        takeover = eventually("the standby leads", lambda: self.lease_write_of(self.new), seconds=TAKES_OVER_S + 5)
        last = max(e.at for e in self.written_by(self.old) if e.resource == "leases")
        self.assertLessEqual(audit.seconds(takeover.at) - audit.seconds(last), stretched(TAKES_OVER_S))
        eventually("the new leader reads the checkpoint",
                   lambda: re.search(r"checkpoint of [1-9]\d* target", self.new.text()))
        scale_down = eventually("the new leader scales down", lambda: [
            e for e in self.scales() if e.credential == self.new.credential and e.body["spec"]["replicas"] == 1],
            seconds=COOL_DOWN_S + 60)[0]
        self.assertGreater(audit.seconds(scale_down.at) - audit.seconds(scale_up.at), COOL_DOWN_S - 10 + 5,
                           "the new leader ignored the checkpoint and scaled down at once")
        self.assert_one_writer(takeover)
        self.assert_invariants()

    def test_a_leader_that_was_suspended_too_long_stops_writing(self):
        self.at_least(2)
        eventually("the first leader scales", lambda: self.scaled_to(2))
        self.at_least(3)  # work for the next leader
        self.old.signal(signal.SIGSTOP)
        self.addCleanup(self.old.signal, signal.SIGCONT)
        takeover = eventually("the standby leads", lambda: self.lease_write_of(self.new), seconds=TAKES_OVER_S + 5)
        eventually("the new leader scales", lambda: self.scaled_to(3))
        self.at_least(4)
        asked = len(self.requests(resource="leases", verb="get"))
        self.old.signal(signal.SIGCONT)
        eventually("the old leader knows that it no longer leads", lambda: "no longer leads" in self.old.text())
        eventually("the old leader is standby", lambda: [
            e for e in self.requests(resource="leases", verb="get")[asked:] if e.credential == self.old.credential])
        eventually("the new leader scales again", lambda: self.scaled_to(4))
        self.serves(4)
        self.assert_one_writer(takeover)
        self.assertEqual([e.body["spec"]["replicas"] for e in self.scales()], [2, 3, 4])
        self.assert_invariants()


if __name__ == "__main__":
    unittest.main()
