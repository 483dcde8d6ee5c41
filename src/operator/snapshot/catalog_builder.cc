#include "operator/snapshot/catalog_builder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/known_row.h"
#include "kube/well_known_labels.h"
#include "model/consistency.h"

namespace capstan::op {
namespace {

using kube::labels::kInstanceType;
using kube::labels::kZone;

/// Labels of racks. Administrators set the first label, as in the topology examples of KAI and Kueue. Amazon sets the
/// second label.
constexpr std::string_view kRacks[] = {"topology.kubernetes.io/rack", "topology.k8s.aws/network-node-layer-3"};
/// Written by NVIDIA's feature discovery on nodes of a multi-node NVLink domain: "<cluster uuid>.<clique id>".
/// https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery
constexpr std::string_view kNvlink = "nvidia.com/gpu.clique";
constexpr std::string_view kGpuNames[] = {kube::labels::kGpuProduct, "karpenter.k8s.aws/instance-gpu-name"};

/// Largest number of pods, and of GPUs, of one replica that a snapshot file may state.
constexpr std::int64_t kMaxPerReplica = 1'024;
constexpr RequestCount kMaxRequests = 1'000'000;
constexpr std::size_t kMaxNames = 10'000;  // names of models in the cache
constexpr ReplicaCount kMaxReplicas = 1'000'000;

std::string_view first_of(const kube::StringMap& labels, auto& keys) {
  for (const std::string_view key : keys) {
    if (const std::string* value = labels.find(key)) return *value;
  }
  return {};
}

template <typename Rows, typename Same>
std::uint32_t position(const Rows& rows, Same same) {
  return static_cast<std::uint32_t>(std::ranges::find_if(rows, same) - rows.begin());
}

/// Returns the level of the standard topology whose domains a node label names; none for other labels.
std::optional<model::TopologyLevel> standard_level_of(std::string_view label) {
  if (label == kZone) return model::TopologyLevel::zone;
  if (label == kNvlink) return model::TopologyLevel::nvlink;
  if (std::ranges::find(kRacks, label) != std::end(kRacks)) return model::TopologyLevel::rack;
  return std::nullopt;
}

bool same(const model::Offering& a, const model::Offering& b) {
  return a.instance_type == b.instance_type && a.gpu == b.gpu && a.gpus == b.gpus && a.zone == b.zone &&
         a.capacity == b.capacity;
}

}  // namespace

CatalogBuilder::CatalogBuilder() {
  domain("cluster", model::TopologyLevel::cluster, {});
  for (model::Topology::LevelInfo& depth : catalog_.topologies.front().levels) {
    const bool is_rack_or_narrower = depth.name == "rack" || depth.name == "nvlink";
    depth.is_chosen_at_launch = !is_rack_or_narrower;  // a launch can request a zone, but no rack
  }
}

model::GpuKindId CatalogBuilder::gpu_kind(const std::string& name) {
  const auto [found, is_new] = gpu_names_.try_emplace(name);
  std::string& kind = found->second;
  if (is_new) kind = engine::gpu_of_product(engine::EngineTable::bundled(), name).value_or(name);
  const std::uint32_t at = position(catalog_.gpu_kinds, [&](const std::string& known) { return known == kind; });
  if (at == catalog_.gpu_kinds.size()) catalog_.gpu_kinds.push_back(kind);
  return {at};
}

const std::optional<engine::ServedModel>& CatalogBuilder::served_model(const std::string& name) {
  const auto [found, is_new] = models_.try_emplace(name);
  if (models_.size() > kMaxNames) {  // names of deleted scalers would fill the cache, so it is cleared
    models_.clear();
    return served_model(name);
  }
  if (is_new) found->second = engine::model_of_name(engine::EngineTable::bundled(), name);
  return found->second;
}

model::PoolId CatalogBuilder::pool(const std::string& name) {
  const std::uint32_t at = position(catalog_.pools, [&](const model::Pool& known) { return known.name == name; });
  if (at == catalog_.pools.size()) catalog_.pools.push_back({.name = name, .offerings = {}});
  return {at};
}

model::InstanceTypeId CatalogBuilder::instance_type(const model::InstanceType& type) {
  std::vector<model::InstanceType>& types = catalog_.instance_types;
  const std::uint32_t at = position(types, [&](const model::InstanceType& known) { return known.name == type.name; });
  if (at < types.size()) {
    types[at] = type;
  } else if (type.cpu_milli || type.memory_mib || type.storage_mib || type.pod_slots || type.extended) {
    types.push_back(type);
  } else {
    return {};
  }
  return {at};
}

model::OfferingId CatalogBuilder::offering(const model::Offering& offering) {
  const std::uint32_t at =
      position(catalog_.offerings, [&](const model::Offering& known) { return same(known, offering); });
  if (at == catalog_.offerings.size()) catalog_.offerings.push_back(offering);
  if (offering.price_per_hour != MicroUsd{}) catalog_.offerings[at].price_per_hour = offering.price_per_hour;
  if (offering.type.valid()) catalog_.offerings[at].type = offering.type;
  return {at};
}

void CatalogBuilder::set_pool(model::PoolId id, model::Pool pool) {
  model::Pool& row = known_row(catalog_.pools, id.value);
  pool.name = std::move(row.name);  // a deleted pool keeps its name and its position
  row = std::move(pool);
}

void CatalogBuilder::add_topologies(const std::vector<model::Topology>& topologies) {
  for (const model::Topology& topology : topologies) {
    if (std::ranges::find(catalog_.topologies, topology.name, &model::Topology::name) != catalog_.topologies.end())
      continue;
    catalog_.topologies.push_back(topology);
    if (model::find_fault(catalog_.topologies)) return catalog_.topologies.pop_back();  // there are too many now
    for (model::Topology::LevelInfo& depth : catalog_.topologies.back().levels) depth.is_chosen_at_launch = false;
  }
}

model::DomainId CatalogBuilder::domain(const std::string& name, model::Level level, model::DomainId parent) {
  const model::DomainId next{static_cast<std::uint32_t>(catalog_.domains.size())};
  const auto [found, is_new] = domains_.try_emplace(std::tuple(parent, level, name), next);
  if (is_new) catalog_.domains.push_back({name, level, parent});
  return found->second;
}

model::DomainPath CatalogBuilder::domains(const kube::StringMap& labels) {
  using enum model::TopologyLevel;
  const std::pair<model::TopologyLevel, std::string_view> stated[] = {
      {zone, labels.get(kZone)}, {rack, first_of(labels, kRacks)}, {nvlink, labels.get(kNvlink)}};
  model::DomainPath path;
  model::DomainId parent{0};
  path.set(cluster, parent);
  for (const auto& [level, name] : stated) {
    if (name.empty()) continue;
    parent = domain(std::string(name), level, parent);
    path.set(level, parent);
  }
  for (std::size_t t = 1; t < catalog_.topologies.size(); ++t) {
    const std::vector<model::Topology::LevelInfo>& levels = catalog_.topologies[t].levels;
    // As in KAI, a node without one of the labels lies outside the topology.
    const auto lacks = [&](const model::Topology::LevelInfo& depth) { return labels.get(depth.node_label).empty(); };
    if (std::ranges::any_of(levels, lacks)) continue;
    parent = {0};
    for (std::size_t depth = 0; depth < levels.size(); ++depth) {
      const model::Level level = model::level_at(catalog_.topologies, {t, depth});
      parent = domain(std::string(labels.get(levels[depth].node_label)), level, parent);
      path.set(level, parent);
    }
  }
  return path;
}

std::optional<model::Level> CatalogBuilder::level_of(std::string_view topology, std::string_view label) const {
  if (label.empty()) return std::nullopt;
  const std::vector<model::Topology>& all = catalog_.topologies;
  const auto named = std::ranges::find(all, topology, &model::Topology::name);
  const auto first = static_cast<std::size_t>(named - all.begin());
  const bool is_other = named != all.end() && first > 0;
  if (label == kube::labels::kHostname) return model::TopologyLevel::node;
  if (!is_other) {
    if (const std::optional<model::TopologyLevel> level = standard_level_of(label)) return *level;
  }
  for (std::size_t t = is_other ? first : 1; t < (is_other ? first + 1 : all.size()); ++t) {
    for (std::size_t depth = 0; depth < all[t].levels.size(); ++depth) {
      const bool is_named = is_other && all[t].levels[depth].name == label;
      if (is_named || all[t].levels[depth].node_label == label) return model::level_at(all, {t, depth});
    }
  }
  return std::nullopt;
}

void CatalogBuilder::constrain(const kube::TopologyConstraint& constraint, model::Level& required_level,
                               std::optional<model::Level>& preferred) const {
  if (const auto level = level_of(constraint.topology, constraint.required_level)) required_level = *level;
  preferred = level_of(constraint.topology, constraint.preferred_level);
  if (model::preference_fault(catalog_, required_level, preferred)) preferred.reset();
}

void CatalogBuilder::set_service(model::ServiceId id, model::Service service) {
  CAPSTAN_ASSERT(id.value <= catalog_.services.size());
  if (id.value == catalog_.services.size()) catalog_.services.emplace_back();
  catalog_.services[id.value] = std::move(service);
}

void CatalogBuilder::clear_service(model::ServiceId id) {
  model::Service& service = known_row(catalog_.services, id.value);
  service = {};
  service.workload.gpu = any_gpu_kind();
}

std::string gpu_name(const kube::StringMap& labels, const kube::Resources& resources, const FleetPolicy& fleet) {
  if (const std::string_view name = first_of(labels, kGpuNames); !name.empty()) return std::string(name);
  const std::string_view type = labels.get(kInstanceType);
  const auto described = std::ranges::find(fleet.instance_types, type, &FleetPolicy::InstanceType::name);
  if (described != fleet.instance_types.end()) return described->gpu;
  for (const auto& [name, milli] : resources.milli) {
    if (name.ends_with("/gpu") && milli > 0) return name;
  }
  return {};
}

namespace {

decide::scale::Policy queue_policy(const InferenceScaler& scaler) {
  decide::scale::QueueHpa queue;
  const auto bounded = [](RequestCount requests) { return std::min(requests, kMaxRequests); };
  queue.waiting_per_replica = bounded(scaler.waiting_per_replica);
  if (scaler.running_per_replica) queue.running_per_replica = bounded(*scaler.running_per_replica);
  // With two decisions per reading, a new reading waits at most half an interval.
  queue.hpa.sync_period =
      std::clamp<Duration>(scaler.interval / 2, std::chrono::milliseconds(100), std::chrono::hours(1));
  queue.hpa.downscale_stabilization = std::clamp<Duration>(scaler.cool_down, {}, std::chrono::hours(24));
  queue.hpa.blocks_scale_down_if_silent = true;
  return queue;
}

}  // namespace

decide::scale::Policy policy_of(const InferenceScaler& scaler) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  if (scaler.policy == InferenceScaler::Policy::queue) return queue_policy(scaler);
  if (scaler.policy == InferenceScaler::Policy::rules) {
    decide::scale::Rules rules = scaler.rules;
    rules.cool_down = std::clamp<Duration>(scaler.cool_down, {}, std::chrono::hours(24));
    rules.sync_period = std::clamp<Duration>(scaler.interval, milliseconds(100), seconds(15));
    return rules;
  }
  // The policy decides at its default interval, as in a scenario, even if readings come more often. It remembers a
  // fixed number of decisions, so with more frequent decisions its memory would be shorter than its windows.
  return decide::scale::Capstan{};
}

