// Gangs: the workload controller that makes and removes their pods, the binding of pods, draining and killing.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "sim/cluster/cluster.h"

namespace capstan::sim {

std::uint32_t Cluster::workload_index(const WorkloadKey& key) const {
  const auto it = std::lower_bound(workload_keys_.begin(), workload_keys_.end(), key);
  CAPSTAN_ASSERT(it != workload_keys_.end() && *it == key);
  return static_cast<std::uint32_t>(it - workload_keys_.begin());
}

void Cluster::set_desired(const WorkloadKey& key, ReplicaCount replicas) {
  workloads_.at(key).desired = replicas;
  model::ServiceState state = seen_.services.at(key.first);
  state.desired_replicas = 0;
  for (const auto& [other, workload] : workloads_) {
    if (other.first == key.first) state.desired_replicas += workload.desired;
  }
  set(key.first, state);
}

std::optional<model::Reason> Cluster::perform(const model::SetReplicas& what) {
  const WorkloadKey key{what.service, what.variant};
  const auto it = workloads_.find(key);
  if (it == workloads_.end() || what.replicas < 0) return model::Reason{model::ReasonCode::outcome_refused};
  Workload& workload = it->second;
  if (what.replicas > workload.desired) workload.raised_at = now_;
  set_desired(key, what.replicas);
  lower(key, workload, what.drain);
  wake_sleepers(key);
  // Without a draw where nothing has to be made: a repeated request changes nothing that follows.
  if (alive(workload) < workload.desired) {
    schedule(now_ + config_.pod_creation.draw(workload_draws_), EventKind::reconcile, workload_index(key));
  }
  return std::nullopt;
}

/// It is neither on its way out nor asleep.
bool Cluster::stays(model::GangId id) const { return !draining_.contains(id) && !sleeping_.contains(id); }

ReplicaCount Cluster::alive(const Workload& workload) const {
  return std::ranges::count_if(workload.gangs, [&](model::GangId id) { return stays(id); });
}

void Cluster::lower(const WorkloadKey& key, Workload& workload, const std::vector<model::GangId>& named) {
  ReplicaCount excess = alive(workload) - workload.desired;
  const auto go = [&](model::GangId id) {
    const Stage stage = gangs_.at(id).stage;
    const bool sleeps = stage == Stage::ready && may_sleep(key);
    stage == Stage::ready || stage == Stage::converting ? begin_drain(id) : remove_gang(id);
    if (sleeps) gangs_.at(id).to_sleep = true;
    --excess;
  };
  for (model::GangId id : named) {
    if (excess > 0 && workload.gangs.contains(id) && stays(id)) go(id);
  }
  while (excess > 0) {
    model::GangId highest;
    for (model::GangId id : workload.gangs) {
      if (!stays(id)) continue;
      if (!highest.valid() || seen_.gangs.at(id).ordinal > seen_.gangs.at(highest).ordinal) highest = id;
    }
    CAPSTAN_ASSERT(highest.valid() && key.first == seen_.gangs.at(highest).service);
    go(highest);
  }
}

void Cluster::reconcile(std::uint32_t index) {
  const WorkloadKey key = workload_keys_.at(index);
  Workload& workload = workloads_.at(key);
  wake_sleepers(key);
  for (ReplicaCount n = alive(workload); n < workload.desired; ++n) create_gang(key, workload);
}

std::uint32_t Cluster::free_ordinal(const Workload& workload) const {
  std::vector<bool> taken(workload.gangs.size() + 1);  // one of so many is free
  for (model::GangId id : workload.gangs) {
    const std::uint32_t other = seen_.gangs.at(id).ordinal;
    if (other < taken.size()) taken[other] = true;
  }
  return static_cast<std::uint32_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
}

model::GangId Cluster::create_gang(const WorkloadKey& key, Workload& workload) {
  const model::Variant& variant = catalog().service(key.first).variants.at(key.second.value);
  CAPSTAN_ASSERT(variant.pods > 0 && variant.tensor_parallel > 0);
  const std::uint32_t ordinal = free_ordinal(workload);
  const model::GangId id{next_gang_++};
  model::Gang gang;
  gang.service = key.first;
  gang.variant = key.second;
  gang.ordinal = ordinal;
  gang.gpu = variant.gpu;
  gang.gpus_per_pod = {whole_gpus(variant.tensor_parallel).count / variant.pods};
  gang.together = variant.together;
  gang.created_at = now_;
  for (std::int32_t i = 0; i < variant.pods; ++i) gang.pods.push_back(create_pod(id, gang.gpus_per_pod, variant.queue));
  set(id, std::move(gang));

  GangRecord record;
  record.deferred_at = now_ + config_.scheduling_cycle + config_.bind_latency;
  record.start.gang = id;
  record.start.service = key.first;
  record.start.variant = key.second;
  record.start.ordinal = ordinal;
  record.start.decided_at = workload.raised_at;
  record.start.created_at = now_;
  gangs_.emplace(id, std::move(record));
  workload.gangs.insert(id);
  return id;
}

model::PodId Cluster::create_pod(model::GangId gang, MilliGpu gpus, model::QueueId queue) {
  const model::PodId id{next_pod_++};
  pods_.emplace(id, PodRecord{});
  set(id, model::Pod{.phase = model::Pod::Phase::pending,
                     .gang = gang,
                     .gpus = gpus,
                     .node = {},
                     .created_at = now_,
                     .queue = queue});
  return id;
}

/// The replicas that the scenario finds there, in the order it states them.
void Cluster::start_initial() {
  for (const InitialReplicas& initial : config_.initial) {
    const WorkloadKey key{initial.service, initial.variant};
    Workload& workload = workloads_.at(key);
    set_desired(key, workload.desired + initial.replicas);
    for (ReplicaCount i = 0; i < initial.replicas; ++i) {
      const model::GangId id = create_gang(key, workload);
      if (initial.ready && place_whole(id)) serve_warm(id);
    }
  }
}

/// Binds all pods of a gang inside the first domain of its level where they fit, nodes in order; false if none does.
bool Cluster::place_whole(model::GangId id) {
  const model::Gang& gang = seen_.gangs.at(id);
  std::vector<std::pair<std::uint32_t, model::NodeId>> candidates;  // with room, by domain
  seen_.nodes.for_each([&](model::NodeId node_id, const model::Node& node) {
    if (node.phase != model::Node::Phase::ready || node.gpu != gang.gpu) return;
    if (node.gpus - nodes_.at(node_id).allocated < gang.gpus_per_pod) return;
    candidates.emplace_back(domain_key(node_id, node, gang.together), node_id);
  });
  std::sort(candidates.begin(), candidates.end());
  std::vector<model::NodeId> nodes;  // of the pods, as far as the domain at hand takes them
  std::uint32_t at_hand = 0;
  for (const auto& [domain, node] : candidates) {
    if (domain != at_hand) nodes.clear();
    at_hand = domain;
    MilliGpu room = seen_.nodes.at(node).gpus - nodes_.at(node).allocated;
    for (; nodes.size() < gang.pods.size() && room >= gang.gpus_per_pod; room -= gang.gpus_per_pod)
      nodes.push_back(node);
    if (nodes.size() < gang.pods.size()) continue;
    for (std::size_t i = 0; i < nodes.size(); ++i) bind(gang.pods[i], nodes[i]);
    return true;
  }
  return false;
}

/// Names the domain of `level` that the node lies in.
std::uint32_t Cluster::domain_key(model::NodeId id, const model::Node& node, model::TopologyLevel level) const {
  if (level == model::TopologyLevel::node) return id.value;
  return node.domains[static_cast<std::size_t>(level)].value;
}

/// The whole transaction or nothing of it, as a scheduler that reserves before it binds.
std::optional<model::Reason> Cluster::perform(const model::BindPods& what) {
  const model::Reason refused{model::ReasonCode::outcome_refused};
  const model::Gang* gang = seen_.gangs.find(what.gang);
  if (gang == nullptr || what.bindings.empty()) return refused;
  std::map<model::NodeId, MilliGpu> asked;
  std::set<model::PodId> pods;
  std::set<std::uint32_t> domains;
  for (model::PodId id : gang->pods) {
    const model::Pod& pod = seen_.pods.at(id);
    if (pod.node.valid()) domains.insert(domain_key(pod.node, seen_.nodes.at(pod.node), gang->together));
  }
  for (const model::BindPods::Binding& binding : what.bindings) {
    const model::Pod* pod = seen_.pods.find(binding.pod);
    const model::Node* node = seen_.nodes.find(binding.node);
    if (pod == nullptr || pod->gang != what.gang || pod->node.valid() || !pods.insert(binding.pod).second)
      return refused;
    if (node == nullptr || node->phase != model::Node::Phase::ready || node->gpu != gang->gpu) return refused;
    asked[binding.node] += pod->gpus;
    domains.insert(domain_key(binding.node, *node, gang->together));
  }
  const bool is_spread = domains.size() > 1;
  if (config_.enforce_together && is_spread) {
    ++meter_.binds_refused_spread;
    return refused;
  }
  for (const auto& [node, gpus] : asked) {
    if (nodes_.at(node).allocated + gpus > seen_.nodes.at(node).gpus) {
      ++meter_.binds_refused_full;
      return model::Reason{model::ReasonCode::no_node_fits, {gpus.count, gang->gpu.value}};
    }
  }
  for (const model::BindPods::Binding& binding : what.bindings) bind(binding.pod, binding.node);
  if (is_spread && !std::exchange(gangs_.at(what.gang).is_spread, true)) ++meter_.gangs_spread;
  note_bound(what.gang);
  return std::nullopt;
}

void Cluster::bind(model::PodId id, model::NodeId node) {
  account_node(node);
  model::Pod pod = seen_.pods.at(id);
  NodeRecord& record = nodes_.at(node);
  record.allocated += pod.gpus;
  record.pods.push_back(id);
  pods_.at(id) = {GpuState::held, now_};
  pod.phase = model::Pod::Phase::starting;
  pod.node = node;
  set(id, pod);
}

/// Frees what the pod holds and removes it.
void Cluster::erase_pod(model::PodId id) {
  const model::Pod pod = seen_.pods.at(id);
  if (pod.node.valid()) {
    account_pod(id);
    account_node(pod.node);
    NodeRecord& record = nodes_.at(pod.node);
    record.allocated -= pod.gpus;
    std::erase(record.pods, id);
  }
  pods_.erase(id);
  seen_.pods.erase(id);
  changed_.pods.push_back(id);
}

/// Accounts the time of a gang's bound pods so far; from now on it counts as `state`.
void Cluster::set_pod_states(model::GangId id, GpuState state) {
  for (model::PodId pod : seen_.gangs.at(id).pods) {
    if (!seen_.pods.at(pod).node.valid()) continue;
    account_pod(pod);
    pods_.at(pod).state = state;
  }
}

void Cluster::set_phases(model::GangId id, model::Gang::Phase phase, model::Pod::Phase pod_phase) {
  model::Gang gang = seen_.gangs.at(id);
  for (model::PodId pod_id : gang.pods) {
    model::Pod pod = seen_.pods.at(pod_id);
    pod.phase = pod_phase;
    set(pod_id, pod);
  }
  gang.phase = phase;
  set(id, std::move(gang));
}

void Cluster::begin_drain(model::GangId id) {
  const bool finishes = converting_.erase(id) > 0;  // what it holds of the role that it had
  if (!finishes) leave_router(id);
  gangs_.at(id).stage = Stage::draining;
  set_pod_states(id, GpuState::draining);
  set_phases(id, model::Gang::Phase::draining, model::Pod::Phase::terminating);
  draining_.insert(id);
}

/// It takes no more, and finishes what it holds within the grace.
void Cluster::leave_router(model::GangId id) {
  close_ready(id);
  hook_.drain(id, now_);
  gangs_.at(id).cut_at = now_ + config_.termination_grace;
  schedule(now_ + config_.termination_grace, EventKind::drain_deadline, id.value);
  if (!polling_drains_) schedule(now_ + config_.drain_poll, EventKind::drain_poll);
  polling_drains_ = true;
}

void Cluster::poll_drains() {
  const std::vector<model::GangId> draining(draining_.begin(), draining_.end());
  for (model::GangId id : draining) {
    if (hook_.drained(id)) leave(id);
  }
  const std::vector<model::GangId> converting(converting_.begin(), converting_.end());
  for (model::GangId id : converting) {
    if (hook_.drained(id)) join(id);
  }
  polling_drains_ = !draining_.empty() || !converting_.empty();
  if (polling_drains_) schedule(now_ + config_.drain_poll, EventKind::drain_poll);
}

/// It holds nothing more.
void Cluster::leave(model::GangId id) { gangs_.at(id).to_sleep ? fall_asleep(id) : remove_gang(id); }

void Cluster::cut_drain(model::GangId id) {
  const bool converts = converting_.contains(id);
  if ((!converts && !draining_.contains(id)) || now_ < gangs_.at(id).cut_at) return;
  if (!hook_.drained(id)) {
    ++meter_.drains_cut;
    hook_.killed(id, now_, Interruption::grace_over);
  }
  converts ? join(id) : leave(id);
}

/// Ends a gang whose serving has ended or never began.
void Cluster::remove_gang(model::GangId id) {
  GangRecord& record = gangs_.at(id);
  CAPSTAN_ASSERT(record.stage != Stage::ready);
  for (FlowId flow : record.loads) {
    network_.cancel(flow);
    transfers_.erase(flow);
  }
  if (record.stage == Stage::binding && now_ > record.deferred_at) ++meter_.gangs_deferred;
  const model::Gang gang = seen_.gangs.at(id);
  for (model::PodId pod : gang.pods) erase_pod(pod);
  workloads_.at({gang.service, gang.variant}).gangs.erase(id);
  draining_.erase(id);
  converting_.erase(id);
  sleeping_.erase(id);
  gangs_.erase(id);
  seen_.gangs.erase(id);
  changed_.gangs.push_back(id);
  if (seen_.signals.find(id) != nullptr) changed_.signals.push_back(id);
  seen_.signals.erase(id);
}

/// Ends a gang at once, whatever it does, and lets the workload controller make it anew.
void Cluster::kill_gang(model::GangId id, Interruption why) {
  GangRecord& record = gangs_.at(id);
  const bool leaves = record.stage == Stage::draining || record.stage == Stage::converting;
  const bool serving = record.stage == Stage::ready || (leaves && !hook_.drained(id));
  if (record.stage == Stage::ready) {
    close_ready(id);
    record.stage = Stage::draining;
  }
  if (serving) {
    hook_.killed(id, now_, why);
    std::int64_t& count = why == Interruption::termination ? meter_.killed_by_termination
                          : why == Interruption::eviction  ? meter_.killed_by_eviction
                                                           : meter_.killed_by_spot;
    ++count;
  }
  const WorkloadKey key{record.start.service, record.start.variant};
  remove_gang(id);
  schedule(now_ + config_.pod_creation.draw(workload_draws_), EventKind::reconcile, workload_index(key));
}

void Cluster::evict(model::PodId id, Interruption why) {
  const model::Pod pod = seen_.pods.at(id);
  if (gangs_.at(pod.gang).stage != Stage::binding) return kill_gang(pod.gang, why);
  // The others of the gang have not started either: they stay where they are.
  model::Gang gang = seen_.gangs.at(pod.gang);
  erase_pod(id);
  *std::find(gang.pods.begin(), gang.pods.end(), id) = create_pod(pod.gang, pod.gpus, pod.queue);
  set(pod.gang, std::move(gang));
}

std::optional<model::Reason> Cluster::perform(const model::EvictPod& what) {
  const model::Pod* pod = seen_.pods.find(what.pod);
  if (pod == nullptr || !pod->node.valid()) return model::Reason{model::ReasonCode::outcome_refused};
  evict(what.pod, Interruption::eviction);
  return std::nullopt;
}

}  // namespace capstan::sim
