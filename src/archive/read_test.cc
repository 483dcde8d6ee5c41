// Tests the defects that the reader refuses, one row for each, and then random mutations of a file with every key.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <memory>
#include <set>

#include <nlohmann/json.hpp>

#include "archive/redecide.h"
#include "archive/saved_state.h"
#include "archive/testing.h"
#include "model/consistency.h"

namespace capstan::archive {
namespace {

using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;

Json full_file() { return Json::parse(to_json(testing::full_state())); }

void erase(Json& file, const Pointer& at) {
  Json& owner = file.at(at.parent_pointer());
  if (owner.is_array()) {
    owner.erase(std::stoul(at.back()));
  } else {
    owner.erase(at.back());
  }
}

struct Defect {
  const char* path;
  const char* value;  ///< JSON; null: the member is removed
  const char* error;  ///< expected error without file, line and column
};

constexpr Defect kDefects[] = {
    // The file as a whole.
    {"/version", nullptr, R"(snapshot lacks "version")"},
    {"/at_ns", nullptr, R"(snapshot lacks "at_ns")"},
    {"/at_ns", "-1", R"(snapshot.at_ns: found "-1", expected 0 to 4611686018427387904)"},
    {"/pods", nullptr, R"(snapshot lacks "pods")"},
    {"/policies/scale/0/to_zero", nullptr, R"(policies.scale lacks "to_zero", expected all settings)"},
    {"/policies/provision/consolidation/after", nullptr,
     R"(policies.provision.consolidation lacks "after", expected all settings)"},
    // Signals: a value that was not measured is missing, not 0.
    {"/services/0/gateway_waiting", R"({"state":"value"})", R"(services.gateway_waiting lacks "value")"},
    {"/services/0/gateway_waiting", nullptr, R"(services lacks "gateway_waiting")"},
    {"/gangs/0/signals/waiting", R"({"state":"value"})", R"(gangs.signals.waiting lacks "value")"},
    {"/gangs/0/signals/waiting", R"({"state":"stale","age_ns":5})", R"(gangs.signals.waiting lacks "value")"},
    {"/gangs/0/signals/waiting/age_ns", nullptr, R"(gangs.signals.waiting lacks "age_ns")"},
    {"/gangs/0/signals/waiting/state", R"("missing")",
     R"(gangs.signals.waiting.value: found "12" on a signal that is missing, expected none)"},
    {"/gangs/0/signals/kv_usage_ppm/value", "1000001",
     R"(gangs.signals.kv_usage_ppm.value: found "1000001", expected 0 to 1000000)"},
    {"/gangs/0/signals/ttft_late_ppm/value", "1000001",
     R"(gangs.signals.ttft_late_ppm.value: found "1000001", expected 0 to 1000000)"},
    {"/gangs/0/signals/duty_cycle_percent/value", "101",
     R"(gangs.signals.duty_cycle_percent.value: found "101", expected 0 to 100)"},
    {"/gangs/0/signals/waiting/value", "-1", R"(gangs.signals.waiting.value: found "-1", expected 0 to 86400000000)"},
    {"/gangs/0/signals/waiting/age_ns", "-5",
     R"(gangs.signals.waiting.age_ns: found "-5", expected 0 to 2305843009213693952)"},
    {"/gangs/0/signals/waiting/age_ns", "101000000000",
     "gangs.signals.waiting.age_ns: found 101.0 s, expected 0 s to 100.0 s (at_ns)"},
    // Services.
    {"/services/0/desired_replicas", nullptr, R"(services lacks "desired_replicas")"},
    {"/services/0/leaving", "4", R"(services.leaving: found "4", expected 0 to 3)"},
    {"/services/3/id", "0", "services: found a second row with id 0, expected each id once"},
    {"/services/3/id", "4", "services.id: found 4, expected less than 4, the number of services in the catalog"},
    {"/catalog/services/0/slo", nullptr, R"(catalog.services lacks "slo")"},
    {"/catalog/services/0/slo/attainment_ppm", "1000001",
     R"(catalog.services.slo.attainment_ppm: found "1000001", expected 0 to 1000000)"},
    {"/catalog/services/0/slo/tpot_ns", nullptr, R"(catalog.services.slo lacks "tpot_ns")"},
    {"/catalog/services/0/min_replicas", "11", R"(catalog.services.min_replicas: found "11", expected 0 to 10)"},
    {"/catalog/services/0/max_replicas", nullptr, R"(catalog.services lacks "max_replicas")"},
    {"/catalog/services/0/windows/0/start", nullptr, R"(catalog.services.windows lacks "start")"},
    {"/catalog/services/0/windows/0/duration_ns", nullptr, R"(catalog.services.windows lacks "duration_ns")"},
    {"/catalog/services/0/variants/0/tensor_parallel", nullptr, R"(catalog.services.variants lacks "tensor_parallel")"},
    {"/catalog/services/0/variants/0/pods", nullptr, R"(catalog.services.variants lacks "pods")"},
    {"/catalog/services/0/variants", nullptr, "catalog.services.variants: found 0 entries, expected one"},
    {"/catalog/services/0/variants", "[]", "catalog.services.variants: found 0 entries, expected one"},
    {"/catalog/services/0/variants", R"([{}, {}])", "catalog.services.variants: found 2 entries, expected one"},
    {"/catalog/services/2/fed_by", "0",
     "catalog.services.fed_by: found service 0, expected a prefill service in this file"},
    {"/catalog/services/2/role_limits/conversion_ns", nullptr, R"(catalog.services.role_limits lacks "conversion_ns")"},
    {"/catalog/services/0/survives", R"("cluster")",
     "catalog.services.survives: found cluster, expected node, rack or zone"},
    // The rest of the catalog.
    {"/catalog/gpu_kinds/1", R"("H100")", R"(catalog.gpu_kinds: found "H100" a second time, expected each name once)"},
    {"/catalog/domains/2/level", R"("cluster")",
     "catalog.domains.parent: found a parent on the cluster, expected none: the cluster is the widest domain"},
    {"/catalog/domains/3/parent", nullptr,
     "catalog.domains.parent: found none, expected a domain that is wider than a NVLink domain"},
    {"/catalog/offerings/0/zone", "2",
     "catalog.offerings.zone: found domain 2, a rack, expected a zone or the cluster"},
    {"/catalog/offerings/0/micro_usd_per_hour", nullptr, R"(catalog.offerings lacks "micro_usd_per_hour")"},
    {"/catalog/offerings/0/gpus", nullptr, R"(catalog.offerings lacks "gpus")"},
    {"/catalog/pools/0/gpu_limit", nullptr, R"(catalog.pools lacks "gpu_limit")"},
    {"/catalog/pools/0/offerings", nullptr, R"(catalog.pools lacks "offerings")"},
    {"/catalog/queues/0/name", nullptr, R"(catalog.queues lacks "name")"},
    {"/catalog/queues/0/name", "[]", "catalog.queues.name: found a list, expected a string"},
    {"/catalog/queues/1/name", R"("q0")", "catalog.queues.name: found q0 a second time, expected each name once"},
    {"/catalog/gpu_kinds/0", R"("")", R"(catalog.gpu_kinds: found "", expected a name)"},
    {"/catalog/queues/1/quota_milli", "-1", R"(catalog.queues.quota_milli: found "-1", expected 0 to 10000000000)"},
    {"/catalog/queues/1/cpu/limit_milli", "9223372036854775807",
     R"(catalog.queues.cpu.limit_milli: found "9223372036854775807", expected 0 to 288230376151711744)"},
    {"/catalog/queues/1/memory/quota_mib", "1e30",
     R"(catalog.queues.memory.quota_mib: found "1e+30", expected a whole number)"},
    {"/catalog/queues/1/weight_milli", "1000000001",
     R"(catalog.queues.weight_milli: found "1000000001", expected 0 to 1000000000)"},
    {"/catalog/queues/1/parent", "9", "catalog.queues.parent: found 9, expected the id of a row in this file"},
    {"/catalog/queues/0/parent", "1",
     "catalog.queues.parent: found queue 1, whose parents lead back to this queue, expected a tree"},
    {"/catalog/queues/3/closed", nullptr,
     "catalog.queues.parent_cycle: found true without closed, expected closed: true too"},
    {"/catalog/limits/gpus", "-1", R"(catalog.limits.gpus: found "-1", expected 0 to 1000000000000)"},
    // Nodes and claims.
    {"/nodes/0/domains/rack", "1", "nodes.domains.rack: found domain 1, a zone, expected a rack"},
    {"/nodes/0/domains/zone", "8", "nodes.domains.zone: found domain 8, expected domain 1, in which domain 2 lies"},
    {"/nodes/0/domains", nullptr, R"(nodes lacks "domains")"},
    {"/nodes/0/gpu", nullptr, R"(nodes lacks "gpu")"},
    {"/catalog/pod_classes/1/kept_apart", "[1, 1]",
     "catalog.pod_classes.kept_apart: found 1 after 1, expected each id once, in ascending order"},
    {"/catalog/instance_types/0/extended", "[-1]", "catalog.instance_types.extended: found"},
    {"/catalog/instance_types/0/extended", "[1, 2, 3]", "catalog.instance_types.extended: found"},
    {"/nodes/0/gpu", "1", "nodes.gpu: found 1, expected the GPU of its offering, 0"},
    {"/nodes/0/gpus_milli", nullptr, R"(nodes lacks "gpus_milli")"},
    {"/nodes/0/gpus_milli", "4999",
     "nodes.gpus_milli: found 4.999 GPUs, but pods hold 5 there, expected at least as many, or overcommitted: true"},
    {"/nodes/1/overcommitted", nullptr,
     "nodes.gpus_milli: found 1 GPUs, but pods hold 2 there, expected at least as many, or overcommitted: true"},
    {"/pods/0/devices", "[5,0]",
     "pods.devices: found \"0\", expected numbers of devices of 0..1023 in ascending order"},
    {"/pods/0/devices", "[-1]",
     "pods.devices: found \"-1\", expected numbers of devices of 0..1023 in ascending order"},
    {"/pods/0/devices", "[0,8]",
     "nodes.gpus_milli: found 8 GPUs, but a pod holds device 8 there, expected more, or overcommitted: true"},
    {"/pods/2/devices", "[0]", "pods.devices: found devices on a pod without a node, expected none"},
    {"/catalog/instance_types/0/cpu_milli", "-1",
     R"(catalog.instance_types.cpu_milli: found "-1", expected 0 to 288230376151711744)"},
    {"/catalog/instance_types/0/name", nullptr, R"(catalog.instance_types lacks "name")"},
    {"/catalog/offerings/0/type", "1", "catalog.offerings.type: found 1, expected the id of a row in this file"},
    {"/nodes/0/overcommitted", "true",
     "nodes.overcommitted: found true, but pods hold 5 of 8 GPUs there, expected more"},
    {"/nodes/0/claim", "9", "nodes.claim: found 9, expected the id of a row in this file"},
    {"/nodes/0/claim", "1", "nodes.claim: found 1, which became no node, expected the claim that became this node"},
    {"/nodes/0/ready_at_ns", "100000000001",
     "nodes.ready_at_ns: found a time 0.0 s after at_ns, expected at_ns or earlier"},
    {"/claims/0/node", "7", "nodes.claim: found 0, which became node 7, expected the claim that became this node"},
    {"/claims/0/phase", R"("launched")", "claims.node: found 0 on a claim that is not registered, expected none"},
    {"/claims/0/requested_at_ns", nullptr, R"(claims lacks "requested_at_ns")"},
    {"/claims/1/group", nullptr, "claims.group_size: found 2 without a group, expected none"},
    {"/claims/1/within", "8", "claims.within: found domain 8, expected one in domain 1, where its offering is sold"},
    // Gangs and pods.
    {"/gangs/1/ordinal", "0", "gangs.ordinal: found 0, which gang 0 of the same service has, expected another number"},
    {"/gangs/1/ordinal", nullptr, R"(gangs lacks "ordinal")"},
    {"/gangs/1/ordinal", "4294967297", R"(gangs.ordinal: found "4294967297", expected 0 to 10000000)"},
    {"/gangs/1/min_pods", "5",
     "gangs.min_pods: found 5, but the gang has 1 pods, expected at most as many, or "
     "missing_pods: 4"},
    {"/gangs/1/missing_pods", "3",
     "gangs.missing_pods: found 3, expected 0, the number by which min_pods is above the pods of the gang"},
    {"/gangs/5/missing_pods", "1",
     "gangs.missing_pods: found 1, expected 2, the number by which min_pods is above the pods of the gang"},
    {"/gangs/5/missing_pods", nullptr, "gangs.min_pods: found 3, but the gang has 1 pods"},
    {"/gangs/6/other_pods/0/min_pods", "2",
     "gangs.other_pods.min_pods: found 2, but the set has 1 pods, expected at most as many"},
    {"/gangs/1/variant", nullptr, R"(gangs lacks "variant")"},
    {"/gangs/1/variant", "1", R"(gangs.variant: found "1", expected 0, the only one)"},
    {"/memory/planned/1/variant", "1", R"(memory.planned.variant: found "1", expected 0, the only one)"},
    {"/gangs/1/pod_class", "3", "gangs.pod_class: found 3, expected the id of a row in this file"},
    {"/catalog/topologies/0/name", R"("standard")",
     "catalog.topologies.name: found standard a second time, expected each topology once"},
    {"/catalog/topologies/0/levels/1/name", R"("hall")",
     "catalog.topologies.levels.name: found hall a second time, expected each level once"},
    {"/catalog/topologies/0/levels/1/node_label", R"("example.com/hall")",
     "catalog.topologies.levels.node_label: found example.com/hall, the label of level hall, expected another label"},
    {"/catalog/topologies/0/levels", "[]", "catalog.topologies.levels: found 0 levels, expected 1 to 16"},
    {"/nodes/0/domains/fabric~1hall", nullptr,
     "nodes.domains: lacks \"fabric/hall\", expected domain 15, in which domain 16 lies"},
    {"/gangs/1/preferred", R"("zone")",
     "gangs.preferred: found zone, expected rack or a narrower level of its topology"},
    {"/gangs/1/preferred", R"("row")",
     R"(gangs.preferred: "row", expected node, nvlink, rack, zone, cluster, fabric/spine or fabric/hall)"},
    {"/catalog/services/0/variants/0/preferred", R"("zone")", "catalog.services.preferred: found zone, expected "},
    {"/gangs/1/closed_nodes", "[1]", R"(gangs: found key "closed_nodes")"},
    {"/nodes/1/node_class", "100000", "nodes.node_class: found 100000, expected the id of a row in this file"},
    {"/nodes/1/available/memory_mib", nullptr, R"(nodes.available lacks "memory_mib")"},
    {"/nodes/1/available/cpu_milli", "-1",
     R"(nodes.available.cpu_milli: found "-1", expected 0 to 288230376151711744)"},
    {"/nodes/1/available/extended", "[1, 2, 3]",
     "nodes.available.extended: found a list, expected a list with at most one amount for each of 2 "
     "catalog.extended_resources"},
    {"/nodes/1/available/extended", "[-1]",
     R"(nodes.available.extended: found "-1", expected an amount of 0..288230376151711744)"},
    {"/catalog/pod_classes/0/node_classes", "[0, 0]",
     "catalog.pod_classes.node_classes: found 0 after 0, expected each id once, in ascending order"},
    {"/catalog/pod_classes/0/node_classes", "[100000]",
     "catalog.pod_classes.node_classes: found 100000, expected the id of a row in this file"},
    {"/catalog/services/0/variants/0/leader/gpus_milli", "8000", "catalog.services.variants.leader.gpus_milli: found"},
    {"/catalog/services/0/variants/0/leader/pod_class", "9", "catalog.services.variants.leader"},
    {"/catalog/pod_classes/2/unsupported", R"("pod_gravity")",
     R"(catalog.pod_classes.unsupported: "pod_gravity", expected none, pod_affinity, pod_anti_affinity)"},
    {"/catalog/purchase_classes/0/pool", "9", "catalog.purchase_classes.pool: found 9, expected the id of a row"},
    {"/catalog/extended_resources", R"(["a", "a"])",
     R"(catalog.extended_resources: found "a" a second time, expected each name once)"},
    {"/gangs/0/created_at_ns", "101000000000",
     "gangs.created_at_ns: found a time 1.0 s after at_ns, expected at_ns or earlier"},
    {"/gangs/0/gpu", "1", "gangs.gpu: found 1, which none of its nodes has, expected the GPU kind of a node"},
    {"/gangs/0/pods", "[0,1,0]",
     "gangs.pods: found 0, a pod that is listed twice or belongs to another gang, expected each pod once in its own "
     "gang"},
    {"/gangs/0/pods", "[0]", "pods.gang: found 0, which does not list this pod, expected the gang that does"},
    {"/pods/0/node", nullptr,
     "pods.node: found none on a ready pod, expected its node, or on_unseen_node: true if the node has no row"},
    {"/pods/0/on_unseen_node", "true",
     "pods.on_unseen_node: found true on a ready pod with a node, expected it only on running pods without a node"},
    {"/pods/2/on_unseen_node", "true",
     "pods.on_unseen_node: found true on a pending pod without a node, expected it only on running pods without a "
     "node"},
    {"/pods/0/gpus_milli", nullptr, R"(pods lacks "gpus_milli")"},
    {"/pods/0/gpus_milli", "-1", R"(pods.gpus_milli: found "-1", expected 0 to 10000000)"},
    {"/pods/0/phase", R"("pending")", "gangs.phase: found a running phase although a pod is pending, expected pending"},
    {"/pods/0/created_at_ns", nullptr, R"(pods lacks "created_at_ns")"},
    {"/pods/2/queue", "9", "pods.queue: found 9, expected the id of a row in this file"},
    // The memory of the loop.
    {"/memory/planned", nullptr, R"(memory lacks "planned")"},
    {"/memory/scale/0", "7", R"(memory.scale: )"},
    {"/memory/scale/0", "[]", "memory.scale: found a list, expected a text"},
    {"/memory/planned/0/ordinal", nullptr, R"(memory.planned lacks "ordinal")"},
    {"/memory/planned/0/decided_at_ns", nullptr, R"(memory.planned lacks "decided_at_ns")"},
    {"/memory/requested/1/service", "0", "memory.requested.service: found 0 after 0, expected ascending services"},
    {"/memory/requested/0/service", "99", "memory.requested.service: found 99, expected the id of a row in this file"},
    {"/memory/requested/0/replicas", "-1", R"(memory.requested.replicas: found "-1", expected 0 to )"},
    {"/memory/planned/1/ordinal", "7",
     "memory.planned.ordinal: found 7 a second time for this service, expected another number"},
};

TEST(ReadSnapshot, RefusesEachDefectWithItsPlace) {
  for (const Defect& row : kDefects) {
    Json file = full_file();
    const Pointer at(row.path);
    if (row.value == nullptr) {
      erase(file, at);
    } else {
      file[at] = Json::parse(row.value);
    }
    const Result<SavedState> state = parse(file.dump(1), "s.json");
    ASSERT_FALSE(state) << row.path << ": read, expected " << row.error;
    EXPECT_EQ(state.error().message.substr(0, std::string_view(row.error).size()), row.error) << row.path;
    EXPECT_GT(state.error().line, 0u) << row.path;
    EXPECT_GT(state.error().column, 0u) << row.path;
  }
}

TEST(ReadSnapshot, ReadsHundredsOfThousandsOfNamesWithoutComparingEachPair) {
  Json file = full_file();
  Json& names = file["catalog"]["extended_resources"];
  while (names.size() < 300'000) names.push_back("example.com/resource-" + std::to_string(names.size()));
  const Result<SavedState> state = parse(file.dump(), "s.json");
  ASSERT_TRUE(state.has_value()) << state.error().text();
  EXPECT_EQ(state->snapshot.catalog->extended_resources.size(), 300'000u);
}

TEST(ReadSnapshot, TurnsTheListsOfFormat1IntoClasses) {
  Json file = full_file();
  file["format_version"] = 1;
  for (const char* key : {"extended_resources", "pod_classes", "purchase_classes"}) file["catalog"].erase(key);
  file["catalog"]["instance_types"][0].erase("extended");
  for (const char* key : {"pod_class", "leader"}) file["catalog"]["services"][0]["variants"][0].erase(key);
  for (Json& node : file["nodes"]) {
    node.erase("node_class");
    node.erase("available");
  }
  for (Json& row : file["gangs"]) row.erase("other_pods");
  for (Json& row : file["pods"]) row.erase("set");
  Json& gang = file["gangs"][1];
  gang.erase("pod_class");
  gang["closed_nodes"] = {0, 99};
  gang["closed_purchases"] = {{{"pool", 0}, {"offering", 0}}};
  const Result<SavedState> state = parse(file.dump(1), "s.json");
  ASSERT_TRUE(state.has_value()) << state.error().text();
  const model::Snapshot& s = state->snapshot;
  const model::Eligibility& eligibility = s.catalog->eligibility;
  const model::PodClassId pods = s.gangs.at(model::GangId{1}).spec.pods.pod_class;
  ASSERT_NE(eligibility.find(pods), nullptr);
  EXPECT_FALSE(eligibility.find(pods)->admits(s.nodes.at(model::NodeId{0}).node_class));
  EXPECT_TRUE(eligibility.find(pods)->admits(s.nodes.at(model::NodeId{1}).node_class));
  EXPECT_FALSE(eligibility.admits(pods, {{0}, {0}}));
  EXPECT_FALSE(s.gangs.at(model::GangId{0}).spec.pods.pod_class.valid()) << "a gang without lists may go anywhere";
  gang["closed_nodes"] = {1, 1};
  EXPECT_EQ(parse(file.dump(1), "s.json").error().message,
            "gangs.closed_nodes: found a row that is not greater than the previous one, expected each row once, in "
            "ascending order");
}

TEST(ReadSnapshot, AFileWithADeletedQueueIsReadAsItWasWritten) {
  SavedState state = testing::full_state();
  model::Catalog catalog = *state.snapshot.catalog;
  catalog.queues.push_back({.name = ""});
  catalog.queues.push_back({.name = ""});
  state.snapshot.catalog = std::make_shared<const model::Catalog>(catalog);
  const Result<SavedState> read = parse(to_json(state), "s.json");
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->snapshot.catalog->queues, catalog.queues);
}

TEST(ReadSnapshot, ReadsEveryFileOfTheFuzzCorpus) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CAPSTAN_SOURCE_DIR "/tests/fuzz/corpus/fuzz_snapshot")) {
    const Result<SavedState> state = read(entry.path());
    EXPECT_TRUE(state.has_value()) << state.error().text();
    ++files;
  }
  EXPECT_GE(files, 2);
}

