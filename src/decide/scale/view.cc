#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "decide/provision/purchase_limits.h"
#include "decide/scale/scale.h"

namespace capstan::decide::scale {
namespace {

/// Returns the bundled table's row for the workload. It compares names in place, without copies or allocations, because
/// every decision calls it.
const engine::EngineRow* engine_row(const model::Catalog& catalog, const model::Workload& workload) {
  if (!workload.gpu.valid() || workload.gpu.value >= catalog.gpu_kinds.size()) return nullptr;
  const std::string& gpu = catalog.gpu_kinds[workload.gpu.value];
  for (const engine::EngineRow& row : engine::EngineTable::bundled().rows()) {
    if (row.tp == workload.gpus_per_replica && row.model == workload.model && row.gpu == gpu &&
        row.weight_dtype == workload.dtype) {
      return &row;
    }
  }
  return nullptr;
}

/// Returns the replicas of a service that do not sleep, ordered by id.
std::vector<WorkloadView::Replica> replicas_of(const model::Snapshot& snapshot, const Index& index, ServiceId service) {
  std::vector<WorkloadView::Replica> replicas;
  const auto gangs = index.gangs_by_service.find(service);
  if (gangs == index.gangs_by_service.end()) return replicas;
  for (GangId id : gangs->second) {
    const model::Gang& gang = snapshot.gangs.at(id);
    if (gang.phase != model::Gang::Phase::sleeping) {
      replicas.push_back(
          {id, gang.phase, gang.created_at, snapshot.signals_of(id), gang.expected_ready_at, gang.resumed});
    }
  }
  return replicas;
}

/// Returns the replicas of all variants of the service that computes the prompts, ordered by id.
std::vector<WorkloadView::Replica> prefill_replicas_of(const model::Snapshot& snapshot, const Index& index,
                                                       ServiceId service) {
  std::vector<WorkloadView::Replica> all = replicas_of(snapshot, index, service);
  const std::vector<ServiceId>& variants = snapshot.catalog->service(service).alternatives;
  for (const ServiceId id : variants) {
    const std::vector<WorkloadView::Replica> more = replicas_of(snapshot, index, id);
    all.insert(all.end(), more.begin(), more.end());
  }
  if (!variants.empty()) std::ranges::sort(all, {}, &WorkloadView::Replica::id);
  return all;
}

/// Counts the replicas in each failure domain and stores the domain of each replica in `role`.
Spread spread_of(const model::Snapshot& snapshot, const Index& index, const model::Service& settings,
                 WorkloadView& role) {
  const model::Workload& workload = settings.workload;
  Spread spread{.level = *settings.survives,
                .domains = failure_domains(index, *snapshot.catalog, workload, *settings.survives),
                .is_enforced = !workload.placed_elsewhere,
                .held = {}};
  std::map<FailureDomain, ReplicaCount> held;
  for (WorkloadView::Replica& replica : role.replicas) {
    replica.domain = failure_domain_of(index, snapshot.gangs.at(replica.id), spread.level);
    if (replica.domain != kNowhere && replica.phase != model::Gang::Phase::draining) ++held[replica.domain];
  }
  for (const auto& [domain, count] : held) spread.held.push_back(count);
  std::ranges::sort(spread.held, std::greater());
  return spread;
}

}  // namespace

WorkloadView view(const model::Snapshot& snapshot, const Index& index, ServiceId service) {
  WorkloadView role;
  role.service = service;
  const model::Service& settings = snapshot.catalog->service(service);
  const model::Bounds bounds =
      model::bounds_at({settings.min_replicas, settings.max_replicas}, settings.windows, snapshot.at, {});
  role.min = bounds.min;
  role.max = bounds.max;
  role.windows = &settings.windows;
  role.slo = settings.slo;
  role.role = settings.workload.role;
  role.step_limits = settings.workload.step_limits;
  role.conversion = settings.role_limits.conversion;
  role.engine = engine_row(*snapshot.catalog, settings.workload);
  if (const model::ServiceState* state = snapshot.services.find(service)) {
    role.current = state->desired_replicas;
    role.gateway_waiting = state->gateway_waiting;
  }
  role.replicas = replicas_of(snapshot, index, service);
  if (settings.survives) role.spread = spread_of(snapshot, index, settings, role);
  if (settings.prefill_service.valid())
    role.prefill_replicas = prefill_replicas_of(snapshot, index, settings.prefill_service);
  return role;
}

WorkloadView view_of_mix(const model::Snapshot& snapshot, const Index& index, ServiceId service,
                         const MixSource& source, Instant now) {
  WorkloadView role = view(snapshot, index, service);
  const model::Catalog& catalog = *snapshot.catalog;
  for (const ServiceId id : catalog.service(service).alternatives) {
    const bool decided_here = source.deciders[id.value] == service && snapshot.services.find(id) != nullptr;
    if (decided_here) role.alternatives.push_back(view(snapshot, index, id));
  }
  if (role.alternatives.empty()) return role;
  std::optional<provision::PurchaseLimits> capacity;
  if (source.provision_memory != nullptr) capacity.emplace(index, snapshot, *source.provision_memory, now);
  const auto complete = [&](WorkloadView& of) {
    of.supply =
        supply_of(index, catalog, catalog.service(of.service).workload, capacity ? &*capacity : nullptr, of.max);
    const ReplicaCount floor = source.memories[of.service.value].floor;
    if (floor > 0) of.min = std::min(of.max, std::max({of.min, of.current, floor}));
  };
  complete(role);
  for (WorkloadView& other : role.alternatives) complete(other);
  return role;
}

std::vector<ServiceId> deciders(const model::Snapshot& snapshot,
                                const std::function<const Policy&(ServiceId)>& policy_of) {
  const model::Catalog& catalog = *snapshot.catalog;
  std::vector<ServiceId> by(catalog.services.size());
  for (std::uint32_t i = 0; i < by.size(); ++i) by[i] = {i};
  const auto mixes = [&](ServiceId id) {
    return snapshot.services.find(id) != nullptr && std::holds_alternative<Capstan>(policy_of(id));
  };
  for (std::uint32_t i = 0; i < by.size(); ++i) {
    for (const ServiceId other : catalog.services[i].alternatives) {
      if (mixes({i}) && mixes(other)) by[other.value] = {i};
    }
  }
  return by;
}

}  // namespace capstan::decide::scale
