#include "decide/place/gang_pods.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace capstan::decide::place {
namespace {

/// Returns the request without its queue and its preemptibility. Room for its pods does not depend on them, so gangs of
/// different queues share one search.
model::GangSpec for_search(model::GangSpec spec) {
  spec.queue = {};
  spec.preemptible = false;
  return spec;
}

/// Reduces the sets of a gang to the pods that need a node, and sorts these pods by their sets. Sets without such pods
/// are left out.
void keep_pods_without_node(const model::Snapshot& snapshot, GangPods& pods) {
  model::GangSpec& spec = pods.request.spec;
  const auto set_of = [&](PodId id) -> std::size_t {
    const std::size_t set = snapshot.pods.at(id).set;
    return set < spec.sets() ? set : 0;
  };
  std::ranges::stable_sort(pods.without_node, {}, set_of);
  for (std::size_t set = 0; set < spec.sets(); ++set) spec.set(set).count = spec.set(set).minimum = 0;
  for (const PodId id : pods.without_node) ++spec.set(set_of(id)).count;
  if (spec.pods.count == 0) {
    const auto first = std::ranges::find_if(spec.other_pods, [](const model::PodSet& set) { return set.count > 0; });
    if (first != spec.other_pods.end()) spec.pods = std::exchange(*first, {});
  }
  std::erase_if(spec.other_pods, [](const model::PodSet& set) { return set.count == 0; });
}

}  // namespace

bool has_node(const model::Pod& pod) {
  return pod.node.valid() || pod.phase == model::Pod::Phase::starting || pod.phase == model::Pod::Phase::ready;
}

bool is_broken(const model::Snapshot& snapshot, const model::Gang& gang) {
  std::int64_t have_node = 0;
  for (const PodId id : gang.pods) {
    const model::Pod* pod = snapshot.pods.find(id);
    have_node += pod != nullptr && has_node(*pod) ? 1 : 0;
  }
  const model::Pod* first = snapshot.pods.find(gang.pods.front());
  const bool serves = first != nullptr && first->phase == model::Pod::Phase::ready;
  return have_node > 0 && have_node < gang.spec.needed() && !serves;
}

GangPods gang_pods_of(const model::Snapshot& snapshot, GangId id, const model::Gang& gang) {
  GangPods pods;
  pods.request.gang = id;
  pods.request.service = gang.service;
  pods.request.ordinal = gang.ordinal;
  pods.request.spec = for_search(gang.spec);
  for (const PodId pod_id : gang.pods) {
    const model::Pod* pod = snapshot.pods.find(pod_id);
    if (pod == nullptr || pod->phase == model::Pod::Phase::terminating)
      ++pods.leaving;
    else if (pod->node.valid())
      pods.bound.push_back(pod->node);
    else if (!has_node(*pod))
      pods.without_node.push_back(pod_id);
    pods.have_node += pod != nullptr && has_node(*pod) ? 1 : 0;
  }
  if (gang.spec.other_pods.empty()) {
    pods.request.spec.pods.count = std::ssize(pods.without_node);
    pods.request.spec.pods.minimum = 0;
  } else {
    keep_pods_without_node(snapshot, pods);
  }
  pods.request.needed = pods.request.spec.gpus();
  return pods;
}

GangPods gang_pods_of(const model::Catalog& catalog, const model::PlannedGang& planned) {
  const model::Workload& workload = catalog.service(planned.service).workload;
  GangPods pods;
  pods.request.service = planned.service;
  pods.request.ordinal = planned.ordinal;
  const model::GangSpec spec = workload.gang();
  pods.request.spec = for_search(spec);
  pods.request.needed = spec.gpus();
  if (spec.queue.valid()) pods.ask[spec.queue] = pods.request.needed;
  return pods;
}

}  // namespace capstan::decide::place
