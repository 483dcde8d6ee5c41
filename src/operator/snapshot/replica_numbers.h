#pragma once

#include <cstdint>
#include <map>

#include "model/ids.h"

namespace capstan::op {

/// The numbers of the replicas of one service. No two replicas have the same number.
class ReplicaNumbers {
 public:
  /// Gives a replica a number.
  /// @return false if another replica has the number
  bool take(std::uint32_t number, model::GangId gang) { return gangs_.emplace(number, gang).second; }

  /// Gives a replica the lowest free number. The search begins at `first_candidate_`, so it does not pass a number
  /// twice.
  std::uint32_t take_lowest(model::GangId gang) {
    auto at = gangs_.lower_bound(first_candidate_);
    for (; at != gangs_.end() && at->first == first_candidate_; ++at) ++first_candidate_;
    gangs_.emplace_hint(at, first_candidate_, gang);
    return first_candidate_++;
  }

  /// Frees the number of a replica.
  void free(std::uint32_t number, model::GangId gang) {
    const auto found = gangs_.find(number);
    if (found == gangs_.end() || found->second != gang) return;
    gangs_.erase(found);
    if (number < first_candidate_) first_candidate_ = number;
  }

 private:
  std::map<std::uint32_t, model::GangId> gangs_;
  std::uint32_t first_candidate_ = 0;  ///< no number below it is free
};

}  // namespace capstan::op