TEST(ReadSnapshot, ANullBoundOfAWindowIsNoBound) {
  Json file = full_file();
  Json& window = file["catalog"]["services"][0]["windows"][0];
  window["min"] = nullptr;
  const Result<SavedState> state = parse(file.dump(1), "s.json");
  ASSERT_TRUE(state.has_value()) << state.error().text();
  EXPECT_FALSE(state->snapshot.catalog->service({0}).windows.front().min.has_value());
}

TEST(ReadSnapshot, AnErrorNamesThePositionOfTheValue) {
  std::string text = to_json(testing::full_state());
  const std::string good = R"("kv_usage_ppm":{"state":"value","value":12)";
  const std::size_t at = text.find(good);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, good.size(), R"("kv_usage_ppm":{"state":"value","value":1200000)");
  const auto line = 1 + std::ranges::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t column =
      at - text.rfind('\n', at) + std::string(R"("kv_usage_ppm":{"state":"value","value":)").size();
  const Result<SavedState> state = parse(text, "s.json");
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().text(), "s.json:" + std::to_string(line) + ":" + std::to_string(column) +
                                      R"(: gangs.signals.kv_usage_ppm.value: found "1200000", expected 0 to 1000000)");
}

/// Appends the paths of all values below `at`.
void list_paths(const Json& file, const Pointer& at, std::vector<Pointer>& out) {
  const Json& value = file.at(at);
  if (!value.is_structured()) return;
  std::size_t row = 0;
  for (const auto& [key, inner] : value.items()) {
    const Pointer path = value.is_array() ? at / row++ : at / key;
    out.push_back(path);
    list_paths(file, path, out);
  }
}

