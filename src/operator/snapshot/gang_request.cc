#include "operator/snapshot/gang_request.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace capstan::op {
namespace {

using Alternatives = std::vector<std::vector<kube::Requirement>>;

/// Returns every combination of an alternative of `a` with one of `b`. An empty list sets no condition.
Alternatives both(const Alternatives& a, const Alternatives& b) {
  if (a.empty() || a == b) return b;
  if (b.empty()) return a;
  Alternatives all;
  for (const auto& left : a) {
    for (const auto& right : b) {
      if (all.size() == kMaxAlternatives) return all;
      all.push_back(left);
      if (left != right) all.back().insert(all.back().end(), right.begin(), right.end());
    }
  }
  return all;
}

/// Returns a node selector in the form of a node affinity.
Alternatives as_affinity(const kube::StringMap& selector) {
  std::vector<kube::Requirement> all;
  for (const auto& [key, value] : selector.entries()) all.push_back({.key = key, .op = "In", .values = {value}});
  return all.empty() ? Alternatives{} : Alternatives{std::move(all)};
}

void add(kube::PodSpec& request, const kube::PodSpec& pod) {
  for (const auto& [name, milli] : pod.requests.milli) request.requests.raise(name, milli);
  request.node_affinity = both(request.node_affinity, pod.node_affinity);
  if (request.node_selector != pod.node_selector) {
    request.node_affinity = both(request.node_affinity, as_affinity(pod.node_selector));
  }
  std::erase_if(request.tolerations, [&](const kube::Toleration& toleration) {
    return std::ranges::find(pod.tolerations, toleration) == pod.tolerations.end();
  });
  request.has_resource_claims = request.has_resource_claims || pod.has_resource_claims;
}

}  // namespace

kube::PodSpec request_for_all(std::span<const kube::Pod* const> pods) {
  kube::PodSpec request = pods.front()->spec;
  for (const kube::Pod* pod : pods.subspan(1)) add(request, pod->spec);
  return request;
}

}  // namespace capstan::op
