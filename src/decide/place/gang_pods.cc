#include "decide/place/gang_pods.h"

namespace capstan::decide::place {
namespace {

MilliGpu gpus_of(const model::GangSpec& spec) { return spec.pods.gpus_per_pod * spec.pods.count; }

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
  return have_node > 0 && have_node < gang.spec.pods.needed() && !serves;
}

GangPods gang_pods_of(const model::Snapshot& snapshot, GangId id, const model::Gang& gang) {
  GangPods pods;
  pods.shape.gang = id;
  pods.shape.service = gang.service;
  pods.shape.ordinal = gang.ordinal;
  pods.shape.spec = gang.spec;
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
  pods.shape.spec.pods.count = static_cast<std::int64_t>(pods.without_node.size());
  pods.shape.spec.pods.minimum = 0;
  pods.shape.needed = gpus_of(pods.shape.spec);
  return pods;
}

GangPods gang_pods_of(const model::Catalog& catalog, const model::PlannedGang& planned) {
  const model::Workload& workload = catalog.service(planned.service).workload;
  GangPods pods;
  pods.shape.service = planned.service;
  pods.shape.ordinal = planned.ordinal;
  pods.shape.spec = workload.gang();
  pods.shape.needed = gpus_of(pods.shape.spec);
  if (workload.queue.valid()) pods.ask[workload.queue] = pods.shape.needed;
  return pods;
}

}  // namespace capstan::decide::place
