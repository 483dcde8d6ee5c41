#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "decide/fleet_nouns.h"
#include "decide/place/candidates.h"
#include "decide/place/fit.h"
#include "decide/place/gang_pods.h"
#include "decide/place/spread_constraint.h"
#include "model/gang_spec.h"
#include "model/snapshot.h"

namespace capstan::decide::place {

/// Searches for places for gangs in one cycle of decisions. fleet::Refusals are kept with the rooms, so that equal
/// gangs share one search, in this cycle and in later ones.
class RoomSearch {
 public:
  /// Begins a cycle. All three objects must outlive this one.
  RoomSearch(const model::Snapshot& snapshot, AssumedRooms& rooms, SpreadConstraint& spread);

  /// A fit, and the level of its domain.
  struct LevelFit {
    Fit fit;
    model::Level level;
  };

  /// Searches for room for the pods of a gang that need a node. Tries the level that the gang prefers, then wider ones
  /// up to the level that it requires. The spread of a service over failure domains takes precedence over the preferred
  /// level. If there is no room, the result is that of the required level.
  LevelFit find(const GangPods& gang);

  /// Returns how many pods of the gang the largest existing domain could hold if it were empty. The answer is kept as
  /// long as nothing changes about the nodes except the GPUs and resources that they have free.
  std::int64_t most_ever(const GangPods& gang);
  /// Returns how many pods of the gang the nodes of one pool could hold together if the pool grew to its limit.
  std::int64_t most_buyable(const GangPods& gang);
  /// Returns true if the nodes of one pool could hold all pods of the gang if no limit on GPUs, nodes or costs applied.
  bool higher_limits_suffice(const GangPods& gang) const;
  /// Returns the larger of the numbers that `most_ever` and `most_buyable` would return if labels and taints excluded
  /// no node. The gang must have no bound pods.
  std::int64_t most_on_all_nodes(const GangPods& gang);
  /// Returns the reason for which find() has found no room. Equal gangs share the answer while the rooms stay the same.
  model::Reason reason_of(const GangPods& gang, const Shortfall& lack);

  /// Makes the search keep the places that it considers.
  /// @param searches  receives them; must outlive this object
  void keep_candidates(std::vector<Search>& searches) { searches_ = &searches; }
  /// Returns `fit`. After keep_candidates(), also keeps the places that were considered for the request.
  Fit with_note(const SearchSubject& subject, const Request& request, Fit fit) const;

  /// Ends a cycle: forgets the refusals of requests that no gang has any more.
  void forget_unused();

 private:
  Request request_of(const GangPods& gang, model::Level level) const;
  model::Reason find_reason(const GangPods& gang, const Shortfall& lack);
  LevelFit find_spread(const GangPods& gang, const SpreadConstraint::Distribution& spread);
  template <typename FitAt>
  LevelFit narrowest_fit(const GangPods& gang, FitAt fit_at) const;
  Fit search(const GangPods& gang, const Request& request);
  std::vector<Request> requests_of_sets(const GangPods& gang, const Request& request) const;
  Fit fit_of_class(const GangPods& gang, const Request& request);
  bool revise_known(Fit& fit, const fleet::Refusal& known, const GangPods& gang, const Request& request) const;
  fleet::Refusal& refusal_of(const GangPods& gang, model::Level level);

  const model::Snapshot& snapshot_;
  AssumedRooms& rooms_;
  SpreadConstraint& spread_;
  struct KnownReason {
    std::uint64_t version = 0;  ///< version of the rooms
    Shortfall lack;
  };
  /// The result of a search that found no room for a replica that must be spread.
  struct SpreadRefusal {
    std::uint64_t version = 0;  ///< version of the rooms
    LevelFit found;
  };
  std::map<std::pair<ServiceId, model::GangSpec>, SpreadRefusal> spread_refusals_;
  std::map<model::GangSpec, std::int64_t> buyable_;
  std::map<model::GangSpec, KnownReason> reasons_;
  std::vector<Search>* searches_ = nullptr;  // null: considered places are not kept
};

}  // namespace capstan::decide::place
