#include "decide/scale/scale.h"

namespace capstan::decide::scale {
namespace {

/// Names as the catalog has them: no copies and no allocation, as every decision asks.
const engine::EngineRow* engine_row(const model::Catalog& catalog, const model::Variant& variant) {
  if (!variant.gpu.valid() || variant.gpu.value >= catalog.gpu_kinds.size()) return nullptr;
  const std::string& gpu = catalog.gpu_kinds[variant.gpu.value];
  for (const engine::EngineRow& row : engine::EngineTable::bundled().rows()) {
    if (row.tp == variant.tensor_parallel && row.model == variant.model && row.gpu == gpu &&
        row.weight_dtype == variant.dtype) {
      return &row;
    }
  }
  return nullptr;
}

/// By id.
std::vector<RoleView::Replica> replicas_of(const model::Snapshot& snapshot, const Index& index, ServiceId service,
                                           model::VariantId variant) {
  std::vector<RoleView::Replica> replicas;
  const auto gangs = index.gangs_by_service.find(service);
  if (gangs == index.gangs_by_service.end()) return replicas;
  for (GangId id : gangs->second) {
    const model::Gang& gang = snapshot.gangs.at(id);
    if (gang.variant == variant) {
      replicas.push_back({id, gang.phase, gang.created_at, gang.signals, gang.expected_ready_at});
    }
  }
  return replicas;
}

}  // namespace

RoleView view(const model::Snapshot& snapshot, const Index& index, ServiceId service) {
  RoleView role;
  role.service = service;
  const model::Service& settings = snapshot.catalog->service(service);
  role.min = settings.min_replicas;
  role.max = settings.max_replicas;
  role.slo = settings.slo;
  role.role = settings.variants.front().role;
  role.engine = engine_row(*snapshot.catalog, settings.variants.front());
  if (const model::ServiceState* state = snapshot.services.find(service)) {
    role.current = state->desired_replicas;
    role.gateway_waiting = state->gateway_waiting;
  }
  role.replicas = replicas_of(snapshot, index, service, role.variant);
  if (settings.fed_by.valid()) role.feeding = replicas_of(snapshot, index, settings.fed_by, role.variant);
  return role;
}

}  // namespace capstan::decide::scale
