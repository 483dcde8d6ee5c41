"""`capstan plan --out`: a real API server accepts every object of the plans, `capstan lint --advice` finds nothing in
them, and Prometheus accepts their rules.

The specs are those of the guides and of tests/plan/specs: other clouds, provisioners, gang schedulers and engines.
Definitions that the cluster lacks come from ../shared/data/crds, and those of the Prometheus Operator from its Go module
(Apache-2.0, pinned in tests/e2e/monitoring). They are removed after the tests. Each object is applied with a server-side
dry run, because the API server then also checks the rules in CEL, which the unit tests cannot.
"""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import harness
import programs

SPECS = harness.ROOT / "docs" / "guides" / "plan"
MORE_SPECS = harness.ROOT / "tests" / "plan" / "specs"
DEFINITIONS = harness.ROOT / ".." / "shared" / "data" / "crds"
# Groups that the test server does not know: no registry has the CRDs of Karpenter for Azure, so node_class_test.cc has the
# rules for their fields, and eksctl's files are no objects of a cluster.
NOT_SERVED = {"eksctl.io", "karpenter.azure.com"}
OPERATOR = "github.com/prometheus-operator/prometheus-operator"
MONITORING = "monitoring.coreos.com"
MONITORING_KINDS = ("podmonitors", "servicemonitors", "prometheusrules")

# scripts/setup unpacks promtool next to the Prometheus of the other tests.
PROMTOOL = shutil.which("promtool") or harness.ROOT / "build" / "prometheus" / "usr" / "bin" / "promtool"

PlannedObject = collections.namedtuple("PlannedObject", "file group kind name namespace text")


def field(text, path):
    """Returns a scalar of a block-style document of the plan: `metadata.name`."""
    *above, key = path.split(".")
    if above:
        match = re.search(rf"^{above[0]}:\n((?:  .*\n)+)", text, re.MULTILINE)
        text = re.sub(r"^  ", "", match[1], flags=re.MULTILINE) if match else ""
    match = re.search(rf"^{key}: \"?([^\"\n]*)\"?$", text, re.MULTILINE)
    return match[1] if match else None


def objects_of(folder):
    """Returns the Kubernetes objects of the manifests of a plan."""
    found = []
    for file in sorted(folder.rglob("*.yaml")):
        for text in re.split(r"^---\n", file.read_text(), flags=re.MULTILINE):
            version, kind = field(text, "apiVersion"), field(text, "kind")
            if version and kind:
                group = version.partition("/")[0] if "/" in version else ""
                found.append(PlannedObject(file.relative_to(folder), group, kind, field(text, "metadata.name"),
                                   field(text, "metadata.namespace"), text))
    return found


