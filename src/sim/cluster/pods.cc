#include "sim/cluster/pods.h"

#include <algorithm>

#include "base/assert.h"
#include "base/known_row.h"

namespace capstan::sim {

model::PodId Pods::create(model::GangId gang, MilliGpu gpus, model::QueueId queue) {
  const model::PodId id{next_pod_++};
  pods_.emplace(id, Record{});
  api_.set(id, model::Pod{.phase = model::Pod::Phase::pending,
                          .gang = gang,
                          .gpus = gpus,
                          .node = {},
                          .created_at = now(),
                          .queue = queue});
  return id;
}

void Pods::bind(model::PodId id, model::NodeId node) {
  model::Pod pod = rows().pods.at(id);
  nodes_.add_pod(node, id, pod.gpus);
  known_row(pods_, id) = {GpuState::held, now()};
  pod.phase = model::Pod::Phase::starting;
  pod.node = node;
  api_.set(id, pod);
}

void Pods::replace(model::PodId id) {
  const model::Pod pod = rows().pods.at(id);
  model::Gang gang = rows().gangs.at(pod.gang);
  erase(id);
  *std::ranges::find(gang.pods, id) = create(pod.gang, pod.gpus, pod.queue);
  api_.set(pod.gang, std::move(gang));
}

void Pods::erase(model::PodId id) {
  const model::Pod pod = rows().pods.at(id);
  if (pod.node.valid()) {
    account_until_now(id);
    nodes_.remove_pod(pod.node, id, pod.gpus);
  }
  pods_.erase(id);
  api_.erase(id);
}

void Pods::set_states(model::GangId id, GpuState state) {
  for (model::PodId pod : rows().gangs.at(id).pods) {
    if (!rows().pods.at(pod).node.valid()) continue;
    account_until_now(pod);
    known_row(pods_, pod).state = state;
  }
}

void Pods::set_phases(model::GangId id, model::Gang::Phase phase, model::Pod::Phase pod_phase) {
  model::Gang gang = rows().gangs.at(id);
  for (model::PodId pod_id : gang.pods) {
    model::Pod pod = rows().pods.at(pod_id);
    pod.phase = pod_phase;
    api_.set(pod_id, pod);
  }
  gang.phase = phase;
  api_.set(id, std::move(gang));
}

void Pods::end_serving(model::GangId id) {
  for (model::PodId pod : rows().gangs.at(id).pods) known_row(pods_, pod) = {GpuState::draining, now()};
}

/// Adds the GPU time of a bound pod up to now to the account. For a pod that serves, add_served() does this.
void Pods::account_until_now(model::PodId id) {
  Record& record = known_row(pods_, id);
  if (record.state == GpuState::idle) {
    CAPSTAN_ASSERT(record.since == now());
    return;
  }
  add_bound(account_, id, now());
  record.since = now();
}

void Pods::add_bound(GpuAccount& account, model::PodId id, Instant end) const {
  const Record& record = known_row(pods_, id);
  const model::Pod& pod = rows().pods.at(id);
  account.add(rows().nodes.at(pod.node).offering, user_of(pod.gang), record.state, pod.gpus, end - record.since);
}

void Pods::add_served(GpuAccount& account, model::GangId id, Duration served, Duration busy) const {
  for (model::PodId pod_id : rows().gangs.at(id).pods) {
    const model::Pod& pod = rows().pods.at(pod_id);
    const model::OfferingId offering = rows().nodes.at(pod.node).offering;
    account.add(offering, user_of(id), GpuState::busy, pod.gpus, busy);
    account.add(offering, user_of(id), GpuState::idle, pod.gpus, served - busy);
  }
}

void Pods::add_unaccounted(GpuAccount& account, model::GangId id, Instant end) const {
  for (model::PodId pod : rows().gangs.at(id).pods) {
    if (rows().pods.at(pod).node.valid()) add_bound(account, pod, end);
  }
}

void Pods::check_invariants() const {
  CAPSTAN_ASSERT(rows().pods.size() == pods_.size());
  for (const auto& [id, record] : pods_) {
    const model::NodeId node = rows().pods.at(id).node;
    CAPSTAN_ASSERT(std::ranges::count(rows().gangs.at(rows().pods.at(id).gang).pods, id) == 1);
    CAPSTAN_ASSERT(!node.valid() || std::ranges::count(nodes_.pods(node), id) == 1);
  }
}

}  // namespace capstan::sim
