#include "control/planned.h"

#include <algorithm>
#include <set>

namespace capstan::control {
namespace {

/// Existing replicas of a service.
struct Existing {
  std::set<std::uint32_t> ordinals;  // ordinals of all gangs; a draining gang keeps its ordinal
  ReplicaCount counted = 0;          // gangs that are neither draining nor sleeping
};

Existing existing(const model::Snapshot& snapshot, const fleet::Index& index, model::ServiceId service) {
  Existing found;
  const auto gangs = index.gangs_by_service.find(service);
  if (gangs == index.gangs_by_service.end()) return found;
  for (model::GangId id : gangs->second) {
    const model::Gang& gang = snapshot.gangs.at(id);
    found.ordinals.insert(gang.ordinal);
    found.counted += gang.is_leaving() ? 0 : 1;
  }
  return found;
}

}  // namespace

void update_planned(std::vector<model::PlannedGang>& planned, const model::Snapshot& snapshot,
                    const fleet::Index& index, Instant now) {
  const std::vector<model::PlannedGang> before = std::move(planned);
  planned.clear();
  snapshot.services.for_each([&](model::ServiceId service, const model::ServiceState& state) {
    if (snapshot.catalog->service(service).workload.placed_elsewhere) return;
    const Existing found = existing(snapshot, index, service);
    ReplicaCount lacking = state.desired_replicas - state.leaving - found.counted;
    for (std::uint32_t ordinal = 0; lacking > 0; ++ordinal) {
      if (found.ordinals.contains(ordinal)) continue;
      const auto known = std::ranges::find_if(
          before, [&](const model::PlannedGang& gang) { return gang.service == service && gang.ordinal == ordinal; });
      planned.push_back({service, ordinal, known == before.end() ? now : known->decided_at});
      --lacking;
    }
  });
}

}  // namespace capstan::control
