"""`capstan plan --out`: a real API server accepts every object of the example plans.

Definitions that the cluster lacks come from ../shared/data/crds and are removed after the tests. Each object is applied
with a server-side dry run, because the API server then also checks the rules in CEL, which the unit tests cannot.
"""

import collections
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import harness
import programs

SPECS = harness.ROOT / "docs" / "guides" / "plan"
DEFINITIONS = harness.ROOT / ".." / "shared" / "data" / "crds"
# Groups of which no definition is at hand: the Prometheus Operator's, and files for eksctl, which are no objects.
NOT_SERVED = {"monitoring.coreos.com", "eksctl.io"}

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


def is_established(cluster, name):
    conditions = cluster.get("crd", name).get("status", {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


class PlanManifests(harness.ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not DEFINITIONS.is_dir():
            raise unittest.SkipTest(f"needs {DEFINITIONS}")
        cluster = harness.cluster()
        for file in sorted(DEFINITIONS.glob("*.yaml")):
            if cluster.get("crd", file.stem):
                continue
            cluster.apply(file)
            cls.addClassCleanup(cluster.kubectl, "delete", "crd", file.stem, "--wait=false")
            harness.eventually(f"the CRD {file.stem} is established", lambda: is_established(cluster, file.stem))

    def plan(self, spec):
        """Writes the manifests of a spec and returns their folder."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=harness.FOLDER)) / "plan"
        done = subprocess.run([programs.CAPSTAN, "plan", spec, "--out", folder], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder

    def make_namespace(self, name):
        if self.cluster.get("namespace", name):
            return
        self.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.addCleanup(self.cluster.kubectl, "delete", "namespace", name, "--wait=false")

    def accept(self, planned):
        """Applies an object in a dry run, and waits while the API server still learns of a new definition."""
        deadline = time.monotonic() + harness.stretched(30)
        while True:
            try:
                return self.cluster.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server",
                                            "--validate=strict", "--filename", "-", given=planned.text)
            except AssertionError as error:
                if "no matches for kind" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(harness.POLL_S)

    def test_every_object_of_the_example_plans_is_accepted(self):
        specs = sorted(SPECS.glob("*.yaml"))
        self.assertEqual(len(specs), 3)
        for spec in specs:
            objects = objects_of(self.plan(spec))
            self.assertGreater(len(objects), 15)
            for namespace in {planned.namespace for planned in objects} - {None}:
                self.make_namespace(namespace)
            kinds = {(planned.group, planned.kind) for planned in objects}
            for wanted in (("karpenter.sh", "NodePool"), ("scheduling.run.ai", "Queue"),
                           ("kueue.x-k8s.io", "ClusterQueue")):
                self.assertIn(wanted, kinds)
            for planned in objects:
                if planned.group in NOT_SERVED:
                    continue
                with self.subTest(spec=spec.name, file=str(planned.file), kind=planned.kind, name=planned.name):
                    self.accept(planned)


class PlanFields(unittest.TestCase):
    def test_a_field_is_read_where_it_is(self):
        text = ('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "a"\n  labels:\n    name: b\n'
                'data:\n  namespace: c\n')
        self.assertEqual(field(text, "kind"), "ConfigMap")
        self.assertEqual(field(text, "metadata.name"), "a")
        self.assertIsNone(field(text, "metadata.namespace"))


if __name__ == "__main__":
    unittest.main()
