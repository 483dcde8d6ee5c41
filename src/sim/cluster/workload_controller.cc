#include "sim/cluster/workload_controller.h"

#include <algorithm>

#include "base/assert.h"

namespace capstan::sim {

WorkloadController::WorkloadController(Basics& basics, std::uint64_t seed, Gangs& gangs)
    : Part(basics), gangs_(gangs), draws_(seed, "cluster.workload") {
  for (std::uint32_t s = 0; s < catalog().services.size(); ++s) {
    for (std::uint32_t v = 0; v < catalog().services[s].variants.size(); ++v) {
      keys_.push_back({{s}, {v}});
      workloads_[keys_.back()];
    }
    api_.set(model::ServiceId{s}, model::ServiceState{});
  }
}

void WorkloadController::start_initial(Binder& binder) {
  for (const InitialReplicas& initial : config_.initial) {
    const WorkloadKey key{initial.service, initial.variant};
    const Workload& workload = workloads_.at(key);
    set_desired(key, workload.desired + initial.replicas);
    for (ReplicaCount i = 0; i < initial.replicas; ++i) {
      const model::GangId id = gangs_.create(key, workload.raised_at);
      if (initial.ready && binder.place_whole(id)) gangs_.serve_warm(id);
    }
  }
}

void WorkloadController::set_desired(const WorkloadKey& key, ReplicaCount replicas) {
  workloads_.at(key).desired = replicas;
  model::ServiceState state = rows().services.at(key.first);
  state.desired_replicas = 0;
  for (const auto& [other, workload] : workloads_) {
    if (other.first == key.first) state.desired_replicas += workload.desired;
  }
  api_.set(key.first, state);
}

void WorkloadController::schedule_reconcile(const WorkloadKey& key) {
  const auto it = std::ranges::lower_bound(keys_, key);
  CAPSTAN_ASSERT(it != keys_.end() && *it == key);
  const auto index = static_cast<std::uint32_t>(it - keys_.begin());
  events_.schedule(now() + config_.pod_creation.draw(draws_), EventKind::reconcile, index);
}

/// Returns how many replicas the workload lacks. Negative if it has too many.
ReplicaCount WorkloadController::lacking(const WorkloadKey& key) const {
  return workloads_.at(key).desired - gangs_.staying(key);
}

std::optional<model::Reason> WorkloadController::perform(const model::SetReplicas& what) {
  const WorkloadKey key{what.service, what.variant};
  const auto it = workloads_.find(key);
  if (it == workloads_.end() || what.replicas < 0) return model::Reason{model::ReasonCode::outcome_refused};
  if (what.replicas > it->second.desired) it->second.raised_at = now();
  set_desired(key, what.replicas);
  lower(key, what.drain);
  wake_sleepers(key);
  // If no replica is lacking, nothing is drawn, so that a repeated request has no effect on later events.
  if (lacking(key) > 0) schedule_reconcile(key);
  return std::nullopt;
}

std::optional<model::Reason> WorkloadController::perform(const model::ConvertReplica& what) {
  const model::Reason refused{model::ReasonCode::outcome_refused};
  const model::Gang* gang = rows().gangs.find(what.gang);
  const WorkloadKey from{what.from, model::VariantId{0}}, to{what.to, model::VariantId{0}};
  if (gang == nullptr || from != WorkloadKey{gang->service, gang->variant} || to == from) return refused;
  if (!workloads_.contains(to) || !start_of(to).conversion || !gangs_.is_ready(what.gang)) return refused;
  gangs_.convert(what.gang, to);
  set_desired(from, std::max<ReplicaCount>(workloads_.at(from).desired - 1, 0));
  set_desired(to, workloads_.at(to).desired + 1);
  return std::nullopt;
}

/// Retires the replicas above the desired count: first the named ones, then the ones with the highest ordinals.
void WorkloadController::lower(const WorkloadKey& key, const std::vector<model::GangId>& named) {
  ReplicaCount excess = -lacking(key);
  for (model::GangId id : named) {
    if (excess <= 0) return;
    if (!gangs_.of(key).contains(id) || !gangs_.stays(id)) continue;
    gangs_.retire(id);
    --excess;
  }
  for (; excess > 0; --excess) {
    model::GangId highest;
    for (model::GangId id : gangs_.of(key)) {
      if (!gangs_.stays(id)) continue;
      if (!highest.valid() || rows().gangs.at(id).ordinal > rows().gangs.at(highest).ordinal) highest = id;
    }
    CAPSTAN_ASSERT(highest.valid());
    gangs_.retire(highest);
  }
}

/// Wakes sleeping replicas, as many as the workload lacks. They serve sooner than new ones.
void WorkloadController::wake_sleepers(const WorkloadKey& key) {
  ReplicaCount missing = lacking(key);
  for (const model::GangId id : gangs_.of(key)) {
    if (missing <= 0) return;
    if (!gangs_.is_asleep(id)) continue;
    gangs_.wake(id);
    --missing;
  }
}

void WorkloadController::reconcile(std::uint32_t index) {
  const WorkloadKey key = keys_.at(index);
  wake_sleepers(key);
  for (ReplicaCount n = lacking(key); n > 0; --n) gangs_.create(key, workloads_.at(key).raised_at);
}

std::vector<model::GangId> WorkloadController::basis_of(const model::SetReplicas& what) const {
  if (what.drain.empty()) return {};
  std::vector<model::GangId> basis = what.drain;
  const WorkloadKey key{what.service, what.variant};
  if (!workloads_.contains(key)) return basis;
  for (const model::GangId id : gangs_.of(key)) {
    if (gangs_.is_ready(id)) basis.push_back(id);
  }
  return basis;
}

}  // namespace capstan::sim
