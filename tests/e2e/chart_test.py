"""The Helm chart and the image: what users install is what was tested."""

import itertools
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness

CHART = harness.ROOT / "deploy" / "chart" / "capstan"
CONTAINERFILE = harness.ROOT / "deploy" / "Containerfile"
VALUES = [
    [],
    ["permissions.replicas=true", "scaleTargets[0].group=example.com", "scaleTargets[0].resource=engines"],
    ["namespace=models", "permissions.replicas=true"],
    ["serviceAccount.create=false"],
    ["networkPolicy.enabled=true", "networkPolicy.enginePorts={443,8000,9090}"],
    ["image.tag=1.2.3", "image.pullSecrets[0].name=registry", "podAnnotations.team=inference", "priorityClassName=high",
     "nodeSelector.pool=system", "tolerations[0].operator=Exists", "serviceAccount.annotations.role=capstan"],
]


def options(values):
    return [word for value in values for word in ("--set", value)]


def all_values():
    """values.yaml as a dictionary, read by Helm itself."""
    with tempfile.TemporaryDirectory() as folder:
        chart = pathlib.Path(folder)
        (chart / "Chart.yaml").write_text("{apiVersion: v2, name: values, version: 0.0.0}")
        (chart / "values.yaml").write_text((CHART / "values.yaml").read_text())
        (chart / "templates").mkdir()
        (chart / "templates" / "all.yaml").write_text("{{ toJson .Values }}")
        return json.loads(harness.helm("template", "values", folder).splitlines()[-1])


def table_rows(schema, values, prefix=""):
    """The table of README.md, as it follows from values.schema.json and values.yaml."""
    for name, about in schema["properties"].items():
        if "properties" in about:
            yield from table_rows(about, values[name], f"{prefix}{name}.")
        else:
            yield f"| `{prefix}{name}` | `{json.dumps(values[name])}` | {about['description']} |"


class Chart(unittest.TestCase):
    def test_helm_finds_nothing_wrong(self):
        for values in VALUES:
            with self.subTest(values=values):
                harness.helm("lint", "--strict", "--quiet", CHART, *options(values))

    def test_a_value_that_is_not_there_is_refused(self):
        for wrong in ("replica=3", "replicas=0", "permissions.nodes=true", "metricsPort=http"):
            with self.subTest(wrong=wrong), self.assertRaises(AssertionError):
                harness.helm("template", "capstan", CHART, "--set", wrong)

    def test_the_readme_lists_every_value(self):
        schema = json.loads((CHART / "values.schema.json").read_text())
        listed = [line for line in (CHART / "README.md").read_text().splitlines() if line.startswith("| `")]
        self.assertEqual("\n".join(listed), "\n".join(table_rows(schema, all_values())))

    def test_the_definitions_come_with_it(self):
        shown = harness.helm("show", "crds", CHART)
        self.assertEqual(shown.count("kind: CustomResourceDefinition"),
                         len(list((harness.ROOT / "deploy" / "crds").glob("*.yaml"))))

    def test_without_permissions_nothing_but_status_is_written(self):
        granted = re.findall(r"resources: \[(.*)\]\s+(?:resourceNames: .*\s+)?verbs: \[(.*)\]", harness.helm(
            "template", "capstan", CHART))
        writes = {(resource, verb) for resources, verbs in granted for resource, verb in itertools.product(
            resources.split(", "), verbs.split(", ")) if verb not in ("get", "list", "watch")}
        self.assertEqual(writes, {("inferencescalers/status", "patch"), ("events", "create"), ("events", "patch"),
                                  ("leases", "create"), ("leases", "patch")})


class Rendered(harness.ClusterTest):
    def test_the_api_server_takes_what_it_renders(self):
        self.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "models"}})
        for values in VALUES:
            with self.subTest(values=values):
                manifest = harness.helm("template", "capstan", CHART, "--namespace", self.namespace, *options(values))
                self.cluster.kubectl("create", "--validate=strict", "--dry-run=server", "--filename", "-", given=manifest)


class Image(unittest.TestCase):
    def test_it_has_the_libraries_that_the_program_loads(self):
        program = harness.ROOT / "build" / "dev" / "capstan"
        needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.check_output(["readelf", "--dynamic", program], text=True))
        paths = dict(re.findall(r"(\S+) => (/\S+)", subprocess.check_output(["ldd", program], text=True)))
        packages = {self.package_of(paths[name]) for name in needed} - {"libc6", "libgcc-s1"}  # these are everywhere
        installed = re.search(r"--no-install-recommends ([^&]*)", CONTAINERFILE.read_text())[1].replace("\\", "").split()
        self.assertEqual(set(installed), packages | {"ca-certificates"})

    def package_of(self, path):
        for name in (path, f"/usr{path}"):  # /lib is a link to /usr/lib, and packages know one of the two
            found = subprocess.run(["dpkg", "--search", name], capture_output=True, text=True)
            if found.returncode == 0:
                return found.stdout.split(":")[0]
        raise AssertionError(f"no package has {path}")


if __name__ == "__main__":
    unittest.main()
