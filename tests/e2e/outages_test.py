"""The API server is down, has lost old versions, or lacks Capstan's definitions: `capstan run` reports and recovers."""

import http.client
import json
import ssl
import time
import unittest

import audit
import controller
import fault_proxy
import harness
from harness import eventually, stretched

RECOVERY_MAX_S = 5  # longest time between the return of the server and the next write
CRD = harness.ROOT / "deploy" / "crds" / "inferencescaler.yaml"


def compact(cluster):
    """Compacts etcd, which deletes all old versions. Returns the revision."""
    context = ssl.create_default_context(cafile=cluster.folder / "pki" / "ca.crt")
    context.load_cert_chain(cluster.folder / "pki" / "etcd-client.crt", cluster.folder / "pki" / "etcd-client.key")
    etcd = http.client.HTTPSConnection("127.0.0.1", cluster.ports()["etcd"], context=context, timeout=10)

    def ask(path, **body):
        etcd.request("POST", f"/v3/{path}", json.dumps(body), {"Content-Type": "application/json"})
        answer = etcd.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise AssertionError(f"etcd {path}: {answer.status} {text}")
        return json.loads(text)

    revision = ask("kv/range", key="AA==")["header"]["revision"]
    ask("kv/compaction", revision=revision, physical=True)
    return int(revision)


class Outages(controller.ActiveTest):
    def setUp(self):
        super().setUp()
        self.activate()

    def test_it_waits_for_an_api_server_that_is_down(self):
        process = self.start()
        self.serves(1)
        self.at_least(2)
        self.serves(2)
        self.stop_api_server()
        time.sleep(12)  # longer than the leader may write without an answer of the server
        self.assertFalse(process.ended)
        self.cluster.control_server("start", "kube-apiserver")
        ready = time.time()
        self.at_least(3)
        scaled = eventually("the controller scales again", lambda: self.scaled_to(3), seconds=40)
        self.assertLessEqual(audit.seconds(scaled.at) - ready, stretched(RECOVERY_MAX_S))
        self.serves(3)
        self.assert_invariants()

    def stop_api_server(self):
        """Stops the API server until the test starts it again. At the end of the test, restarts the cluster's
        controllers, because they would need a minute to reconnect."""
        self.cluster.control_server("kill", "kube-apiserver")
        self.addCleanup(self.cluster.control_server, "start", "kube-controller-manager")
        self.addCleanup(self.cluster.control_server, "kill", "kube-controller-manager")
        self.addCleanup(self.cluster.control_server, "start", "kube-apiserver")

    def relists(self, since):
        """Returns the requests that read all pods, without the first `since` requests for pods."""
        return [e for e in self.requests(resource="pods")[since:] if e.verb == "list" or "sendInitialEvents=true" in e.uri]

    def test_it_lists_again_after_the_server_lost_old_versions(self):
        proxy = fault_proxy.FaultProxy(self.cluster, seed=1)
        self.addCleanup(proxy.close)
        self.start(server=proxy.url)
        self.serves(1)
        before = len(self.requests(resource="pods"))
        self.assertEqual(self.relists(before), [])
        proxy.begin("cut_off")
        self.at_least(2)  # the change happens without a watch
        self.cluster.kubectl("delete", "pod", "--namespace", self.namespace, "--selector", "app=engine", "--wait=false")
        eventually("another pod is created", lambda: self.deletions() is not None and len(self.pods()) == 1)
        compact(self.cluster)
        self.stop_api_server()  # the server's watch cache is lost too
        self.cluster.control_server("start", "kube-apiserver")
        proxy.end()
        ready = time.time()
        scaled = eventually("it goes on", lambda: self.scaled_to(2), seconds=40)
        self.assertLessEqual(audit.seconds(scaled.at) - ready, stretched(RECOVERY_MAX_S))
        self.assertGreater(proxy.hits["gone"], 0, "no watch received a 410")
        self.assertNotEqual(self.relists(before), [], "the controller's old versions were still valid")
        self.serves(2)

    def test_it_names_a_missing_definition_and_waits_for_it(self):
        self.cluster.kubectl("delete", "--filename", CRD)
        self.addCleanup(self.cluster.apply, CRD)
        process = self.start()
        eventually("the controller names the missing kind", lambda: "inferencescalers" in process.text())
        line = next(json.loads(line) for line in process.text().splitlines() if "inferencescalers" in line)
        self.assertEqual(line["level"], "warning")
        self.assertIn("404", line["msg"])
        self.assertFalse(process.ended)
        self.cluster.apply(CRD)
        eventually("the definition is there", lambda: self.cluster.list("inferencescalers") == [])
        defined_at = time.time()
        self.LIMITS = {"minReplicas": 2, "maxReplicas": 4}
        self.cluster.apply(self.active_scaler())
        scaled = eventually("it goes on", lambda: self.scaled_to(2), seconds=40)
        self.assertLessEqual(audit.seconds(scaled.at) - defined_at, stretched(RECOVERY_MAX_S))
        self.serves(2)


if __name__ == "__main__":
    unittest.main()
