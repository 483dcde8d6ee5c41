#include "operator/snapshot/gang_request.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace capstan::op {
namespace {

using Alternatives = std::vector<std::vector<kube::Requirement>>;

/// Returns the combinations of each alternative of `a` with each alternative of `b`, at most `kMaxAlternatives`. An
/// empty list sets no condition.
Alternatives combinations(const Alternatives& a, const Alternatives& b) {
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
  request.node_affinity = combinations(request.node_affinity, pod.node_affinity);
  if (request.node_selector != pod.node_selector) {
    request.node_affinity = combinations(request.node_affinity, as_affinity(pod.node_selector));
  }
  std::erase_if(request.tolerations, [&](const kube::Toleration& toleration) {
    return std::ranges::find(pod.tolerations, toleration) == pod.tolerations.end();
  });
  request.rules.pod_affinity = request.rules.pod_affinity || pod.rules.pod_affinity;
  request.rules.pod_anti_affinity = request.rules.pod_anti_affinity || pod.rules.pod_anti_affinity;
  request.rules.topology_spread = request.rules.topology_spread || pod.rules.topology_spread;
  request.rules.node_fields = request.rules.node_fields || pod.rules.node_fields;
  if (request.scheduling_gates.empty()) request.scheduling_gates = pod.scheduling_gates;
  request.has_resource_claims = request.has_resource_claims || pod.has_resource_claims;
}

}  // namespace

bool have_equal_request(const kube::PodSpec& a, const kube::PodSpec& b) {
  return a.requests == b.requests && a.node_selector == b.node_selector && a.node_affinity == b.node_affinity &&
         a.tolerations == b.tolerations && a.rules == b.rules &&
         a.scheduling_gates.empty() == b.scheduling_gates.empty() && a.has_resource_claims == b.has_resource_claims;
}

std::vector<std::uint8_t> pod_sets_of(std::span<const kube::Pod* const> pods, std::span<const MilliGpu> gpus) {
  std::vector<std::size_t> firsts;    // first pod of each set
  std::vector<std::size_t> first_of;  // by pod: first pod of its set
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const auto known = std::ranges::find_if(firsts, [&](std::size_t first) {
      return gpus[first] == gpus[i] && have_equal_request(pods[first]->spec, pods[i]->spec);
    });
    if (known == firsts.end() && firsts.size() == model::kMaxPodSets) return std::vector<std::uint8_t>(pods.size());
    first_of.push_back(known == firsts.end() ? i : *known);
    if (known == firsts.end()) firsts.push_back(i);
  }
  std::ranges::stable_sort(firsts, std::ranges::greater{}, [&](std::size_t first) { return gpus[first]; });
  std::vector<std::uint8_t> sets;
  for (const std::size_t first : first_of) {
    sets.push_back(static_cast<std::uint8_t>(std::ranges::find(firsts, first) - firsts.begin()));
  }
  return sets;
}

kube::PodSpec request_for_all(std::span<const kube::Pod* const> pods) {
  kube::PodSpec request = pods.front()->spec;
  for (const kube::Pod* pod : pods.subspan(1)) add(request, pod->spec);
  return request;
}

}  // namespace capstan::op
