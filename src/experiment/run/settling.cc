#include "experiment/run/settling.h"

#include <algorithm>
#include <map>
#include <variant>

#include "model/queue_path.h"

namespace capstan::experiment {

namespace {

using namespace decide::scale;

/// Capstan's policy waits up to eight lead times before it lowers replicas.
constexpr std::int64_t kLeadTimesToLower = 8;
/// The lead time counts as at least a quarter of an hour.
constexpr Duration kMinLeadTime = std::chrono::minutes(15);

Duration longest_wait(const HpaSettings& hpa) {
  return hpa.behavior ? hpa.behavior->down.stabilization : hpa.downscale_stabilization;
}

/// A visitor that returns the time for which a scale policy waits before it lowers replicas.
struct ScaleWait {
  Duration operator()(const Fixed&) const { return {}; }
  Duration operator()(const Capstan&) const { return {}; }
  Duration operator()(const Rules& rules) const { return rules.cool_down; }
  Duration operator()(const DutyCycleHpa& policy) const { return longest_wait(policy.hpa); }
  Duration operator()(const QueueHpa& policy) const { return longest_wait(policy.hpa); }
  Duration operator()(const MemoryHpa& policy) const { return longest_wait(policy.hpa); }
};

/// Returns true if the wanted replicas need more GPUs than the limit of a queue allows them.
bool exceeds_a_queue(const model::Catalog& catalog, const model::Snapshot& truth) {
  std::map<model::QueueId, GpuCount> wanted;
  truth.services.for_each([&](model::ServiceId id, const model::ServiceState& state) {
    const model::Workload& workload = catalog.service(id).workload;
    for (const model::QueueId queue : model::QueuePath(catalog.queues, workload.queue)) {
      wanted[queue] += state.desired_replicas * workload.gpus_per_replica;
    }
  });
  return std::ranges::any_of(wanted, [&](const auto& row) {
    const std::optional<MilliGpu>& limit = catalog.queue(row.first).gpus.limit;
    return limit && whole_gpus(row.second) > *limit;
  });
}

}  // namespace

bool can_stand_still(const SimulationSetup& setup) {
  const sim::ClusterConfig& cluster = setup.cluster;
  const auto has_no_windows = [](const model::Service& service) { return service.windows.empty(); };
  return cluster.refused_ppm == 0 && cluster.unknown_ppm == 0 && cluster.scrape.loss_ppm == 0 &&
         cluster.scrape.blackout == Duration{} && cluster.provider.spot_interruptions_per_million_hours == 0 &&
         cluster.provider.outages.empty() && std::ranges::all_of(cluster.catalog->services, has_no_windows);
}

Duration settling_time(const SimulationSetup& setup, Duration longest_start) {
  Duration scale{};
  for (const Policy& policy : setup.policies.scale) scale = std::max(scale, std::visit(ScaleWait{}, policy));
  Duration sleep{};
  for (const sim::VariantStart& start : setup.cluster.starts) {
    if (start.sleep.max_replicas > 0) sleep = std::max(sleep, start.sleep.max_duration);
  }
  const Duration nodes = setup.policies.provision ? setup.policies.provision->consolidation.after : Duration{};
  return kLeadTimesToLower * std::max(kMinLeadTime, longest_start) + scale + sleep + nodes;
}

bool is_out_of_room(const SimulationSetup& setup, const model::Snapshot& truth) {
  const model::Catalog& catalog = *setup.cluster.catalog;
  std::map<model::GpuKindId, GpuCount> room;
  for (const sim::ExistingNodes& nodes : setup.cluster.existing) {
    const model::Offering& offering = catalog.offering(nodes.offering);
    if (!nodes.pool.valid()) room[offering.gpu] += nodes.count * offering.gpus;
  }
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    if (catalog.pools[p].offerings.empty()) continue;
    const model::OfferingId first = catalog.pools[p].offerings.front();
    const model::Offering& offering = catalog.offering(first);
    room[offering.gpu] += catalog.nodes_within_limits({p}, first) * offering.gpus;
  }
  truth.services.for_each([&](model::ServiceId id, const model::ServiceState& state) {
    const model::Workload& workload = catalog.service(id).workload;
    room[workload.gpu] -= state.desired_replicas * workload.gpus_per_replica;
  });
  truth.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    if (!gang.service.valid()) return;
    const model::Workload& workload = catalog.service(gang.service).workload;
    if (gang.phase == model::Gang::Phase::sleeping) room[workload.gpu] -= workload.gpus_per_replica;
  });
  const auto is_spread = [](const model::Service& service) { return service.survives.has_value(); };
  return std::ranges::any_of(catalog.services, is_spread) || exceeds_a_queue(catalog, truth) ||
         std::ranges::any_of(room, [](const auto& left) { return left.second < 0; });
}

Settling::Settling(const SimulationSetup& setup) : setup_(setup), can_stand_still_(can_stand_still(setup)) {}

void Settling::minute(Instant now, const MinuteState& state) {
  const std::int64_t actions = state.actions - actions_before_;
  const bool is_refused = state.refused > refused_before_;
  actions_before_ = state.actions;
  refused_before_ = state.refused;
  if (!can_stand_still_) return;
  if (state.has_work || is_refused) {
    unchanged_since_ = now;
    goal_judged_ = false;
    return;
  }
  if (now - unchanged_since_ <= settling_time(setup_, state.longest_start)) return;
  moves_ += actions;
  if (goal_judged_) return;
  goal_judged_ = true;
  if (state.missing > 0 && !state.is_out_of_room) ++goals_missed_;
}

}  // namespace capstan::experiment
