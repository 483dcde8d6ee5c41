"""Capstan's kinds at a real API server: rejected objects and their messages, defaults, and the examples."""

import json
import unittest

import harness
import objects

EXAMPLES = harness.ROOT / "deploy" / "examples"
LEADER_WORKER_SETS = "leaderworkersets.leaderworkerset.x-k8s.io"

# Faults of an object: the path, the wrong value (None: the field is missing), and the message of the server.
SCALER_FAULTS = [
    ("spec.modle", "chat", 'unknown field "spec.modle"'),
    ("spec.roles.0.variants.0.min", 1, 'unknown field "spec.roles[0].variants[0].min"'),
    ("spec.warm", {}, 'unknown field "spec.warm"'),
    ("spec", None, "spec: Required value"),
    ("spec.model", None, "spec.model: Required value"),
    ("spec.model", "", "spec.model in body should be at least 1 chars long"),
    ("spec.engine", "llama.cpp", 'Unsupported value: "llama.cpp"'),
    ("spec.slo", {}, "state at least one of ttft, tpot and e2e"),
    ("spec.slo.ttft", "2 seconds", "spec.slo.ttft in body should match"),
    ("spec.slo.attainment", "101%", "spec.slo.attainment in body should match"),
    ("spec.roles", [], "spec.roles in body should have at least 1 items"),
    ("spec.roles.0.role", "prefill",
     'spec.roles must be either one role "both", or the two roles "prefill" and "decode"'),
    ("spec.roles.1", objects.role("decode", "more"),
     'spec.roles must be either one role "both", or the two roles "prefill" and "decode"'),
    ("spec.roles.1", objects.role("both", "more"), "Duplicate value"),
    ("spec.decodePerPrefill", {"max": "4"},
     "decodePerPrefill needs the roles prefill and decode, each with one variant"),
    ("spec.decodePerPrefill", {}, "state min, max or both"),
    ("spec.decodePerPrefill", {"min": "4", "max": "0.5"}, "min must not be above max"),
    ("spec.decodePerPrefill", {"max": "four"}, "spec.decodePerPrefill.max in body should match"),
    ("spec.roles.0.variants.0.targetRef.name", None, "targetRef.name: Required value"),
    ("spec.roles.0.variants.0.minReplicas", 9, "minReplicas must not be above maxReplicas"),
    ("spec.roles.0.variants.0.minReplicas", 0, "should be greater than or equal to 1"),
    ("spec.roles.0.variants.0.windows", [{"start": "@daily", "duration": "8h"}],
     "state minReplicas, maxReplicas or both"),
    ("spec.roles.0.variants.0.windows", [{"start": "@daily", "duration": "soon", "minReplicas": 2}],
     "windows[0].duration in body should match"),
    ("spec.roles.0.variants.0.maxReplicas", "4", 'must be of type integer: "string"'),
    ("spec.roles.0.variants.0.maxReplicas", 100001, "should be less than or equal to 100000"),
    ("spec.roles.0.variants.0.costPerHour", "4,10", "costPerHour in body should match"),
    ("spec.signals", {"pods": {}, "prometheus": {"url": "http://prometheus:9090"}},
     "signals come from pods or from prometheus, not both"),
    ("spec.signals", {"pods": {"port": 65536}}, "should be less than or equal to 65535"),
    ("spec.signals", {"prometheus": {"url": "prometheus:9090"}}, "spec.signals.prometheus.url in body should match"),
    ("spec.mode", "Off", 'Unsupported value: "Off"'),
    ("spec.policy", "DutyCycle", 'Unsupported value: "DutyCycle"'),
    ("spec.rules", {}, "only policy Rules uses rules"),
    ("spec.queue", {}, "only policy Queue uses queue"),
    ("spec.behavior", {},
     "only policies Rules and Queue use behavior; policy Capstan derives it from the cost of a start"),
    ("spec.roles.0.variants.0.engineProfile", {"dtype": "int4"}, 'Unsupported value: "int4"'),
    ("spec.roles.0.variants.0.engineProfile", {"gpu": "h100"},
     'unknown field "spec.roles[0].variants[0].engineProfile.gpu"'),
]
RULES_FAULTS = [
    ("spec.rules", {"waitingAbove": 3, "waitingBelow": 3},
     "waitingBelow must be below waitingAbove; between the two bounds nothing changes"),
    ("spec.rules", {"kvBelow": "90%"}, "kvBelow must be below kvAbove; between the two bounds nothing changes"),
    ("spec.rules", {"kvAbove": "101%"}, "spec.rules.kvAbove in body should match"),
    ("spec.rules", {"latencyBelow": "80.5%"}, "spec.rules.latencyBelow in body should match"),
    ("spec.rules", {"scaleOn": "DutyCycle"}, 'Unsupported value: "DutyCycle"'),
    ("spec.rules", {"scaleOn": "Latency"},
     "rules.scaleOn Latency or Goodput needs slo.ttft or slo.tpot"),
    ("spec.rules", {"waitingAbove": 0}, "should be greater than or equal to 1"),
    ("spec.queue", {}, "only policy Queue uses queue"),
]
FLEET_FAULTS = [
    ("metadata.name", "second", "the name of the only FleetPolicy must be default"),
    ("spec.layers", {"replica": "Shadow"}, 'unknown field "spec.layers.replica"'),
    ("spec.layers", {"replicas": "active"}, 'Unsupported value: "active"'),
    ("spec.limits", {"gpus": -1}, "should be greater than or equal to 0"),
    ("spec.limits", {"usdPerHour": 250}, 'must be of type string: "integer"'),
    ("spec.layers", {"placement": "Active"},
     "spec.nodeSelector must name the nodes that Capstan may bind to before the placement layer is Active"),
    ("spec.layers", {"placement": "Shadow", "nodes": "Active"},
     "spec.layers.nodes needs spec.layers.placement Active too, because it buys nodes for the gangs of that layer"),
    ("spec.instanceTypes", [{"name": "p5.48xlarge", "gpu": "H100", "gpus": 0}], "should be greater than or equal to 1"),
    ("spec.instanceTypes", [{"name": "p5.48xlarge", "gpus": 8}], "spec.instanceTypes[0].gpu: Required value"),
    ("spec.hold", "soon", "spec.hold in body should match"),
    ("spec.halt", "yes", 'must be of type boolean: "string"'),
]
QUEUE_FAULTS = [
    ("spec", None, "spec: Required value"),
    ("spec.parent", "team", "a queue cannot be its own parent"),
    ("spec.parent", "", "spec.parent in body should be at least 1 chars long"),
    ("spec.gpus", {"limit": -1}, "should be greater than or equal to 0"),
    ("spec.gpus", {"limit": "8"}, 'must be of type integer: "string"'),
    ("spec.gpus", {"quota": 8}, 'unknown field "spec.gpus.quota"'),
    ("spec.limit", 8, 'unknown field "spec.limit"'),
]