std::vector<Pointer> paths_of(const Json& file) {
  std::vector<Pointer> all;
  list_paths(file, Pointer(), all);
  return all;
}

/// Returns a normal form of a file: without members whose absence means the same, and with numbers and flags as texts.
Json normal(const Json& file) {
  static const std::set<std::string> kZeroIsAbsent = {"leaving",
                                                      "kept",
                                                      "overcommitted",
                                                      "on_unseen_node",
                                                      "resumed",
                                                      "closed",
                                                      "priority",
                                                      "quota_milli",
                                                      "quota_mib",
                                                      "weight_milli",
                                                      "parent_cycle",
                                                      "min_pods",
                                                      "preemptible",
                                                      "missing_pods",
                                                      "group_size",
                                                      "max_seqs",
                                                      "max_batched_tokens",
                                                      "placed_elsewhere",
                                                      "ttft_prefills_milli"};
  if (!file.is_structured()) return file.is_string() ? file : Json(file.dump());
  Json out = file.is_array() ? Json::array() : Json::object();
  for (const auto& [key, value] : file.items()) {
    if (file.is_array()) {
      out.push_back(normal(value));
      continue;
    }
    const bool zero = value == 0 || value == false;
    const bool optional_list = key == "windows" || key == "beside" || key.ends_with("_classes") || key == "queues" ||
                               key == "topologies" || key == "devices" || key == "instance_types" ||
                               key.starts_with("extended");
    const bool missing =
        value.is_object() && value.value("state", Json()) == "missing" && value.value("age_ns", Json()) == 0;
    const bool empty = value.is_object() && value.empty() && key != "domains";
    if (value.is_null() || (zero && kZeroIsAbsent.contains(key)) || (optional_list && value.empty()) || missing ||
        empty)
      continue;
    out[key] = normal(value);
  }
  return out;
}

