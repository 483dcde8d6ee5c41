"""The Helm chart and the image that users install."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness

CHART = harness.ROOT / "deploy" / "chart" / "capstan"
CONTAINERFILE = harness.ROOT / "deploy" / "Containerfile"
END_AND_BEGIN = "}\n{"  # kubectl prints one object after another
VALUES = [
    [],
    ["permissions.placement=true", "permissions.nodes=true"],
    ["permissions.replicas=true", "scaleTargets[0].group=example.com", "scaleTargets[0].resource=engines"],
    ["serviceAccount.create=false"],
    ["replicas=1"],
    ["podDisruptionBudget.enabled=false"],
    ["ui.enabled=true", "ui.port=9000", "ui.hosts={dash.example,dash}"],
    ["networkPolicy.enabled=true", "networkPolicy.enginePorts={443,8000,9090}"],
    ["image.tag=1.2.3", "image.pullSecrets[0].name=registry", "podAnnotations.team=inference", "priorityClassName=high",
     "nodeSelector.pool=system", "tolerations[0].operator=Exists", "serviceAccount.annotations.role=capstan"],
]


def options(values):
    return [word for value in values for word in ("--set", value)]


def all_values():
    """Returns values.yaml as a dictionary, as Helm reads it."""
    with tempfile.TemporaryDirectory() as folder:
        chart = pathlib.Path(folder)
        (chart / "Chart.yaml").write_text("{apiVersion: v2, name: values, version: 0.0.0}")
        (chart / "values.yaml").write_text((CHART / "values.yaml").read_text())
        (chart / "templates").mkdir()
        (chart / "templates" / "all.yaml").write_text("{{ toJson .Values }}")
        return json.loads(harness.helm("template", "values", folder).splitlines()[-1])


def table_rows(schema, values, prefix=""):
    """Returns the rows for the table of README.md, from values.schema.json and values.yaml."""
    for name, about in schema["properties"].items():
        if "properties" in about:
            yield from table_rows(about, values[name], f"{prefix}{name}.")
        else:
            yield f"| `{prefix}{name}` | `{json.dumps(values[name])}` | {about['description']} |"


class Chart(unittest.TestCase):
    def test_helm_lint_passes(self):
        for values in VALUES:
            with self.subTest(values=values):
                harness.helm("lint", "--strict", "--quiet", CHART, *options(values))

    def test_an_unknown_value_is_an_error(self):
        for wrong in ("replica=3", "replicas=0", "permissions.node=true", "metricsPort=http"):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(AssertionError, "don't meet the specifications"):
                harness.helm("template", "capstan", CHART, "--set", wrong)

    def test_the_readme_lists_every_value(self):
        schema = json.loads((CHART / "values.schema.json").read_text())
        listed = [line for line in (CHART / "README.md").read_text().splitlines() if line.startswith("| `")]
        self.assertEqual("\n".join(listed), "\n".join(table_rows(schema, all_values())))

    def test_the_chart_has_the_definitions(self):
        shown = harness.helm("show", "crds", CHART)
        self.assertEqual(shown.count("kind: CustomResourceDefinition"),
                         len(list((harness.ROOT / "deploy" / "crds").glob("*.yaml"))))


class Rendered(harness.ClusterTest):
    def render(self, *values):
        """Returns the objects as the API server would store them."""
        manifest = harness.helm("template", "capstan", CHART, "--namespace", self.namespace, *options(values))
        text = self.cluster.kubectl("create", "--validate=strict", "--dry-run=server", "--output", "json", "--filename",
                                    "-", given=manifest)
        return json.loads(f"[{text.replace(END_AND_BEGIN, '},{')}]")

    def test_the_api_server_accepts_the_rendered_objects(self):
        for values in VALUES:
            with self.subTest(values=values):
                kinds = {item["kind"] for item in self.render(*values)}
                self.assertEqual({"Deployment", "Service", "ClusterRole", "Role"} - kinds, set())

    def test_a_node_drain_evicts_one_of_several_replicas_at_a_time(self):
        def budgets(*values):
            return [item["spec"] for item in self.render(*values) if item["kind"] == "PodDisruptionBudget"]

        self.assertEqual([spec["maxUnavailable"] for spec in budgets()], [1])
        self.assertEqual(budgets("replicas=1"), [])
        self.assertEqual(budgets("podDisruptionBudget.enabled=false"), [])

    def test_shadow_may_write_only_status_events_and_its_state(self):
        self.assertEqual(self.writes(), {
            "fleetpolicies/status patch", "inferencescalers/status patch", "queues/status patch", "events create",
            "events patch", "leases create", "leases patch", "configmaps create", "configmaps patch"})

    def test_each_permission_is_a_value(self):
        self.assertEqual(self.writes("permissions.replicas=true") - self.writes(), {
            "deployments/scale patch", "statefulsets/scale patch", "leaderworkersets/scale patch", "pods patch",
            "pods/status patch"})
        self.assertEqual(self.writes("permissions.placement=true") - self.writes(), {
            "pods/binding create", "pods/eviction create", "pods patch", "pods delete", "pods/status patch"})
        self.assertEqual(self.writes("permissions.nodes=true") - self.writes(), {
            "nodeclaims create", "nodeclaims delete", "nodeclaims patch", "nodes patch"})
        self.assertEqual(self.writes("ui.enabled=true") - self.writes(), {
            "tokenreviews create", "subjectaccessreviews create"})

    def test_the_page_is_off_unless_it_is_enabled(self):
        def arguments(*values):
            containers = [item["spec"]["template"]["spec"]["containers"] for item in self.render(*values)
                          if item["kind"] == "Deployment"]
            return " ".join(containers[0][0]["args"])

        self.assertNotIn("--ui", arguments())
        shown = arguments("ui.enabled=true", "ui.hosts={dash.example}")
        self.assertTrue(shown.endswith("--ui=127.0.0.1:8081 --ui-host=dash.example"), shown)

    def writes(self, *values):
        rules = [rule for item in self.render(*values) for rule in item.get("rules") or []]
        return {f"{resource} {verb}" for rule in rules for resource in rule.get("resources", []) for verb in rule["verbs"]
                if verb not in ("get", "list", "watch")}


class Image(unittest.TestCase):
    def test_the_image_has_the_libraries_of_the_program(self):
        program = harness.ROOT / "build" / "dev" / "capstan"
        needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.check_output(["readelf", "--dynamic", program], text=True))
        paths = dict(re.findall(r"(\S+) => (/\S+)", subprocess.check_output(["ldd", program], text=True)))
        packages = {self.package_of(paths[name]) for name in needed} - {"libc6", "libgcc-s1"}  # in every Debian image
        listed = re.search(r"--no-install-recommends ([^&]*)", CONTAINERFILE.read_text())[1]
        installed = listed.replace("\\", "").split()
        self.assertEqual(set(installed), packages | {"ca-certificates"})

    def package_of(self, path):
        for name in (path, f"/usr{path}"):  # /lib is a link to /usr/lib, and packages list one of the two
            found = subprocess.run(["dpkg", "--search", name], capture_output=True, text=True)
            if found.returncode == 0:
                return found.stdout.split(":")[0]
        raise AssertionError(f"no package has {path}")


if __name__ == "__main__":
    unittest.main()
