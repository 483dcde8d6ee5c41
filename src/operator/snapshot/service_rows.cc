// The part of SnapshotBuilder that makes the rows of the services for the targets of scalers.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/known_row.h"
#include "operator/snapshot/gang_request.h"
#include "operator/snapshot/pass.h"
#include "operator/snapshot/pod_node.h"

namespace capstan::op {
namespace {

/// Returns the step limits of a workload's engine, from its template, or from a pod if the template is unknown.
/// @param first  first replica, or null
model::StepLimits step_limits_of(const kube::Workload& workload, const PodGroup* first) {
  std::vector<const kube::PodSpec*> specs = {&workload.pod};
  if (workload.leader) specs.insert(specs.begin(), &*workload.leader);
  if (workload.pod.containers.empty() && first != nullptr) specs = {&first->pods.front()->spec};
  for (const kube::PodSpec* spec : specs) {
    for (const kube::Container& container : spec->containers) {
      if (container.step_limits == manifest::StepLimits{}) continue;
      return {static_cast<std::int32_t>(container.step_limits.sequences),
              static_cast<std::int32_t>(container.step_limits.tokens)};
    }
  }
  return {};
}

/// Returns the first replica of a target, or null if it has none.
const PodGroup* first_replica(const ReplicaTable::Target& target) {
  for (const auto& [key, replica] : target.replicas) {
    if (!replica.group.pods.empty()) return &replica.group;
  }
  return nullptr;
}

}  // namespace

/// Links the services of each scaler that are decided together.
void SnapshotBuilder::link_services(const std::vector<Roles>& all) {
  for (const auto& [id, origin] : origins_) catalog_.unlink(id);
  for (const auto& [scaler, by_role] : all) {
    for (const auto& [role, variants] : by_role) join_variants(variants);
    const auto prefills = by_role.find(model::Role::prefill);
    const auto decodes = by_role.find(model::Role::decode);
    if (prefills == by_role.end() || decodes == by_role.end()) continue;
    const model::ServiceId prefill = prefills->second.front();
    const std::vector<model::ServiceId>& decode = decodes->second;
    for (const model::ServiceId decode_service : decode) {
      if (prefill != decode_service) catalog_.set_prefill_service(decode_service, prefill);
    }
    const bool one_each = prefills->second.size() == 1 && decode.size() == 1 && decode.front() != prefill;
    if (one_each) catalog_.set_role_limits(decode.front(), prefill, scaler->role_limits);
  }
}

/// Joins the variants of one role, which serve the same requests, so that their replicas are decided together. A
/// variant with another mode, for example because another autoscaler scales it, is decided alone.
void SnapshotBuilder::join_variants(const std::vector<model::ServiceId>& variants) {
  const auto joins = [&](model::ServiceId id) {
    return std::ranges::any_of(state_->replicas.targets(),
                               [&](const Target& target) { return target.service == id && target.has_gangs; }) &&
           known_row(origins_, id).mode == known_row(origins_, variants.front()).mode;
  };
  std::vector<model::ServiceId> alternatives;
  for (const model::ServiceId id : variants) {
    if (id == variants.front() || !joins(id) || alternatives.size() == model::Service::kMaxAlternatives) continue;
    alternatives.push_back(id);
  }
  catalog_.set_alternatives(variants.front(), std::move(alternatives));
}

/// Makes the rows of the targets that are touched, in the order in which they take pods.
void SnapshotBuilder::settle_targets(Pass& pass) {
  while (auto touched = state_->replicas.next_touched()) {
    settle_target(pass, touched->first, std::move(touched->second));
  }
}

/// Makes the row of a target's service, and the rows of its touched replicas.
/// @param keys  the replicas that are touched
void SnapshotBuilder::settle_target(Pass& pass, std::uint32_t at, ReplicaKeys keys) {
  Target& target = state_->replicas.targets()[at];
  if (!target.service.valid()) return;  // its scaler is gone
  const std::optional<Duration> typical_start = target.starts.typical();
  for (const ReplicaTable::Key key : keys) regroup(target, known_row(target.replicas, key), key);
  // The rows of the replicas contain the GPU kind of the service, so a new kind changes all of them.
  if (read_service(pass, target) && !pass.reads_all) {
    for (const auto& [key, replica] : target.replicas) keys.insert(key);
  }
  // When a start ends, the prediction for the replicas that still start changes.
  if (target.starts.typical() != typical_start) keys.insert(target.starting.begin(), target.starting.end());
  if (target.has_gangs) set_gangs(pass, at, keys);
  for (const ReplicaTable::Key key : keys) {
    if (known_row(target.replicas, key).group.pods.empty()) target.replicas.erase(key);
  }
  if (!target.has_gangs) return;
  number_gangs(pass, target, keys);
  const ReplicaCount desired = target.workload->replicas;
  pass.services[target.service] = {.desired_replicas = desired,
                                   .leaving = std::min<ReplicaCount>(target.draining_first, desired),
                                   .gateway_waiting = {}};
  target.scraped.clear();
  for (const auto& [key, replica] : target.replicas) {
    if (replica.serves) target.scraped.push_back(replica.group.pods.front());
  }
}

/// Groups the pods of a replica again, and counts the replica anew in the sums of its target.
void SnapshotBuilder::regroup(Target& target, Replica& replica, ReplicaTable::Key key) {
  if (replica.start) target.starts.remove(*replica.start);
  if (replica.is_starting) target.starting.erase(key);
  if (replica.drains_first) --target.draining_first;
  if (replica.node_gpu.valid() && --known_row(target.gpus, replica.node_gpu) == 0) target.gpus.erase(replica.node_gpu);
  replica.start.reset();
  replica.is_starting = replica.drains_first = replica.serves = false;
  replica.node_gpu = {};

  std::vector<PodGroup> groups = replicas_of(*target.workload, state_->replicas.pods_of(replica));
  CAPSTAN_ASSERT(groups.size() == (replica.members.empty() ? 0 : 1));
  replica.group = groups.empty() ? PodGroup() : std::move(groups.front());
  if (groups.empty()) return;
  read_status(replica);
  if (const State::KnownNode* node = state_->find_node(node_of(*replica.group.pods.front())))
    replica.node_gpu = node->gpu;
  if (replica.start) target.starts.add(*replica.start);
  if (replica.is_starting) target.starting.insert(key);
  if (replica.drains_first) ++target.draining_first;
  if (replica.node_gpu.valid()) ++target.gpus[replica.node_gpu];
}

/// Makes the row of a service in the catalog.
/// @return true if the pass reads all objects, or if the service is new or has another GPU kind than before
bool SnapshotBuilder::read_service(const Pass& pass, Target& target) {
  const InferenceScaler& scaler = *state_->view.scalers.rows.at(target.scaler);
  const std::vector<ScalerTarget> all = targets_of(scaler);
  const ScalerTarget& from_scaler = known_row(all, target.position);
  const kube::Workload* workload = target.workload;
  model::Service service = service_of(scaler, from_scaler, workload, catalog_);
  bool& gpu_is_known = known_row(origins_, target.service).gpu_known;
  gpu_is_known = false;
  if (workload != nullptr) {
    const PodGroup* first = first_replica(target);
    model::Workload& row = service.workload;
    // If the template is unknown or leaves its GPUs to claims, an existing pod shows them.
    const bool template_states_gpus = gpus_of(workload->pod.requests) > MilliGpu{};
    if (!template_states_gpus && first != nullptr) {
      const MilliGpu sum = state_->holders.pod_gpus(*first->pods.front()) * row.pods;
      row.gpus_per_replica = static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus_up(sum), 1, 1'024));
    }
    row.step_limits = step_limits_of(*workload, first);
    row.queue = state_->queues.take(workload->pod_labels);
    if (!row.queue.valid() && first != nullptr) row.queue = state_->queues.take(*first->pods.front());
    const bool stated = !from_scaler.variant->gpu.empty();
    const bool gpu_known = stated || find_gpu_kind(target, row);
    gpu_is_known = read_template(target, row, stated) || gpu_known;
  }
  bool is_other_gpu = true;
  if (!pass.reads_all && target.service.value < catalog_.rows().services.size()) {
    const model::Service& before = catalog_.rows().service(target.service);
    state_->queues.release(before.workload.queue);
    is_other_gpu = before.workload.gpu != service.workload.gpu;
    service.prefill_service = before.prefill_service;
    service.role_limits = before.role_limits;
    service.alternatives = before.alternatives;
  }
  catalog_.set_service(target.service, std::move(service));
  return is_other_gpu;
}

/// Finds the GPU kind of a target that states none: the kind of the nodes of most of its replicas, the kind that its
/// template selects, or the only kind of the cluster.
/// @return false if none of these is known; the kind is not changed
bool SnapshotBuilder::find_gpu_kind(const Target& target, model::Workload& row) {
  if (!target.gpus.empty()) {
    row.gpu = std::ranges::max_element(target.gpus, {}, [](const auto& entry) { return entry.second; })->first;
    return true;
  }
  const std::string asked = gpu_name(target.workload->pod.node_selector, {}, *state_->fleet);
  if (!asked.empty()) {
    row.gpu = catalog_.gpu_kind(asked);
    return true;
  }
  if (state_->node_gpus.size() == 1) row.gpu = state_->node_gpus.begin()->first;
  return state_->node_gpus.size() == 1;
}

/// Forgets the classes of the pods that the template of a target would make.
void SnapshotBuilder::release_classes(Target& target) {
  for (model::PodClassId* pods : {&target.pod_class, &target.leader_class}) {
    if (pods->valid()) eligibility_.release(std::exchange(*pods, {}));
  }
}

/// Reads from the template where replicas without pods may be placed.
/// @return true if the template determines the GPU kind
bool SnapshotBuilder::read_template(Target& target, model::Workload& row, bool gpu_stated) {
  const kube::Workload& workload = *target.workload;
  row.placed_elsewhere = !places(*state_->fleet, workload.pod.scheduler);
  if (row.placed_elsewhere) return false;
  catalog_.constrain(constraint_of(workload.meta.annotations), row.required_level, row.preferred);
  const std::set<std::string> apart_from = eligibility_.apart_from(workload.meta.ns, workload.pod_labels);
  if (!target.pod_class.valid()) target.pod_class = eligibility_.take_class(workload.pod, apart_from);
  row.pod_class = target.pod_class;
  if (workload.leader && row.pods > 1 && !have_equal_request(*workload.leader, workload.pod)) {
    if (!target.leader_class.valid()) target.leader_class = eligibility_.take_class(*workload.leader, apart_from);
    // Each of the other pods holds at least 0.001 GPU.
    const MilliGpu most = whole_gpus(row.gpus_per_replica) - MilliGpu{row.pods - 1};
    row.leader = {.gpus = std::min(gpus_of(workload.leader->requests), most), .pod_class = target.leader_class};
  }
  const model::GpuKindId gpu = eligibility_.kind_for(row.pod_class, state_->view.nodes);
  if (!gpu_stated && gpu.valid()) row.gpu = gpu;
  return gpu.valid();
}

}  // namespace capstan::op