def changed(original, path, value):
    """Returns a copy of an object with one field set, or removed for None. A number in the path is an index; the next
    free index appends."""
    copy = json.loads(json.dumps(original))
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    at = copy
    for part in parents:
        at = at[part]
    if value is None:
        del at[last]
    elif isinstance(at, list) and last == len(at):
        at.append(value)
    else:
        at[last] = value
    return copy


class Definitions(harness.ClusterTest):
    def create(self, item):
        """Returns an object as the server would store it."""
        return json.loads(self.cluster.kubectl("create", "--validate=strict", "--dry-run=server", "--output", "json",
                                               "--filename", "-", given=json.dumps(item)))

    def assert_refused(self, good, faults):
        self.create(good)
        for path, value, message in faults:
            with self.subTest(path=path, value=value):
                with self.assertRaises(AssertionError) as refusal:
                    self.create(changed(good, path, value))
                self.assertIn(message, str(refusal.exception))

    def test_wrong_scalers_are_refused(self):
        self.assert_refused(objects.scaler("chat", self.namespace, policy="Capstan"), SCALER_FAULTS)
        self.assert_refused(objects.scaler("chat", self.namespace, rules={}, slo={"e2e": "20s"}), RULES_FAULTS)

    def test_the_policy_is_explicit_or_follows_from_the_settings(self):
        both = [objects.role("prefill", "one"), objects.role("decode", "two")]
        for spec in ({}, {"policy": "Capstan"}, {"rules": {}, "behavior": {}}, {"policy": "Rules", "behavior": {}},
                     {"queue": {}, "behavior": {}}, {"policy": "Queue", "queue": {}}, {"roles": both},
                     {"engine": "tgi", "behavior": {}},
                     {"roles": both, "policy": "Capstan"}, {"roles": both, "rules": {"kvAbove": "9.5%", "kvBelow": "5%"}}):
            with self.subTest(spec=spec):
                self.create(objects.scaler("chat", self.namespace, **spec))

    def test_wrong_fleet_policies_are_refused(self):
        self.assert_refused(objects.fleet_policy(), FLEET_FAULTS)

    def test_wrong_queues_are_refused(self):
        self.assert_refused(objects.queue("team"), QUEUE_FAULTS)

    def test_some_row_breaks_every_rule_of_the_definitions(self):
        rules = set()
        for kind in ("inferencescalers", "fleetpolicies", "queues"):
            collect_rules(self.cluster.get("crd", f"{kind}.capstan.dev"), rules)
        self.assertEqual(rules - {message for _, _, message in SCALER_FAULTS + RULES_FAULTS + FLEET_FAULTS +
                                  QUEUE_FAULTS}, set())
        self.assertGreater(len(rules), 3)

    def test_missing_fields_have_their_defaults(self):
        made = self.create(objects.scaler("chat", self.namespace))["spec"]
        variant = made["roles"][0]["variants"][0]
        self.assertEqual((made["mode"], made["slo"]["attainment"], made["roles"][0]["role"]), ("Shadow", "99%", "both"))
        self.assertEqual((variant["minReplicas"], variant["targetRef"]["apiVersion"]), (1, "apps/v1"))
        layers = self.create(objects.fleet_policy())["spec"]["layers"]
        self.assertEqual(layers, {"replicas": "Shadow", "placement": "Off", "nodes": "Off"})

    def test_kubectl_shows_the_columns_of_a_scaler(self):
        self.cluster.apply(objects.scaler("chat", self.namespace))
        version = self.cluster.get("crd", "inferencescalers.capstan.dev")["spec"]["versions"][0]
        columns = version["additionalPrinterColumns"]
        for output, priority_max in ((), 0), (("--output", "wide"), 1):
            with self.subTest(output=output):
                head, row = self.cluster.kubectl("get", "isc", "--namespace", self.namespace, *output).splitlines()
                shown = [column["name"].upper() for column in columns if column.get("priority", 0) <= priority_max]
                self.assertEqual(head.split(), ["NAME", *shown])
                self.assertEqual(row.split()[:2], ["chat", "Llama-3.1-8B"])

    def test_every_example_passes(self):
        examples = sorted(EXAMPLES.glob("*.yaml"))
        self.assertGreater(len(examples), 3)
        for example in examples:
            with self.subTest(example=example.name):
                if "kind: LeaderWorkerSet" in example.read_text() and not self.cluster.get("crd", LEADER_WORKER_SETS):
                    self.skipTest("no definition of LeaderWorkerSet lies beside the checkout")
                self.cluster.kubectl("create", "--validate=strict", "--dry-run=server", "--namespace", self.namespace,
                                     "--filename", example)


def collect_rules(schema, found):
    """Adds the messages of all CEL rules in a schema."""
    if isinstance(schema, dict):
        found.update(rule["message"] for rule in schema.get("x-kubernetes-validations", []))
        schema = list(schema.values())
    for below in schema if isinstance(schema, list) else []:
        collect_rules(below, found)


if __name__ == "__main__":
    unittest.main()
