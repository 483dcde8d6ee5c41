#include "operator/snapshot/catalog_builder.h"

#include <gtest/gtest.h>
#include "objects.h"

namespace capstan::op {
namespace {

using enum model::TopologyLevel;

TEST(CatalogBuilder, DomainsComeFromLabels) {
  CatalogBuilder builder;
  const model::DomainPath full = builder.domains(
      {{"topology.kubernetes.io/zone", "a"}, {"topology.kubernetes.io/rack", "r1"}, {"nvidia.com/gpu.clique", "c.0"}});
  const model::DomainPath bare = builder.domains({});
  const auto catalog = builder.catalog();
  const auto at = [](const model::DomainPath& path, model::TopologyLevel level) { return path.domain_at(level); };
  EXPECT_EQ(catalog->domain(at(full, nvlink)).name, "c.0");
  EXPECT_EQ(catalog->domain(at(full, nvlink)).parent, at(full, rack));
  EXPECT_EQ(catalog->domain(at(full, rack)).parent, at(full, zone));
  EXPECT_EQ(catalog->domain(at(full, zone)).parent, at(full, cluster));
  EXPECT_EQ(at(bare, cluster), at(full, cluster));
  EXPECT_FALSE(at(bare, zone).valid());
  EXPECT_EQ(builder.domains({{"topology.kubernetes.io/zone", "a"}}).domain_at(zone), at(full, zone))
      << "equal zones are one domain";
}

model::Topology fabric() {
  return {.name = "fabric",
          .levels = {{.name = "spine", .node_label = "example.com/spine"},
                     {.name = "leaf", .node_label = "example.com/leaf"}}};
}

TEST(CatalogBuilder, ANodeLiesInEachTopologyOfWhichItHasAllLabels) {
  CatalogBuilder builder;
  builder.add_topologies({fabric(), {.name = "power", .levels = {{.name = "feed", .node_label = "example.com/feed"}}}});
  const model::Level spine = *builder.level_of("fabric", "spine"), leaf = *builder.level_of("", "example.com/leaf");
  const model::Level feed = *builder.level_of("", "example.com/feed");
  const kube::StringMap labels = {{"topology.kubernetes.io/zone", "a"},
                                  {"example.com/spine", "s"},
                                  {"example.com/leaf", "l"},
                                  {"example.com/feed", "f"}};
  const model::DomainPath full = builder.domains(labels);
  const model::DomainPath other = builder.domains({{"example.com/spine", "t"}, {"example.com/leaf", "l"}});
  const model::DomainPath partly = builder.domains({{"example.com/leaf", "l"}});
  const auto catalog = builder.catalog();
  EXPECT_EQ(catalog->domain(full.domain_at(leaf)).parent, full.domain_at(spine));
  EXPECT_EQ(catalog->domain(full.domain_at(spine)).parent, full.domain_at(cluster));
  EXPECT_EQ(catalog->domain(full.domain_at(feed)).name, "f");
  EXPECT_EQ(catalog->domain(full.domain_at(zone)).name, "a");
  EXPECT_EQ(builder.domains(labels), full);
  EXPECT_NE(other.domain_at(leaf), full.domain_at(leaf))
      << "leaves of two spines are two domains, whatever their names";
  EXPECT_FALSE(partly.domain_at(leaf).valid()) << "without the label of the spine";
  EXPECT_FALSE(catalog->is_chosen_at_launch(leaf));
}

TEST(CatalogBuilder, AKnownTopologyKeepsItsLevels) {
  CatalogBuilder builder;
  builder.add_topologies({fabric()});
  model::Topology changed = fabric();
  changed.levels.pop_back();
  builder.add_topologies({changed, {.name = "power", .levels = {{.name = "feed", .node_label = "example.com/feed"}}}});
  ASSERT_EQ(builder.rows().topologies.size(), 3u);
  EXPECT_EQ(builder.rows().topologies[1].levels.size(), 2u);
}

TEST(CatalogBuilder, LevelsAreFoundByLabelAndInANamedTopologyAlsoByName) {
  CatalogBuilder builder;
  builder.add_topologies({fabric()});
  const auto level = [&](const char* topology, const char* label) {
    const std::optional<model::Level> found = builder.level_of(topology, label);
    return found ? builder.rows().level_key(*found) : "none";
  };
  EXPECT_EQ(level("", "topology.kubernetes.io/zone"), "zone");
  EXPECT_EQ(level("unknown", "topology.kubernetes.io/zone"), "zone");
  EXPECT_EQ(level("", "kubernetes.io/hostname"), "node");
  EXPECT_EQ(level("fabric", "kubernetes.io/hostname"), "node");
  EXPECT_EQ(level("", "example.com/spine"), "fabric/spine");
  EXPECT_EQ(level("fabric", "example.com/spine"), "fabric/spine");
  EXPECT_EQ(level("fabric", "leaf"), "fabric/leaf");
  EXPECT_EQ(level("", "leaf"), "none") << "a name without its topology";
  EXPECT_EQ(level("fabric", "topology.kubernetes.io/zone"), "none");
  EXPECT_EQ(level("fabric", ""), "none");
}

TEST(CatalogBuilder, ReadsAServiceFromItsScaler) {
  testing::Cluster cluster;
  testing::Object object = testing::scaler("chat", "chat");
  object["spec"]["roles"][0]["variants"][0]["gpu"] = "h100_sxm";
  object["spec"]["roles"][0]["variants"][0]["minReplicas"] = 9;
  object["spec"]["queue"] = {{"waitingPerReplica", 2}, {"runningPerReplica", 30}};
  object["spec"]["behavior"] = {{"coolDown", "90s"}};
  cluster.scalers.put(object);
  cluster.deployments.put(testing::deployment("chat", 2, 4));
  const ClusterView view = cluster.view();
  CatalogBuilder builder;
  view.scalers.for_each([&](kube::RowId, const InferenceScaler& scaler) {
    const ScalerTarget target = targets_of(scaler).at(0);
    EXPECT_EQ(target.field, "spec.roles[0].variants[0].targetRef");
    const Targets targets(view);
    const model::Service service = service_of(scaler, target, targets.find("ns", target.variant->target), builder);
    EXPECT_EQ(service.name, "ns/chat");
    EXPECT_EQ(service.max_replicas, 8);
    EXPECT_EQ(service.min_replicas, 8) << "never above the maximum";
    EXPECT_EQ(service.slo.ttft, std::chrono::seconds(2));
    EXPECT_EQ(service.workload.gpus_per_replica, 4);
    EXPECT_EQ(builder.catalog()->gpu_kind(service.workload.gpu), "h100_sxm");
    EXPECT_EQ(service.workload.model, "llama") << "a model that the table lacks keeps its name";

    const auto policy = std::get<decide::scale::QueueHpa>(policy_of(scaler));
    EXPECT_EQ(policy.waiting_per_replica, 2);
    EXPECT_EQ(policy.running_per_replica, 30);
    EXPECT_EQ(policy.hpa.downscale_stabilization, std::chrono::seconds(90));
    EXPECT_TRUE(policy.hpa.blocks_scale_down_if_silent);
  });
}

InferenceScaler read_spec(const testing::Object& spec) {
  testing::Object object = testing::scaler("chat", "chat");
  object["spec"].erase("policy");
  if (!spec.is_null()) object["spec"].update(spec);
  kube::JsonDocument document;
  const std::string text = object.dump();
  return read_inference_scaler(document.parse(text).value());
}

TEST(CatalogBuilder, AnInstanceTypeHasOneRowWithItsLatestResources) {
  CatalogBuilder catalog;
  EXPECT_FALSE(catalog.instance_type({.name = "p4d"}).valid()) << "nothing is known about it";
  const model::InstanceTypeId type = catalog.instance_type({.name = "p5", .cpu_milli = 48'000});
  ASSERT_TRUE(type.valid());
  model::Offering offering{.instance_type = "p5", .gpu = catalog.gpu_kind("H100"), .zone = {0}, .price_per_hour = {}};
  const model::OfferingId existing = catalog.offering(offering);
  offering.type = type;
  EXPECT_EQ(catalog.offering(offering), existing) << "a node of this offering exists";
  EXPECT_EQ(catalog.rows().resources_of_new_node(existing)->cpu_milli, 48'000);
  EXPECT_EQ(catalog.instance_type({.name = "p5"}), type);
  EXPECT_GT(catalog.rows().resources_of_new_node(existing)->cpu_milli, 1'000'000'000) << "no longer stated";
  EXPECT_EQ(catalog.rows().instance_types.size(), 1U);
}

TEST(CatalogBuilder, AllNamesOfAGpuGiveOneKind) {
  CatalogBuilder builder;
  EXPECT_EQ(builder.gpu_kind("NVIDIA-H100-80GB-HBM3"), builder.gpu_kind("h100_sxm"));
  EXPECT_NE(builder.gpu_kind("NVIDIA-H100-PCIe"), builder.gpu_kind("h100_sxm"));
  EXPECT_EQ(builder.catalog()->gpu_kinds, (std::vector<std::string>{"h100_sxm", "NVIDIA-H100-PCIe"}));
}

TEST(CatalogBuilder, ModelOrProfileNamesTheRowOfTheEngineTable) {
  const struct {
    const char* served;
    testing::Object profile;
    const char* model;
    const char* dtype;
  } rows[] = {
      {"meta-llama/Llama-3.3-70B-Instruct", {}, "Llama-3.3-70B", "bfloat16"},
      {"RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", {}, "Llama-3.3-70B", "fp8"},
      {"chat", {{"model", "Llama-3.3-70B"}}, "Llama-3.3-70B", "bfloat16"},
      {"chat", {{"model", "Llama-3.3-70B"}, {"dtype", "fp8"}}, "Llama-3.3-70B", "fp8"},
      {"deepseek-ai/DeepSeek-R1", {}, "deepseek-ai/DeepSeek-R1", "bfloat16"},
      {"deepseek-ai/DeepSeek-R1", {{"dtype", "fp8"}}, "deepseek-ai/DeepSeek-R1", "fp8"},
  };
  for (const auto& row : rows) {
    InferenceScaler scaler = read_spec({{"model", row.served}});
    if (!row.profile.is_null()) {
      scaler.roles[0].variants[0].engine_profile = {row.profile.value("model", ""), row.profile.value("dtype", "")};
    }
    CatalogBuilder builder;
    const model::Workload workload = service_of(scaler, targets_of(scaler).at(0), nullptr, builder).workload;
    EXPECT_EQ(workload.model, row.model);
    EXPECT_EQ(workload.dtype, row.dtype) << row.served;
  }
}

TEST(CatalogBuilder, ReadsThePolicyAndItsSettings) {
  using namespace std::chrono_literals;
  const auto policy = [](const testing::Object& spec) { return policy_of(read_spec(spec)); };
  EXPECT_EQ(policy({}), decide::scale::Policy(decide::scale::Capstan{})) << "the defaults of scenarios";
  EXPECT_EQ(policy({{"signals", {{"interval", "1s"}}}}), decide::scale::Policy(decide::scale::Capstan{}));
  EXPECT_EQ(policy({{"signals", {{"interval", "5m"}}}}), decide::scale::Policy(decide::scale::Capstan{}));
  EXPECT_EQ(policy({{"policy", "Rules"}}), decide::scale::Policy(decide::scale::Rules{}));
  decide::scale::Rules rules;
  rules.scale_on = decide::scale::Rules::ScaleOn::kv;
  rules.kv_above_ppm = 905'000;
  rules.kv_below_ppm = 200'000;
  rules.cool_down = 10min;
  rules.sync_period = 2s;
  EXPECT_EQ(policy({{"rules", {{"scaleOn", "KV"}, {"kvAbove", "90.5%"}, {"kvBelow", "20%"}}},
                    {"behavior", {{"coolDown", "10m"}}},
                    {"signals", {{"interval", "2s"}}}}),
            decide::scale::Policy(rules));
}

}  // namespace
}  // namespace capstan::op
