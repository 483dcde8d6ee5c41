#include "sim/cluster/free_room.h"

#include <algorithm>
#include <utility>

#include "sim/cluster/domain_key.h"

namespace capstan::sim {

FreeRoom::FreeRoom(const model::Snapshot& rows, const NodeProvider& nodes, const std::set<model::NodeId>& ending)
    : rows_(rows), queues_(rows) {
  rows.nodes.for_each([&](model::NodeId id, const model::Node& node) {
    if (node.phase == model::Node::Phase::ready && !ending.contains(id)) free_.emplace(id, nodes.free(id));
  });
}

std::vector<FreeRoom::Domain> FreeRoom::domains(model::GpuKindId gpu, model::Level level) const {
  std::map<std::uint32_t, Domain> by_key;
  for (const auto& [id, free] : free_) {
    if (rows_.nodes.at(id).gpu == gpu) by_key[domain_key(rows_, id, level)].push_back(id);
  }
  std::vector<Domain> all;
  for (auto& [key, domain] : by_key) all.push_back(std::move(domain));
  return all;
}

std::vector<FreeRoom::Domain> FreeRoom::domains(const WaitingGang& gang) const {
  std::vector<Domain> all = domains(gang.spec.pods.gpu, gang.spec.together);
  if (!gang.domain) return all;
  std::erase_if(
      all, [&](const Domain& domain) { return domain_key(rows_, domain.front(), gang.spec.together) != *gang.domain; });
  return all;
}

std::int64_t FreeRoom::most_pods(const WaitingGang& gang, const Domain& domain) const {
  const std::int64_t per_pod = gang.spec.pods.gpus_per_pod.count;
  std::int64_t pods = 0;
  for (const model::NodeId node : domain) pods += std::max<std::int64_t>(free_.at(node).count, 0) / per_pod;
  const std::optional<MilliGpu> left = queues_.left(gang.queue);
  if (left) pods = std::min(pods, std::max<std::int64_t>(left->count, 0) / per_pod);
  return pods;
}

std::vector<model::NodeId> FreeRoom::take(const WaitingGang& gang, const Domain& domain) {
  const MilliGpu per_pod = gang.spec.pods.gpus_per_pod;
  std::vector<model::NodeId> taken;
  for (const model::NodeId node : domain) {
    for (; std::ssize(taken) < gang.spec.pods.count && free_.at(node) >= per_pod; taken.push_back(node)) {
      hold(node, gang.queue, per_pod);
    }
  }
  return taken;
}

void FreeRoom::hold(model::NodeId node, model::QueueId queue, MilliGpu gpus) {
  if (const auto found = free_.find(node); found != free_.end()) found->second -= gpus;
  queues_.hold(queue, gpus);
}

}  // namespace capstan::sim
