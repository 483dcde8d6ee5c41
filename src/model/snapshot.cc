#include "model/snapshot.h"

#include "base/hash.h"
#include "model/signal_names.h"

namespace capstan::model {
namespace {

void add(StateHash& hash, const Signal& signal) {
  hash.add(static_cast<std::uint64_t>(signal.state));
  hash.add(static_cast<std::uint64_t>(signal.value));
  hash.add(static_cast<std::uint64_t>(signal.age.count()));
}

void add(StateHash& hash, Instant instant) { hash.add(static_cast<std::uint64_t>(instant.since_start.count())); }

void add(StateHash& hash, const ServiceState& state) {
  hash.add(static_cast<std::uint64_t>(state.desired_replicas));
  hash.add(static_cast<std::uint64_t>(state.leaving));
  add(hash, state.gateway_waiting);
}

void add(StateHash& hash, const Resources& resources) {
  for (const std::int64_t amount :
       {resources.cpu_milli, resources.memory_mib, resources.storage_mib, resources.pod_slots}) {
    hash.add(static_cast<std::uint64_t>(amount));
  }
  for (const std::int64_t amount : resources.extended) hash.add(static_cast<std::uint64_t>(amount));
}

void add(StateHash& hash, const Node& node) {
  hash.add(static_cast<std::uint64_t>(node.phase));
  for (std::uint32_t id : {node.pool.value, node.offering.value, node.claim.value, node.gpu.value}) hash.add(id);
  hash.add(static_cast<std::uint64_t>(node.gpus.count));
  node.domains.for_each([&](Level, DomainId domain) { hash.add(domain.value); });
  hash.add(node.is_foreign ? 1 : 0);
  if (node.node_class.valid()) hash.add(node.node_class.value);
  if (node.available) add(hash, *node.available);
  add(hash, node.ready_at);
}

void add(StateHash& hash, const Claim& claim) {
  hash.add(static_cast<std::uint64_t>(claim.phase));
  for (std::uint32_t id :
       {claim.pool.value, claim.offering.value, claim.domain.value, claim.group.value, claim.node.value}) {
    hash.add(id);
  }
  hash.add(static_cast<std::uint64_t>(claim.group_size));
  add(hash, claim.requested_at);
  add(hash, claim.expected_ready_at);
}

void add(StateHash& hash, const Gang& gang) {
  hash.add(static_cast<std::uint64_t>(gang.phase));
  for (std::uint32_t id : {gang.service.value, gang.ordinal, gang.spec.pods.gpu.value}) hash.add(id);
  for (PodId pod : gang.pods) hash.add(pod.value);
  hash.add(static_cast<std::uint64_t>(gang.spec.pods.minimum));
  hash.add(static_cast<std::uint64_t>(gang.spec.pods.gpus_per_pod.count));
  hash.add(gang.spec.required_level.number());
  if (gang.spec.preferred) hash.add(gang.spec.preferred->number());
  if (gang.spec.pods.pod_class.valid()) hash.add(gang.spec.pods.pod_class.value);
  add(hash, gang.created_at);
  if (gang.resumed) hash.add(1);
  add(hash, gang.expected_ready_at);
  if (!gang.initialized_at.is_never()) add(hash, gang.initialized_at);
  if (!gang.containers_started_at.is_never()) add(hash, gang.containers_started_at);
}

void add(StateHash& hash, const ReplicaSignals& signals) {
  for (const ReplicaSignal& signal : kReplicaSignals) add(hash, signals.*signal.field);
}

void add(StateHash& hash, const Pod& pod) {
  hash.add(static_cast<std::uint64_t>(pod.phase));
  hash.add(pod.gang.value);
  hash.add(static_cast<std::uint64_t>(pod.gpus.count));
  hash.add(pod.node.value);
  add(hash, pod.created_at);
  hash.add(pod.queue.value);
  for (const std::uint16_t device : pod.devices) hash.add(device);
}

template <typename IdType, typename T>
void add(StateHash& hash, const SharedTable<IdType, T>& table) {
  hash.add(table.size());
  table.for_each([&](IdType id, const T& row) {
    hash.add(id.value);
    add(hash, row);
  });
}

}  // namespace

std::uint64_t state_hash(const Snapshot& snapshot) {
  StateHash hash;
  add(hash, snapshot.at);
  add(hash, snapshot.services);
  add(hash, snapshot.nodes);
  add(hash, snapshot.claims);
  hash.add(snapshot.gangs.size());
  snapshot.gangs.for_each([&](GangId id, const Gang& gang) {
    hash.add(id.value);
    add(hash, gang);
    add(hash, snapshot.signals_of(id));
  });
  add(hash, snapshot.pods);
  return hash.value();
}

}  // namespace capstan::model