std::vector<ScalerTarget> targets_of(const InferenceScaler& scaler) {
  std::vector<ScalerTarget> all;
  for (std::size_t r = 0; r < scaler.roles.size(); ++r) {
    for (std::size_t v = 0; v < scaler.roles[r].variants.size(); ++v) {
      all.push_back({&scaler.roles[r], &scaler.roles[r].variants[v],
                     "spec.roles[" + std::to_string(r) + "].variants[" + std::to_string(v) + "].targetRef",
                     scaler.meta.key()});
    }
  }
  if (all.size() > 1) {
    for (ScalerTarget& target : all) target.service_name += "/" + target.variant->target.name;
  }
  return all;
}

model::Service service_of(const InferenceScaler& scaler, const ScalerTarget& target, const kube::Workload* workload,
                          CatalogBuilder& catalog) {
  model::Service service;
  model::Workload& row = service.workload;
  row.name = target.variant->target.name;
  const InferenceScaler::Variant::EngineProfile& profile = target.variant->engine_profile;
  const auto& named = catalog.served_model(profile.model.empty() ? scaler.model : profile.model);
  row.model = named ? named->model : profile.model.empty() ? scaler.model : profile.model;
  if (!profile.dtype.empty() || named) row.dtype = profile.dtype.empty() ? named->weight_dtype : profile.dtype;
  if (!scaler.engine.empty()) row.engine = scaler.engine;
  row.price_per_hour = target.variant->replica_price_per_hour;
  row.role = target.role->role;
  row.gpu = target.variant->gpu.empty() ? catalog.any_gpu_kind() : catalog.gpu_kind(target.variant->gpu);
  if (workload != nullptr) {
    const MilliGpu per_pod = gpus_of(workload->pod.requests);
    row.pods = static_cast<std::int32_t>(std::clamp<std::int64_t>(workload->pods_per_replica, 1, kMaxPerReplica));
    MilliGpu all = per_pod * row.pods;
    if (workload->leader && row.pods > 1) all = per_pod * (row.pods - 1) + gpus_of(workload->leader->requests);
    row.gpus_per_replica = static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus_up(all), 1, kMaxPerReplica));
    if (row.pods > 1) row.required_level = model::TopologyLevel::cluster;
  }
  service.name = target.service_name;
  service.slo = scaler.slo;
  service.max_replicas = std::min(target.variant->max_replicas, kMaxReplicas);
  service.min_replicas = std::min(target.variant->min_replicas, service.max_replicas);
  service.survives = target.variant->survives;
  service.windows = target.variant->windows;
  for (model::BoundsWindow& window : service.windows) {
    if (window.min) window.min = std::min(*window.min, kMaxReplicas);
    if (window.max) window.max = std::min(*window.max, kMaxReplicas);
  }
  return service;
}

}  // namespace capstan::op