/// Returns the part of a file that is compared. The settings of policies are left out, because a setting has several
/// spellings of one value (0 and "0s").
Json comparable(Json file) {
  for (const char* layer : {"scale", "place", "provision"}) file["policies"].erase(layer);
  file.erase("format_version");  // the writer states the lowest version that has all keys of the file
  Json& catalog = file["catalog"];
  const Json launches_into = catalog.value("launches_into", Json());
  if (launches_into == "node" || launches_into == "nvlink") catalog.erase("launches_into");
  for (Json& topology : catalog["topologies"]) {
    for (Json& level : topology["levels"]) {
      if (level.value("chosen_at_launch", Json()) == true) level.erase("chosen_at_launch");
    }
  }
  // Earlier programs did not state the missing pods of a gang that runs.
  for (Json& gang : file["gangs"]) {
    const Json minimum = gang.value("min_pods", Json());
    if (!minimum.is_number_integer() || gang.value("missing_pods", Json(0)) != 0) continue;
    const std::int64_t missing = minimum.get<std::int64_t>() - std::ssize(gang["pods"]);
    if (missing > 0) gang["missing_pods"] = missing;
  }
  for (Json& service : catalog["services"]) {
    for (Json& variant : service["variants"]) {
      if (variant.value("micro_usd_per_hour", Json()) == 0) variant.erase("micro_usd_per_hour");
    }
    if (service.contains("role_limits")) {
      Json& limits = service["role_limits"];
      if (std::ranges::all_of(limits, [](const Json& limit) { return limit == 0; })) service.erase("role_limits");
    }
  }
  return normal(file);
}

