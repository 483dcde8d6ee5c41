#include "scenario/reader_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "manifest/path.h"
#include "manifest/yaml.h"
#include "plan/read/read_spec.h"
#include "scenario/blocks.h"
#include "scenario/scenario.h"

namespace capstan::golden {

namespace {

const std::string kReference = CAPSTAN_SOURCE_DIR "/docs/reference/";
const std::string kUnknownKey = "no_such_key";
const std::string kGarbage = "§";

const Strings kClosedLoop = {
    "load.generator=~",
    "load.closed_loop={concurrency: 10, think_time: 1s, think_exponential: true, requests: 9, lengths_profile: "
    "azure-hour, input: 8, output: 8}"};

const std::string kDiurnal = "load.generator.rate={kind: diurnal, rate: 1, peak: 8, period: 24h, start: 14h}";
const std::string kSpike = "load.generator.rate={kind: spike, rate: 1, peak: 8, start: 5m, length: 10m}";

const Strings kRoles = {
    "service.roles.prefill={model: Llama-3.1-8B, gpu: H100, dtype: bfloat16, tensor_parallel: 1, pipeline_parallel: 1, "
    "pods_per_replica: 1, "
    "together: node, topology: {preferred: node}, replicas: {min: 1, max: 4}, engine_settings: {prefix_cache: true}, "
    "cpu: 8, memory: 64Gi, node_selector: {tier: serving}, start: {warm_up: 5s}}",
    "service.roles.decode={model: Llama-3.1-8B, gpu: H100, dtype: bfloat16, tensor_parallel: 1, pipeline_parallel: 1, "
    "pods_per_replica: 1, "
    "together: node, topology: {preferred: node}, replicas: {min: 1, max: 4}, engine_settings: {prefix_cache: true}, "
    "cpu: 8, memory: 64Gi, node_selector: {tier: serving}, start: {warm_up: 5s}}",
    "service.roles.decode_per_prefill={min: 0.5, max: 4}", "service.roles.conversion=3s..5s",
    "service.kv_transfer={bandwidth: 40GB/s, setup: 1ms}"};

const std::string kVariantKeys =
    "model: Llama-3.1-8B, gpu: H100, dtype: bfloat16, pipeline_parallel: 1, pods_per_replica: 1, together: node, "
    "topology: {preferred: "
    "node}, "
    "replicas: {min: 1, max: 4}, engine_settings: {prefix_cache: true}, start: {warm_up: 5s}, cpu: 8, memory: 64Gi, "
    "node_selector: {tier: serving}";
const Strings kVariants = {"service.variants=[{name: one, weight: 10, tensor_parallel: 1, " + kVariantKeys +
                           "}, {name: two, weight: 19, tensor_parallel: 2, " + kVariantKeys + "}]"};

/// Two services in place of one, each with its load, and their queues.
const Strings kServices = {
    "load=~", "service=~",
    "services=[{name: chat, queue: chat, load: {profile: azure-hour}, model: Llama-3.1-8B, gpu: H100, slo: {ttft: 1s}, "
    "replicas: {min: 1, max: 4}}, {name: code, queue: all, load: {profile: azure-hour}, model: Llama-3.1-8B, gpu: "
    "H100, "
    "slo: {ttft: 1s}, replicas: {min: 1, max: 4}}]",
    "policies=[{name: one, scale: capstan, place: gang, provision: karpenter}]"};

/// Jobs without a service, so that no policy scales anything.
const Strings kOnlyJobs = {"load=~", "service=~", "policies=[{name: one, place: gang, provision: karpenter}]"};

Strings with_set(Strings sets, const std::string& set) {
  sets.push_back(set);
  return sets;
}

const std::string kOther =
    "{name: code, load: {profile: azure-hour}, model: Llama-3.1-8B, gpu: H100, slo: {ttft: 1s}, replicas: {min: 1, "
    "max: 4}}]";
const std::string kPartKeys = "tensor_parallel: 1, " + kVariantKeys;
const Strings kRolesOfAService =
    with_set(kServices, "services=[{name: chat, load: {profile: azure-hour}, slo: {ttft: 1s}, roles: {prefill: {" +
                            kPartKeys + "}, decode: {" + kPartKeys +
                            "}, conversion: 5s}, kv_transfer: {bandwidth: 40GB/s, setup: 1ms}}, " + kOther);
const Strings kVariantsOfAService =
    with_set(kServices, "services=[{name: chat, load: {profile: azure-hour}, slo: {ttft: 1s}, variants: [{name: one, " +
                            kPartKeys + "}, {name: two, " + kPartKeys + "}]}, " + kOther);

const std::string kJobTrace =
    "jobs=[{name: recorded, queue: all, gpu: H100, together: node, start: 20s, checkpoint_every: 10m, goal: "
    "{finish_within: 6h}, trace: {file: " CAPSTAN_SOURCE_DIR "/scenarios/traces/jobs.csv, from: 0s, length: 24h}}]";

const std::string kFileOfNodes =
    "cluster.existing.0={file: " CAPSTAN_SOURCE_DIR
    "/scenarios/traces/nodes.csv, gpu: T4, usd_per_hour: 2, zone: us-east-1a, pool: h100, labels: {tier: batch}}";

const std::string kScale = "policies.0.scale";
const std::string kManifestForm =
    kScale + "={manifest: " CAPSTAN_SOURCE_DIR
             "/scenarios/manifests/hpa-running.yaml, labels: {namespace: chat}, set: [spec.maxReplicas=9], "
             "pod: {cpu: 8, memory: 64Gi, memory_used: 20Gi}}";
const std::string kConsolidation = "policies.0.provision.consolidation=";

/// A policy on existing nodes, without pools.
const Strings kNoPools = {"cluster.pools=[]", "cluster.existing.0.pool=~",
                          "policies=[{name: fixed, scale: fixed, place: gang, provision: {policy: none}}]"};

const std::vector<Mapping> kScenarioMappings = {
    {"The file", "", {}},
    {"The file", "", kServices, {"services"}},
    {"The file", "", kOnlyJobs, {"jobs"}},
    {"queues", "queues.1", {}},
    {"load", "load", {}},
    {"load", "load", {"load.generator=~", "load.trace=x.csv", "load.start=6h"}},
    {"load", "load", {"load.generator=~", "load.profile=azure-hour"}},
    {"load", "load", kClosedLoop},
    {"load.generator", "load.generator", {}},
    {"rate", "load.generator.rate", {}},
    {"rate", "load.generator.rate", {"load.generator.rate={kind: constant, rate: 1}"}},
    {"rate", "load.generator.rate", {kDiurnal}},
    {"rate", "load.generator.rate", {kSpike}},
    {"rate", "load.generator.rate", {"load.generator.rate={kind: ramp, rate: 1, peak: 8, start: 5m, length: 10m}"}},
    {"rate", "load.generator.rate", {"load.generator.rate={kind: on_off, rate: 1, peak: 8, period: 4m, length: 1m}"}},
    {"rate", "load.generator.rate", {"load.generator.rate={rate: 1}"}},
    {"arrivals", "load.generator.arrivals", {}},
    {"arrivals", "load.generator.arrivals", {"load.generator.arrivals={process: weibull}"}},
    {"arrivals", "load.generator.arrivals", {"load.generator.arrivals={process: poisson}"}},
    {"arrivals", "load.generator.arrivals", {"load.generator.arrivals={}"}},
    {"input, output", "load.generator.input", {}},
    {"input, output", "load.generator.input", {"load.generator.input={kind: uniform, min: 1, max: 9}"}},
    {"input, output", "load.generator.input", {"load.generator.input={tokens: 9}"}},
    {"input, output", "load.generator.output", {}},
    {"sessions", "load.generator.sessions", {}},
    {"load.closed_loop", "load.closed_loop", kClosedLoop},
    {"service", "service", {}},
    {"service", "service", {"service.step_times=" CAPSTAN_SOURCE_DIR "/data/engines.csv"}},
    {"service", "service", kRoles, {"roles", "kv_transfer"}},  // the other keys are keys of each role
    {"service.roles", "service.roles", kRoles},
    {"service.roles.prefill, service.roles.decode", "service.roles.prefill", kRoles},
    {"service.roles.prefill, service.roles.decode", "service.roles.decode", kRoles},
    {"decode_per_prefill", "service.roles.decode_per_prefill", kRoles},
    {"service.kv_transfer", "service.kv_transfer", kRoles},
    {"service", "service", kVariants, {"variants"}},
    {"service.variants", "service.variants.0", kVariants},
    {"service", "services.0", kServices, {"load", "queue"}},
    {"service", "services.0", kRolesOfAService, {"roles", "kv_transfer", "load"}},
    {"service", "services.0", kVariantsOfAService, {"variants", "load"}},
    {"service.topology", "service.topology", {}},
    {"service.slo", "service.slo", {}},
    {"service.replicas", "service.replicas", {}},
    {"service.replicas.windows", "service.replicas.windows.0", {}},
    {"service.engine_settings", "service.engine_settings", {}},
    {"service.router", "service.router", {}},
    {"service.client", "service.client", {}},
    {"service.start", "service.start", {}},
    {"A latency", "service.start.engine_init_cached", {}},
    {"jobs", "jobs.0", {}},
    {"jobs", "jobs.0", {"jobs.0.sizes=~", "jobs.0.pods=2", "jobs.0.gpus_per_pod=8"}},
    {"jobs", "jobs.0", {kJobTrace}},
    {"trace of jobs", "jobs.0.trace", {kJobTrace}},
    {"sizes", "jobs.0.sizes.0", {}},
    {"pods", "jobs.0.sizes.1.pods", {}},
    {"pods", "jobs.0.pods", {"jobs.0.sizes=~", "jobs.0.pods={min: 1, max: 2}", "jobs.0.gpus_per_pod=8"}},
    {"work", "jobs.0.work", {}},
    {"arrivals of jobs", "jobs.0.arrivals", {}},
    {"arrivals of jobs", "jobs.0.arrivals", {"jobs.0.arrivals={count: 8, at: 10m, every: 24h, until: 48h}"}},
    {"goal", "jobs.0.goal", {}},
    {"cluster", "cluster", {}},
    {"cluster.topologies", "cluster.topologies.0", {}},
    {"cluster.topologies.levels", "cluster.topologies.0.levels.0", {}},
    {"cluster.pools", "cluster.pools.0", {}},
    {"cluster.pools.budgets", "cluster.pools.0.budgets.0", {}},
    {"offerings, existing", "cluster.pools.0.offerings.0", {}},
    {"offerings, existing", "cluster.existing.0", {}, {}, "existing"},
    {"offerings, existing", "cluster.existing.0", {kFileOfNodes}, {}, "existing"},
    {"cluster.provider", "cluster.provider", {}},
    {"cluster.outages", "cluster.outages.0", {}},
    {"cluster.bandwidth", "cluster.bandwidth", {}},
    {"cluster.scrape", "cluster.scrape", {}},
    {"cluster.actions", "cluster.actions", {}},
    {"policies", "policies.0", {}},
    {"sleep", "policies.0.sleep", {}},
    {"policies", "policies.5", {}, {"sweep"}},
    {"policies", "policies.0", kOnlyJobs, {"place"}},
    {"scale", "policies.0.scale", {}},
    {"scale", "policies.1.scale", {}},
    {"scale", "policies.2.scale", {}},
    {"scale", "policies.3.scale", {}},
    {"scale", "policies.4.scale", {}},
    {"scale", "policies.5.scale", {}},
    {"behavior", "policies.1.scale.behavior", {}},
    {"scale_up, scale_down", "policies.1.scale.behavior.scale_up", {}},
    {"scale_up, scale_down", "policies.1.scale.behavior.scale_down", {}},
    {"rate policies", "policies.1.scale.behavior.scale_up.policies.0", {}},
    {"rate policies", "policies.1.scale.behavior.scale_down.policies.0", {}},
    {"place", "policies.0.place", {}},
    {"place", "policies.2.place", {}},
    {"place.passes", "policies.0.place.passes", {}, {}, "passes of first_fit"},
    {"place.passes", "policies.2.place.passes", {}, {}, "passes of gang"},
    {"provision", "policies.0.provision", {}},
    {"provision", "policies.2.provision", {}},
    {"provision", "policies.1.provision", {"policies.1.provision={policy: cluster_autoscaler}"}},
    {"provision", "policies.0.provision", kNoPools},
    {"provision.passes", "policies.0.provision.passes", {}, {}, "passes of karpenter"},
    {"provision.passes", "policies.2.provision.passes", {}, {}, "passes of group"},
    {"latency", "policies.0.provision.latency", {}},
    {"consolidation", "policies.0.provision.consolidation", {}},
    {"consolidation", "policies.0.provision.consolidation", {kConsolidation + "{policy: when_empty}"}},
    {"consolidation", "policies.0.provision.consolidation", {kConsolidation + "{policy: never}"}},
    // The autoscalers of other projects, which peers.md describes.
    {"", kScale, {kManifestForm}, {}, "scale"},
    {"", kScale + ".pod", {kManifestForm}, {}, "pod"},
    {"", kScale, with_set(kRoles, kScale + "={prefill: fixed, decode: fixed}"), {}, "scale"},
    {"", kScale, with_set(kVariants, kScale + "={variants: {one: fixed, two: fixed}}"), {}, "scale"},
    {"", kScale, with_set(kServices, kScale + "={services: {chat: fixed, code: fixed}}"), {}, "scale"},
    {"", kScale, {kScale + "={policy: knative_kpa, target: 5}"}, {}, "scale"},
    {"", kScale, {kScale + "={policy: ray_serve, downscale_to_zero_delay_s: 9}"}, {}, "scale"},
    {"", kScale, {kScale + "={policy: aibrix_apa}"}, {}, "scale"},
    {"", kScale, {kScale + "={policy: aibrix_kpa}"}, {}, "scale"},
    {"", kScale, {kScale + "={policy: wva_v1}"}, {}, "scale"},
    {"", kScale, {kScale + "={policy: wva_v2}"}, {}, "scale"},
    {"", kScale, {kScale + "={policy: dynamo_planner}"}, {}, "scale"},
    {"",
     kScale,
     {kScale + "={policy: dynamo_planner, enable_throughput_scaling: true, engine_rps: 5, load_predictor: kalman}"},
     {},
     "scale"},
};

const Strings kTrace = {"services.0.load={trace: " CAPSTAN_SOURCE_DIR
                        "/scenarios/traces/night.csv, scale: 2, duration: 5m}"};
const Strings kProfile = {"services.0.load={profile: azure-hour, scale: 2, duration: 5m}"};
const Strings kMeasured = {
    "services.0.load={prometheus: {url: 'https://prometheus:9090', over: 1d, step: 1m, timeout: 30s, labels: {job: "
    "chat}, headers: {X-Scope-OrgID: team}, bearer_token_file: token, ca_file: ca.pem, certificate_file: crt.pem, "
    "key_file: key.pem}, scale: 2, duration: 5m, prompt_tokens: 1000, answer_tokens: 200}"};
const Strings kRoleMinima = {"services.0.disaggregated=true", "services.0.min_prefill_replicas=2",
                             "services.0.min_decode_replicas=1"};
const std::string kJobBatches = "tenants.1.jobs.0.arrivals={count: 2, at: 10m, every: 1h, until: 8h}";
const Strings kRareKeys = {"step_times=" CAPSTAN_SOURCE_DIR "/data/engines.csv", "services.0.memory_gib=20",
                           "services.0.load.concurrency=90"};

const std::vector<Mapping> kPlanMappings = {
    {"The file", "", {}},
    {"The file", "", {kRareKeys.front()}},
    {"cluster", "cluster", {}},
    {"cluster.node_start", "cluster.node_start", {}},
    {"cluster.instances", "cluster.instances.1", {}},
    {"cluster.instances", "cluster.instances.2", {}},
    {"tenants", "tenants.0", {}},
    {"tenants", "tenants.1", {}},
    {"tenants.jobs", "tenants.1.jobs.0", {}},
    {"pods", "tenants.1.jobs.0.pods", {}},
    {"work", "tenants.1.jobs.0.work", {}},
    {"arrivals of jobs", "tenants.1.jobs.0.arrivals", {}},
    {"arrivals of jobs", "tenants.1.jobs.0.arrivals", {kJobBatches}},
    {"limits", "limits", {}},
    {"services", "services.0", {}},
    {"services", "services.0", {kRareKeys[1]}},
    {"services", "services.0", kRoleMinima},
    {"services.slo", "services.0.slo", {}},
    {"services.cold_start", "services.0.cold_start", {}},
    {"services.load", "services.0.load", {}},
    {"services.load", "services.0.load", {"services.0.load.requests_per_second=~", kRareKeys[2]}},
    {"services.load", "services.0.load", kTrace},
    {"services.load", "services.0.load", kProfile},
    {"services.load", "services.0.load", kMeasured},
    {"services.load.prometheus", "services.0.load.prometheus", kMeasured},
    {"prompt_tokens, answer_tokens", "services.0.load.prompt_tokens", {}},
    {"prompt_tokens, answer_tokens", "services.0.load.answer_tokens", {}},
    {"staff", "staff", {}},
    {"asked", "asked", {}},
};

/// Returns the cached answer, or computes it with `ask`. The reader always gives the same answer.
template <typename Answer, typename Ask>
const Answer& cached(std::map<std::pair<const Mapping*, std::string>, Answer>& cache, const Mapping& mapping,
                     const std::string& key, const Ask& ask) {
  const std::pair cache_key(&mapping, key);
  const auto found = cache.find(cache_key);
  return found != cache.end() ? found->second : cache.emplace(cache_key, ask()).first->second;
}

const std::string& full_text(Format format) {
  static const std::string scenario = read_text(kReference + "scenario-full.yaml").value_or("");
  static const std::string plan = read_text(CAPSTAN_SOURCE_DIR "/schema/plan-example.yaml").value_or("");
  return format == Format::plan ? plan : scenario;
}

/// Returns the text after `before` in the first message that contains it, or nothing.
std::optional<std::string> text_after(const Strings& messages, const std::string& before) {
  for (const std::string& message : messages) {
    if (const std::size_t at = message.find(before); at != message.npos) return message.substr(at + before.size());
  }
  return std::nullopt;
}

std::string without_guess(const std::string& expected) { return expected.substr(0, expected.find(" (did you mean")); }

manifest::Node node_of(const Mapping& mapping) {
  const manifest::Node root = full_example_with(mapping.format, mapping.sets);
  const manifest::Node* node = mapping.path.empty() ? &root : manifest::at_path(root, mapping.path);
  EXPECT_NE(node, nullptr) << mapping.path;
  return node == nullptr ? manifest::Node() : *node;
}

/// A type of values.
struct Kind {
  const char* expected;  ///< how the reader's error describes an expected value of this type
  const char* type;
  Strings too_large;  ///< values outside all bounds
};

const std::vector<Kind> kKinds = {
    {"a duration with", "duration", {"2000000h"}},
    {"a duration or", "duration, or mapping", {"2000000h"}},
    {"a duration such", "latency", {}},
    {"bytes with", "bytes", {"9000000000GB"}},
    {"a bandwidth", "bandwidth", {"9000000000GB/s"}},
    {"an amount", "USD", {"9000000000000"}},
    {"a number of tokens", "tokens, or mapping", {}},
    {"a number", "number", {"1e300"}},
    {"a whole number or", "integer, or mapping", {"9000000000000000000"}},
    {"a whole", "integer", {"9000000000000000000", "-9"}},
    {"a share", "share", {"900000000000%"}},
    {"a quantity", "quantity", {}},
    {"true or", "boolean", {}},
    {"a list", "list", {}},
    {"a mapping", "mapping", {}},
    {"requests per second or", "requests/s, or mapping", {}},
};

}  // namespace

const std::vector<Mapping>& mappings() {
  static const std::vector<Mapping> all = [] {
    std::vector<Mapping> both = kScenarioMappings;
    for (Mapping mapping : kPlanMappings) {
      mapping.format = Format::plan;
      both.push_back(std::move(mapping));
    }
    return both;
  }();
  return all;
}

std::string child_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

manifest::Node full_example_with(Format format, const Strings& sets) {
  manifest::Node root = manifest::parse(full_text(format), "full.yaml").value_or(manifest::Node());
  for (const std::string& set : sets) EXPECT_TRUE(manifest::apply_set(root, set)) << set;
  return root;
}

namespace {

template <typename Read>
Strings messages_of(const Read& read) {
  Strings messages;
  if (read) return messages;
  for (const Error& error : read.error().list) messages.push_back(error.message);
  return messages;
}

}  // namespace

Strings reader_errors(Format format, Strings sets, const std::string& extra_set) {
  if (!extra_set.empty()) sets.push_back(extra_set);
  if (format == Format::plan) return messages_of(plan::parse_plan_spec(full_text(format), "full.yaml", sets));
  return messages_of(scenario::parse_scenario(full_text(format), "full.yaml",
                                              {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}}));
}

