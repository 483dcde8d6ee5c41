#include "control/assume.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace capstan::control {
namespace {

/// Rewrites rows of one snapshot and notes which.
class Rewriter {
 public:
  Rewriter(model::Snapshot& snapshot, model::Delta& touched) : snapshot_(snapshot), touched_(touched) {}

  void operator()(const model::SetReplicas& action) {
    const model::ServiceState* seen = snapshot_.services.find(action.service);
    if (seen == nullptr) return;
    model::ServiceState state = *seen;
    state.desired_replicas = action.replicas;
    snapshot_.services.set(action.service, state);
    touched_.services.push_back(action.service);
  }

  void operator()(const model::BindPods& action) {
    for (const model::BindPods::Binding& binding : action.bindings) {
      const model::Pod* seen = snapshot_.pods.find(binding.pod);
      if (seen == nullptr || seen->phase != model::Pod::Phase::pending) continue;
      model::Pod pod = *seen;
      pod.phase = model::Pod::Phase::starting;
      pod.node = binding.node;
      snapshot_.pods.set(binding.pod, pod);
      touched_.pods.push_back(binding.pod);
    }
  }

  void operator()(const model::TerminateNode& action) {
    const model::Node* seen = snapshot_.nodes.find(action.node);
    if (seen == nullptr) return;
    model::Node node = *seen;
    node.phase = model::Node::Phase::terminating;
    snapshot_.nodes.set(action.node, node);
    touched_.nodes.push_back(action.node);
  }

  void operator()(const model::EvictPod& action) {
    const model::Pod* seen = snapshot_.pods.find(action.pod);
    if (seen == nullptr) return;
    model::Pod pod = *seen;
    pod.phase = model::Pod::Phase::terminating;
    snapshot_.pods.set(action.pod, pod);
    touched_.pods.push_back(action.pod);
  }

  void operator()(const model::LaunchNodes&) {}
  void operator()(const model::ReleaseGroup&) {}

 private:
  model::Snapshot& snapshot_;
  model::Delta& touched_;
};

template <typename IdType>
void merge(std::vector<IdType>& into, const std::vector<IdType>& more) {
  if (more.empty()) return;
  into.insert(into.end(), more.begin(), more.end());
  std::ranges::sort(into);
  const auto repeated = std::ranges::unique(into);
  into.erase(repeated.begin(), repeated.end());
}

void merge(model::Delta& into, const model::Delta& more) {
  merge(into.services, more.services);
  merge(into.nodes, more.nodes);
  merge(into.claims, more.claims);
  merge(into.gangs, more.gangs);
  merge(into.pods, more.pods);
}

}  // namespace

void Assumptions::apply(const InFlight& in_flight, model::Snapshot& snapshot, model::Delta& delta) {
  merge(delta, touched_);
  touched_ = {};
  Rewriter rewriter(snapshot, touched_);
  for (const InFlight::Entry& entry : in_flight.entries()) std::visit(rewriter, entry.action.what);
  merge(delta, touched_);
}

}  // namespace capstan::control