/// Returns the fault of the reader with this file; empty if it refused the file with a position or read it correctly.
std::string fault_of(const Json& file) {
  const Result<SavedState> state = parse(file.dump(1), "s.json");
  if (!state) return state.error().line > 0 ? "" : "refused without a place: " + state.error().text();
  if (const auto found = model::find_inconsistency(state->snapshot)) {
    return "read with a contradiction: " + found->table + "." + found->field + ": " + found->message;
  }
  (void)redecide(*state);
  const Json expected = comparable(file), read = comparable(Json::parse(to_json(*state)));
  return expected == read ? "" : "read as something else: " + Json::diff(expected, read).dump();
}

TEST(ReadSnapshot, ReadsAFileWithEveryKey) {
  const Json file = full_file();
  EXPECT_EQ(fault_of(file), "");
  ASSERT_TRUE(parse(file.dump(), "s.json")) << parse(file.dump(), "s.json").error().text();
}

TEST(ReadSnapshot, AMissingMemberIsRefusedOrReadAsAbsent) {
  const Json file = full_file();
  for (const Pointer& path : paths_of(file)) {
    Json mutated = file;
    erase(mutated, path);
    EXPECT_EQ(fault_of(mutated), "") << "without " << path.to_string();
  }
}

TEST(ReadSnapshot, ANullIsRefusedOrReadAsAbsent) {
  const Json file = full_file();
  for (const Pointer& path : paths_of(file)) {
    Json mutated = file;
    mutated[path] = nullptr;
    EXPECT_EQ(fault_of(mutated), "") << "null in " << path.to_string();
  }
}

