#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "decide/scale/scale.h"

namespace capstan::decide::scale {

namespace {

struct Candidate {
  int phase;           // number of the `Gang::Phase`; lower numbers are removed first
  std::int64_t holds;  // running and waiting requests
  Instant created_at;
  GangId id;
  FailureDomain domain;
};

/// Chooses `most` candidates one by one, the ones without a domain first. Each further choice comes from the domain
/// that still holds the most replicas; of equally full domains, from the one whose first candidate comes earlier.
std::vector<GangId> from_fullest_domains(const std::vector<Candidate>& candidates, std::size_t most) {
  // Indices of candidates in reverse order: the first candidate is last.
  std::map<FailureDomain, std::vector<std::size_t>> by_domain;
  for (std::size_t i = candidates.size(); i > 0; --i) by_domain[candidates[i - 1].domain].push_back(i - 1);
  // Ordered by replicas in the domain (negated: the fullest first), then by the index of its first candidate.
  std::set<std::tuple<std::ptrdiff_t, std::size_t, FailureDomain>> turns;
  const auto enter = [&](FailureDomain domain, const std::vector<std::size_t>& left) {
    const std::ptrdiff_t holds = domain == kNowhere ? std::ssize(candidates) + 1 : std::ssize(left);
    if (!left.empty()) turns.emplace(-holds, left.back(), domain);
  };
  for (const auto& [domain, left] : by_domain) enter(domain, left);
  std::vector<GangId> chosen;
  while (chosen.size() < most && !turns.empty()) {
    const auto [holds, first, domain] = *turns.begin();
    turns.erase(turns.begin());
    chosen.push_back(candidates[first].id);
    std::vector<std::size_t>& left = by_domain[domain];
    left.pop_back();
    enter(domain, left);
  }
  return chosen;
}

}  // namespace

std::vector<GangId> victims(const WorkloadView& role, ReplicaCount keep) {
  std::vector<Candidate> candidates;
  for (const WorkloadView::Replica& replica : role.replicas) {
    if (replica.phase == model::Gang::Phase::draining) continue;
    // A replica with an unknown load may hold any number of requests, so it is removed last among the ready ones.
    constexpr std::int64_t kUnknown = std::int64_t{1} << 40;
    const model::ReplicaSignals& s = replica.signals;
    const auto load = [](const model::Signal& signal) {
      return signal.state == model::Signal::State::missing ? kUnknown : signal.value;
    };
    const bool ready = replica.phase == model::Gang::Phase::ready;
    candidates.push_back({static_cast<int>(replica.phase), ready ? load(s.running) + load(s.waiting) : 0,
                          replica.created_at, replica.id, replica.domain});
  }
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.phase, a.holds, b.created_at, b.id) < std::tuple(b.phase, b.holds, a.created_at, a.id);
  });
  const ReplicaCount surplus = std::ssize(candidates) - std::max<ReplicaCount>(keep, 0);
  if (role.spread && surplus > 0) return from_fullest_domains(candidates, static_cast<std::size_t>(surplus));
  std::vector<GangId> chosen;
  for (ReplicaCount i = 0; i < surplus; ++i) chosen.push_back(candidates[static_cast<std::size_t>(i)].id);
  return chosen;
}

}  // namespace capstan::decide::scale