Strings split_items(std::string text) {
  if (const std::size_t or_at = text.rfind(" or "); or_at != text.npos) text.replace(or_at, 4, ", ");
  Strings items;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(", ", from), text.size());
    items.push_back(text.substr(from, to - from));
    from = to + 2;
  }
  return items;
}

const Strings& keys_of(const Mapping& mapping) {
  static std::map<std::pair<const Mapping*, std::string>, Strings> cache;
  return cached(cache, mapping, "", [&] {
    const Strings messages = reader_errors(mapping.format, mapping.sets, child_path(mapping.path, kUnknownKey) + "=1");
    const auto list = text_after(messages, fmt::format("found key \"{}\", expected one of ", kUnknownKey));
    return split_items(without_guess(list.value_or("")));
  });
}

const std::set<std::string>& used_by(const Mapping& mapping) {
  static std::map<std::pair<const Mapping*, std::string>, std::set<std::string>> cache;
  return cached(cache, mapping, "", [&] {
    std::set<std::string> used;
    for (const manifest::Node::Entry& entry : node_of(mapping).entries) {
      if (!entry.value.is_null()) used.insert(entry.key);
    }
    return used;
  });
}

std::string value_of(const Mapping& mapping, const std::string& key) {
  const manifest::Node node = node_of(mapping);
  const manifest::Node* value = node.find(key);
  return value == nullptr ? "" : value->text;
}