rc::Gen<Json> any_value() {
  return rc::gen::element<Json>(nullptr, true, false, "", "x", "value", "pending", Json::array(), Json::object(), 0, 1,
                                2, 8, -1, 1.5, 1e300, 1'000'001, std::int64_t{1} << 31, std::int64_t{1} << 32,
                                std::int64_t{101'000'000'000}, std::numeric_limits<std::int64_t>::max(),
                                std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::uint64_t>::max());
}

RC_GTEST_PROP(ReadSnapshot, AMutatedFileIsRefusedOrReadCorrectly, ()) {
  Json file = full_file();
  std::string mutations;
  for (int n = *rc::gen::inRange(1, 4); n > 0; --n) {
    const Pointer path = *rc::gen::elementOf(paths_of(file));
    if (path.to_string().starts_with("/policies/") && path.to_string() != "/policies/name") continue;
    if (*rc::gen::inRange(0, 4) == 0) {
      mutations += " without " + path.to_string();
      erase(file, path);
    } else {
      file[path] = *any_value();
      mutations += " " + path.to_string() + " = " + file[path].dump();
    }
  }
  const std::string fault = fault_of(file);
  if (!fault.empty()) RC_FAIL(mutations + ": " + fault);
}

}  // namespace
}  // namespace capstan::archive
