#!/usr/bin/env python3
"""Writes kubernetes_fields.csv from the Go types of Kubernetes' published API (Apache-2.0).

The table has the fields of all versions that are named, so that a field that only an old version has is known, too:

  versions="v0.37.2 v0.36.1 v0.35.1 v0.34.4 v0.30.0 v0.27.16 v0.23.17"
  for v in $versions; do go mod download k8s.io/api@$v k8s.io/apimachinery@$v; done
  data/lint/kubernetes_fields.py $(go env GOMODCACHE)/k8s.io $versions > data/lint/kubernetes_fields.csv
"""

import pathlib
import re
import sys

ROOTS = {
    "apps/v1": ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"],
    "batch/v1": ["Job", "CronJob"],
    "core/v1": ["Pod", "ConfigMap", "Service"],
    "autoscaling/v2": ["HorizontalPodAutoscaler"],
    "policy/v1": ["PodDisruptionBudget"],
}
# Types that are written as one JSON value, whatever their fields in Go are.
SCALARS = {
    "string": "text", "bool": "boolean", "int32": "integer", "int64": "integer", "int": "integer",
    "resource.Quantity": "any", "intstr.IntOrString": "any", "metav1.Time": "any", "metav1.MicroTime": "any",
    "types.UID": "text", "metav1.FieldsV1": "any", "Time": "any", "FieldsV1": "any", "byte": "any",
}
STRUCT = re.compile(r"^type (\w+) struct \{(.*?)^\}", re.S | re.M)
NAMED = re.compile(r"^type (\w+) (\w+|map\[\w+\][\w.]+|\[\]\w+)$", re.M)
# An embedded struct has no name of its own.
FIELD = re.compile(r'^\s+(?:(\w+)\s+)?([\w.*\[\]]+)\s+`json:"([^"]*)"', re.M)


class Api:
    def __init__(self, folder, version):
        self.sources = {}
        for package in ROOTS:
            self.sources[package] = (folder / f"api@{version}" / package / "types.go").read_text()
        self.sources["metav1"] = (folder / f"apimachinery@{version}/pkg/apis/meta/v1/types.go").read_text()
        self.structs = {}
        self.named = {}
        for package, text in self.sources.items():
            self.structs[package] = dict(STRUCT.findall(text))
            self.named[package] = dict(NAMED.findall(text))
        self.rows = {}

    def resolve(self, package, name):
        """Returns the package of a type and its name there."""
        prefix, _, rest = name.rpartition(".")
        packages = {"": package, "v1": "core/v1", "corev1": "core/v1", "metav1": "metav1"}
        return packages.get(prefix), rest

    def value(self, package, text):
        text = text.lstrip("*")
        if text in SCALARS:
            return SCALARS[text]
        if text == "[]byte":
            return "any"
        if text.startswith("[]"):
            return "list:" + self.value(package, text[2:])
        if text.startswith("map["):
            return "map:" + self.value(package, text[text.index("]") + 1:])
        package, name = self.resolve(package, text)
        if package is None:  # an API that pods only refer to, and only by alpha features
            return "any"
        if name in self.structs[package]:
            self.add(package, name)
            return self.unique(package, name)
        if name in self.named[package]:
            return self.value(package, self.named[package][name])
        raise SystemExit(f"unknown type {text} in {package}")

    def unique(self, package, name):
        """The name of a type in the table: a few names exist in two packages."""
        others = [other for other in self.structs if other != package and name in self.structs[other]]
        return package.split("/")[0] + "." + name if others else name

    def fields(self, package, name):
        for field, kind, tag in FIELD.findall(re.sub(r"//.*", "", self.structs[package][name])):
            key, _, _ = tag.partition(",")
            if key == "-":
                continue
            if not key:  # embedded: its fields are fields of this type
                where, inner = self.resolve(package, kind.lstrip("*"))
                yield from self.fields(where, inner)
            elif is_any_value(key, kind):
                yield key, "any"
            else:
                yield key, self.value(package, kind)

    def add(self, package, name):
        key = self.unique(package, name)
        if key in self.rows:
            return
        self.rows[key] = []
        self.rows[key] = list(self.fields(package, name))


def is_any_value(key, kind):
    """The status is written by controllers only, and the managed fields by the API server."""
    return key in ("status", "managedFields") or kind.endswith("RawExtension")


def main():
    folder, versions = pathlib.Path(sys.argv[1]), sys.argv[2:]
    values = {}  # by type and field; the first version has the last word
    for version in versions:
        api = Api(folder, version)
        for package, kinds in ROOTS.items():
            for kind in kinds:
                api.add(package, kind)
        for name, rows in api.rows.items():
            for field, value in rows:
                newest = values.setdefault((name, field), value)
                if value != newest:  # the field had another type, whose fields are known, too
                    for inner, kind in api.rows.get(value, []):
                        values.setdefault((newest, inner), kind)
    print("type,field,value")
    for (name, field), value in sorted(values.items()):
        print(f"{name},{field},{value}")


main()
