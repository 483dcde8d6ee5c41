// A replica that changes its role: it finishes what it holds in the one, and joins the other's router.
#include <algorithm>

#include "base/assert.h"
#include "sim/cluster/cluster.h"

namespace capstan::sim {

std::optional<model::Reason> Cluster::perform(const model::ConvertReplica& what) {
  const model::Reason refused{model::ReasonCode::outcome_refused};
  const model::Gang* gang = seen_.gangs.find(what.gang);
  const WorkloadKey from{what.from, model::VariantId{0}}, to{what.to, model::VariantId{0}};
  if (gang == nullptr || from != WorkloadKey{gang->service, gang->variant} || to == from) return refused;
  if (!workloads_.contains(to) || !start_of(to).conversion) return refused;
  if (gangs_.at(what.gang).stage != Stage::ready) return refused;
  leave_router(what.gang);
  gangs_.at(what.gang).stage = Stage::converting;
  converting_.insert(what.gang);
  set_desired(from, std::max<ReplicaCount>(workloads_.at(from).desired - 1, 0));
  move(what.gang, to);
  set_desired(to, workloads_.at(to).desired + 1);
  return std::nullopt;
}

/// What its nodes loaded for the one role serves the other as well: it is the same engine.
void Cluster::move(model::GangId id, const WorkloadKey& to) {
  model::Gang gang = seen_.gangs.at(id);
  const WorkloadKey from{gang.service, gang.variant};
  for (const auto& [node, pods] : nodes_of(gang)) {
    const Weights there = weights_on(node, from);
    Weights& here = weights_on(node, to);
    here.loaded = std::max(here.loaded, there.loaded);
    here.compiled = here.compiled || there.compiled;
  }
  workloads_.at(from).gangs.erase(id);
  gang.service = to.first;
  gang.variant = to.second;
  gang.ordinal = free_ordinal(workloads_.at(to));
  gang.resumed = true;
  gang.expected_ready_at = now_ + start_of(to).conversion->midpoint();
  workloads_.at(to).gangs.insert(id);
  GangRecord& record = gangs_.at(id);
  record.start.service = gang.service;
  record.start.variant = gang.variant;
  record.start.ordinal = gang.ordinal;
  record.woken = false;
  set(id, std::move(gang));
  forget_readings(id);
  set_phases(id, model::Gang::Phase::starting, model::Pod::Phase::starting);
}

void Cluster::join(model::GangId id) {
  const bool converts = converting_.erase(id) > 0;
  CAPSTAN_ASSERT(converts);
  const ColdStart& start = gangs_.at(id).start;
  resume_within(id, *start_of({start.service, start.variant}).conversion);
}

}  // namespace capstan::sim