bool is_required(const Mapping& mapping, const std::string& key) {
  return text_after(reader_errors(mapping.format, mapping.sets, child_path(mapping.path, key) + "=~"),
                    fmt::format(" lacks \"{}\"", key))
      .has_value();
}

bool is_nonempty_list(const Mapping& mapping, const std::string& key) {
  return text_after(reader_errors(mapping.format, mapping.sets, child_path(mapping.path, key) + "=[]"),
                    key + ": found an empty list")
      .has_value();
}

namespace {

Column ask_for_column(const Mapping& mapping, const std::string& key) {
  // The values of these keys are names of hardware, of files or of other parts of the scenario. They count as text,
  // even if the reader's error lists the possible names.
  static const std::set<std::string> kTexts = {"gpu",    "instance", "pool",     "zone",      "manifest", "queue",
                                               "parent", "name",     "required", "preferred", "file"};
  const std::string path = child_path(mapping.path, key) + "=";
  if (text_after(reader_errors(mapping.format, mapping.sets, path + "[]"), key + ": found an empty list of names")) {
    return {"name, or list", ""};
  }
  if (kTexts.contains(key)) return {"text", ""};
  const Strings messages = reader_errors(mapping.format, mapping.sets, path + kGarbage);
  const std::string found = fmt::format(": found \"{}\", expected ", kGarbage);
  if (key != "policy" && text_after(messages, ".policy" + found)) return {"name, or mapping", ""};
  if (text_after(messages, fmt::format(" is \"{}\", expected a mapping", kGarbage))) return {"mapping", ""};
  const std::string expected = text_after(messages, key + found).value_or("");
  if (expected.empty()) return {"text", ""};
  const auto kind = std::ranges::find_if(kKinds, [&](const Kind& k) { return expected.starts_with(k.expected); });
  if (kind == kKinds.end()) return {"choice", without_guess(expected)};
  for (const std::string& value : kind->too_large) {
    const auto refused = text_after(reader_errors(mapping.format, mapping.sets, path + value),
                                    fmt::format("{}: found \"{}\", expected ", key, value));
    if (refused && refused->find(" to ") != refused->npos) return {kind->type, *refused};
  }
  return {kind->type, ""};
}

}  // namespace

const Column& column_of(const Mapping& mapping, const std::string& key) {
  static std::map<std::pair<const Mapping*, std::string>, Column> cache;
  return cached(cache, mapping, key, [&] { return ask_for_column(mapping, key); });
}

std::string page_name(Format format) { return format == Format::plan ? "plan.md" : "scenario.md"; }

std::string section(Format format, const std::string& heading) {
  static const std::string scenario = read_text(kReference + page_name(Format::scenario)).value_or("");
  static const std::string plan = read_text(kReference + page_name(Format::plan)).value_or("");
  const std::string& page = format == Format::plan ? plan : scenario;
  for (const char* level : {"\n## ", "\n### "}) {
    for (const std::string& name : {heading, "`" + heading + "`"}) {
      const std::size_t at = page.find(level + name + "\n");
      if (at != page.npos) return page.substr(at, page.find("\n#", at + 1) - at);
    }
  }
  return "";
}

}  // namespace capstan::golden