def write_plan(test, spec):
    """Writes the manifests of a spec and returns their folder."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=harness.FOLDER)) / "plan"
    done = subprocess.run([programs.CAPSTAN, "plan", spec, "--out", folder], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300)
    test.assertEqual(done.returncode, 0, done.stderr)
    return folder


def rule_file(planned):
    """Returns the spec of a PrometheusRule, which is a rule file of Prometheus."""
    spec = re.search(r"^spec:\n((?:  .*\n)+)", planned.text, re.MULTILINE)[1]
    return re.sub(r"^  ", "", spec, flags=re.MULTILINE)


def monitoring_definition_paths():
    """Returns the definitions of the Prometheus Operator, from the cache of Go's modules or from their proxy."""
    try:
        done = subprocess.run(["go", "-C", harness.ROOT / "tests" / "e2e" / "monitoring", "mod", "download", "-json",
                               OPERATOR], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    except FileNotFoundError as error:
        raise unittest.SkipTest("needs Go, to read the module of the Prometheus Operator") from error
    if done.returncode != 0:
        raise unittest.SkipTest(f"needs the module of the Prometheus Operator: {done.stdout}{done.stderr}")
    folder = pathlib.Path(json.loads(done.stdout)["Dir"]) / "example" / "prometheus-operator-crd"
    return [folder / f"{MONITORING}_{kind}.yaml" for kind in MONITORING_KINDS]


def is_terminating(cluster, name):
    definition = cluster.get("crd", name)
    return bool(definition) and "deletionTimestamp" in definition["metadata"]


def is_established(cluster, name):
    conditions = cluster.get("crd", name).get("status", {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


class PlanManifests(harness.ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not DEFINITIONS.is_dir():
            raise unittest.SkipTest(f"needs {DEFINITIONS}")
        for file in sorted(DEFINITIONS.glob("*.yaml")):
            cls.define(file, file.stem)
        for file, kind in zip(monitoring_definition_paths(), MONITORING_KINDS):
            cls.define(file, f"{kind}.{MONITORING}")

    @classmethod
    def define(cls, file, name):
        """Installs a definition that the cluster lacks, until the tests end."""
        cluster = harness.cluster()
        # An earlier test may have deleted the definition a moment ago.
        harness.eventually(f"the CRD {name} does not terminate", lambda: not is_terminating(cluster, name))
        if cluster.get("crd", name):
            return
        cluster.apply(file)
        cls.addClassCleanup(cluster.kubectl, "delete", "crd", name, "--wait=false")
        harness.eventually(f"the CRD {name} is established", lambda: is_established(cluster, name))

    def make_namespace(self, name):
        if self.cluster.get("namespace", name):
            return
        self.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.addCleanup(self.cluster.kubectl, "delete", "namespace", name, "--wait=false")

    def accept(self, text):
        """Applies objects in a dry run, and waits while the API server still learns of a new definition."""
        deadline = time.monotonic() + harness.stretched(30)
        while True:
            try:
                return self.cluster.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server",
                                            "--validate=strict", "--filename", "-", given=text)
            except AssertionError as error:
                if "no matches for kind" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(harness.POLL_S)

    def accept_all(self, spec, objects):
        """Applies the objects with one call of kubectl. If that fails, each object alone, to name the wrong ones."""
        try:
            return self.accept("---\n".join(planned.text for planned in objects))
        except AssertionError:
            for planned in objects:
                with self.subTest(spec=spec.name, file=str(planned.file), kind=planned.kind, name=planned.name):
                    self.accept(planned.text)
            raise

    def check(self, spec):
        """Writes the plan of a spec. Checks that the API server and lint accept its objects, and returns the groups and
        kinds of the objects."""
        folder = write_plan(self, spec)
        objects = objects_of(folder)
        self.assertGreater(len(objects), 15)
        for namespace in {planned.namespace for planned in objects} - {None}:
            self.make_namespace(namespace)
        self.accept_all(spec, [planned for planned in objects if planned.group not in NOT_SERVED])
        linted = subprocess.run([programs.CAPSTAN, "lint", "--advice", folder], stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(linted.returncode, 0, linted.stdout + linted.stderr)
        self.assertTrue(linted.stdout.startswith("no finding in"), linted.stdout)
        return {(planned.group, planned.kind) for planned in objects}

    def test_every_object_of_the_example_plans_is_accepted(self):
        specs = sorted(SPECS.glob("*.yaml"))
        self.assertEqual(len(specs), 3)
        for spec in specs:
            with self.subTest(spec=spec.name):
                kinds = self.check(spec)
                for wanted in (("karpenter.sh", "NodePool"), ("scheduling.run.ai", "Queue"),
                               ("kueue.x-k8s.io", "ClusterQueue")):
                    self.assertIn(wanted, kinds)

    def test_every_object_of_other_clouds_engines_and_schedulers_is_accepted(self):
        specs = sorted(MORE_SPECS.glob("*.yaml"))
        self.assertGreaterEqual(len(specs), 11)
        found = set()
        for spec in specs:
            with self.subTest(spec=spec.name):
                found |= self.check(spec)
        for wanted in (("karpenter.azure.com", "AKSNodeClass"), ("karpenter.k8s.aws", "EC2NodeClass"),
                       (MONITORING, "PodMonitor"), (MONITORING, "ServiceMonitor"), (MONITORING, "PrometheusRule"),
                       ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"), ("kueue.x-k8s.io", "Topology"),
                       ("kueue.x-k8s.io", "LocalQueue"), ("kueue.x-k8s.io", "ResourceFlavor"),
                       ("kai.scheduler", "Topology"), ("karpenter.sh", "NodeOverlay"), ("keda.sh", "ScaledObject"),
                       ("autoscaling.x-k8s.io", "CapacityBuffer"), ("capstan.dev", "InferenceScaler")):
            self.assertIn(wanted, found)


class PlanRules(unittest.TestCase):
    """The alerts of the example plans, loaded by promtool."""

    BURNS = {"TtftBudgetBurnsFast": "page", "TtftBudgetBurnsSlowly": "ticket", "TtftP99AboveSlo": "page"}

    def setUp(self):
        if not pathlib.Path(PROMTOOL).exists():
            self.skipTest("needs promtool; scripts/setup --dev unpacks it")
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=harness.FOLDER))

    def promtool(self, *words):
        done = subprocess.run([PROMTOOL, *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def rules_of(self, spec):
        """Writes the rule files of a plan, and returns their names by the name of the object."""
        names = {}
        for planned in objects_of(write_plan(self, spec)):
            if planned.kind == "PrometheusRule":
                names[planned.name] = f"{spec.stem}-{planned.name}.yaml"
                (self.folder / names[planned.name]).write_text(rule_file(planned))
        return names

    def test_prometheus_loads_the_rules_of_the_example_plans(self):
        for spec in sorted(SPECS.glob("*.yaml")):
            names = self.rules_of(spec)
            self.assertGreaterEqual(len(names), 2)  # of a service, and of the cluster
            for name in names.values():
                with self.subTest(file=name):
                    self.assertRegex(self.promtool("check", "rules", name), r"SUCCESS: [1-9]\d* rules found")

    def test_the_alerts_fire_while_first_tokens_are_late_and_only_then(self):
        names = self.rules_of(SPECS / "llama-70b-h100.yaml")
        text = (self.folder / names["chat"]).read_text()
        tests = [self.first_tokens(text, late) for late in (True, False)]
        # promtool reads YAML, of which JSON is a part.
        (self.folder / "test.json").write_text(json.dumps(
            {"rule_files": [names["chat"]], "evaluation_interval": "1m", "tests": tests}))
        self.promtool("test", "rules", "test.json")

    def first_tokens(self, rules, late):
        """Returns a test of promtool: two hours with 60 first tokens a minute, all of which take 3 s, or 0.3 s."""
        counts = {"0.5": 0 if late else 60, "2.5": 0 if late else 60, "5.0": 60, "+Inf": 60}
        labels = 'namespace="inference",app_kubernetes_io_name="chat",pod="chat-7d9f8b6c9-x2k4z"'
        series = [{"series": f'vllm:time_to_first_token_seconds_bucket{{{labels},le="{bound}"}}',
                   "values": f"0+{count}x120"} for bound, count in counts.items()]
        alerts = []
        for name, severity in self.BURNS.items():
            summary = re.search(rf"- alert: {name}\n(?: .*\n)*? +summary: (.*)\n", rules)[1].strip('"')
            fired = {"exp_labels": {"service": "chat", "severity": severity}, "exp_annotations": {"summary": summary}}
            alerts.append({"eval_time": "2h", "alertname": name, "exp_alerts": [fired] if late else []})
        return {"name": "late" if late else "in time", "interval": "1m", "input_series": series,
                "alert_rule_test": alerts}


class PlanFields(unittest.TestCase):
    def test_a_field_is_read_where_it_is(self):
        text = ('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "a"\n  labels:\n    name: b\n'
                'data:\n  namespace: c\n')
        self.assertEqual(field(text, "kind"), "ConfigMap")
        self.assertEqual(field(text, "metadata.name"), "a")
        self.assertIsNone(field(text, "metadata.namespace"))


if __name__ == "__main__":
    unittest.main()
