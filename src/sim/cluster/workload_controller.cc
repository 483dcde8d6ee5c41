#include "sim/cluster/workload_controller.h"

#include <algorithm>

#include "base/assert.h"
#include "base/known_row.h"

namespace capstan::sim {

WorkloadController::WorkloadController(Basics& basics, std::uint64_t seed, Gangs& gangs)
    : Component(basics), gangs_(gangs), draws_(seed, "cluster.workload") {
  for (std::uint32_t s = 0; s < catalog().services.size(); ++s) {
    workloads_[{s}];
    api_.set(model::ServiceId{s}, model::ServiceState{});
  }
}

void WorkloadController::start_initial(Binder& binder) {
  QueueRoom queues(rows());
  for (const InitialReplicas& initial : config_.initial) {
    const Workload& workload = known_row(workloads_, initial.service);
    set_desired(initial.service, workload.desired + initial.replicas);
    for (ReplicaCount i = 0; i < initial.replicas; ++i) {
      const model::GangId id = gangs_.create(initial.service, workload.raised_at);
      if (initial.ready && binder.place_whole(id, queues)) gangs_.serve_warm(id);
    }
  }
}

void WorkloadController::set_desired(model::ServiceId service, ReplicaCount replicas) {
  known_row(workloads_, service).desired = replicas;
  model::ServiceState state = rows().services.at(service);
  state.desired_replicas = replicas;
  api_.set(service, state);
}

void WorkloadController::schedule_reconcile(model::ServiceId service) {
  CAPSTAN_ASSERT(workloads_.contains(service));
  events_.schedule(now() + config_.pod_creation.draw(draws_), EventKind::reconcile, service.value);
}

/// Returns how many replicas the workload lacks. Negative if it has too many.
ReplicaCount WorkloadController::lacking(model::ServiceId service) const {
  return known_row(workloads_, service).desired - gangs_.active_count(service);
}

std::optional<model::Reason> WorkloadController::perform(const model::SetReplicas& what) {
  const model::ServiceId service = what.service;
  const auto it = workloads_.find(service);
  if (it == workloads_.end() || what.replicas < 0) return model::Reason{model::ReasonCode::outcome_refused};
  if (what.replicas > it->second.desired) it->second.raised_at = now();
  set_desired(service, what.replicas);
  lower(service, what.drain);
  wake_sleepers(service);
  // If no replica is lacking, no random number is drawn, so that a repeated request has no effect on later events.
  if (lacking(service) > 0) schedule_reconcile(service);
  return std::nullopt;
}

std::optional<model::Reason> WorkloadController::perform(const model::ConvertReplica& what) {
  const model::Reason refused{model::ReasonCode::outcome_refused};
  const model::Gang* gang = rows().gangs.find(what.gang);
  const model::ServiceId from = what.from, to = what.to;
  if (gang == nullptr || from != gang->service || to == from) return refused;
  if (!workloads_.contains(from) || !workloads_.contains(to) || !start_of(to).conversion || !gangs_.is_ready(what.gang))
    return refused;
  gangs_.convert(what.gang, to);
  set_desired(from, std::max<ReplicaCount>(known_row(workloads_, from).desired - 1, 0));
  set_desired(to, known_row(workloads_, to).desired + 1);
  return std::nullopt;
}

/// Retires the replicas above the desired count: first the named ones, then the ones with the highest ordinals.
void WorkloadController::lower(model::ServiceId service, const std::vector<model::GangId>& named) {
  ReplicaCount excess = -lacking(service);
  for (model::GangId id : named) {
    if (excess <= 0) return;
    if (!gangs_.gangs_of(service).contains(id) || !gangs_.stays(id)) continue;
    gangs_.retire(id);
    --excess;
  }
  for (; excess > 0; --excess) {
    model::GangId highest;
    for (model::GangId id : gangs_.gangs_of(service)) {
      if (!gangs_.stays(id)) continue;
      if (!highest.valid() || rows().gangs.at(id).ordinal > rows().gangs.at(highest).ordinal) highest = id;
    }
    CAPSTAN_ASSERT(highest.valid());
    gangs_.retire(highest);
  }
}

/// Wakes sleeping replicas, as many as the workload lacks. They serve sooner than new ones.
void WorkloadController::wake_sleepers(model::ServiceId service) {
  ReplicaCount missing = lacking(service);
  for (const model::GangId id : gangs_.gangs_of(service)) {
    if (missing <= 0) return;
    if (!gangs_.is_asleep(id)) continue;
    gangs_.wake(id);
    --missing;
  }
}

void WorkloadController::reconcile(model::ServiceId service) {
  wake_sleepers(service);
  for (ReplicaCount n = lacking(service); n > 0; --n) gangs_.create(service, known_row(workloads_, service).raised_at);
}

std::vector<model::GangId> WorkloadController::basis_of(const model::SetReplicas& what) const {
  if (what.drain.empty()) return {};
  std::vector<model::GangId> basis = what.drain;
  if (!workloads_.contains(what.service)) return basis;
  for (const model::GangId id : gangs_.gangs_of(what.service)) {
    if (gangs_.is_ready(id)) basis.push_back(id);
  }
  return basis;
}

}  // namespace capstan::sim
