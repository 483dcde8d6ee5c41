#include <algorithm>
#include <tuple>

#include "decide/scale/scale.h"

namespace capstan::decide::scale {

std::vector<GangId> victims(const RoleView& role, ReplicaCount keep) {
  struct Candidate {
    int phase;           // pending, starting, ready
    std::int64_t holds;  // requests
    Instant created_at;
    GangId id;
  };
  std::vector<Candidate> candidates;
  for (const RoleView::Replica& replica : role.replicas) {
    if (replica.phase == model::Gang::Phase::draining) continue;
    // A replica whose load nobody knows may hold anything: it goes last among the ready ones.
    constexpr std::int64_t kUnknown = std::int64_t{1} << 40;
    const model::ReplicaSignals& s = replica.signals;
    const auto load = [](const model::Signal& signal) {
      return signal.state == model::Signal::State::missing ? kUnknown : signal.value;
    };
    const bool ready = replica.phase == model::Gang::Phase::ready;
    candidates.push_back({static_cast<int>(replica.phase), ready ? load(s.running) + load(s.waiting) : 0,
                          replica.created_at, replica.id});
  }
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.phase, a.holds, b.created_at, b.id) < std::tuple(b.phase, b.holds, a.created_at, a.id);
  });
  std::vector<GangId> chosen;
  const auto surplus = static_cast<ReplicaCount>(candidates.size()) - std::max<ReplicaCount>(keep, 0);
  for (ReplicaCount i = 0; i < surplus; ++i) chosen.push_back(candidates[static_cast<std::size_t>(i)].id);
  return chosen;
}

}  // namespace capstan::decide::scale
