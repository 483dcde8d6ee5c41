#include "sim/cluster/free_room.h"

#include <algorithm>
#include <utility>

#include "base/known_row.h"
#include "sim/cluster/domain_key.h"
#include "sim/cluster/pod_fit.h"

namespace capstan::sim {

FreeRoom::FreeRoom(const model::Snapshot& rows, const NodeProvider& nodes, const std::set<model::NodeId>& ending)
    : rows_(rows), queues_(rows) {
  rows.nodes.for_each([&](model::NodeId id, const model::Node& node) {
    if (node.phase == model::Node::Phase::ready && !ending.contains(id)) {
      free_.emplace(id, Left{.gpus = nodes.free(id), .others = node.available});
    }
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
  std::vector<Domain> all = domains(gang.spec.pods.gpu, gang.spec.required_level);
  if (!gang.domain) return all;
  std::erase_if(all, [&](const Domain& domain) {
    return domain_key(rows_, domain.front(), gang.spec.required_level) != *gang.domain;
  });
  return all;
}

std::int64_t FreeRoom::most_pods(const WaitingGang& gang, const Domain& domain) const {
  const std::int64_t per_pod = gang.spec.pods.gpus_per_pod.count;
  std::int64_t pods = 0;
  for (const model::NodeId node : domain) pods += most_pods(gang.spec.pods, node);
  const std::optional<MilliGpu> left = queues_.left(gang.spec.queue);
  if (left) pods = std::min(pods, std::max<std::int64_t>(left->count, 0) / per_pod);
  return pods;
}

std::vector<model::NodeId> FreeRoom::take(const WaitingGang& gang, const Domain& domain) {
  const model::PodSet& pods = gang.spec.pods;
  std::vector<model::NodeId> taken;
  for (const model::NodeId node : domain) {
    const std::int64_t count = std::min(most_pods(pods, node), pods.count - std::ssize(taken));
    Left& left = known_row(free_, node);
    left.gpus -= pods.gpus_per_pod * count;
    for (std::int64_t i = 0; i < count && left.others; ++i) {
      model::take_from(*left.others, rows_.catalog->eligibility.requests(pods.pod_class));
    }
    queues_.hold(gang.spec.queue, pods.gpus_per_pod * count);
    taken.insert(taken.end(), static_cast<std::size_t>(count), node);
  }
  return taken;
}

std::int64_t FreeRoom::most_pods(const model::PodSet& pods, model::NodeId node) const {
  const Left& left = known_row(free_, node);
  const std::int64_t by_gpus = std::max<std::int64_t>(left.gpus.count, 0) / pods.gpus_per_pod.count;
  return pods_besides_gpus(*rows_.catalog, pods, rows_.nodes.at(node).node_class, left.others, by_gpus);
}

const model::Resources& FreeRoom::requests_of(const model::Pod& pod) const {
  return rows_.catalog->eligibility.requests(rows_.gangs.at(pod.gang).spec.pods.pod_class);
}

void FreeRoom::give_back(const model::Pod& pod) {
  queues_.hold(pod.queue, MilliGpu{} - pod.gpus);
  const auto found = free_.find(pod.node);
  if (found == free_.end()) return;
  found->second.gpus += pod.gpus;
  if (found->second.others) model::add_to(*found->second.others, requests_of(pod));
}

void FreeRoom::take_again(const model::Pod& pod) {
  queues_.hold(pod.queue, pod.gpus);
  const auto found = free_.find(pod.node);
  if (found == free_.end()) return;
  found->second.gpus -= pod.gpus;
  if (found->second.others) model::take_from(*found->second.others, requests_of(pod));
}

}  // namespace capstan::sim
