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

  /// Gives a replica the lowest free number. It costs one step for each number that is passed for the first time.
  std::uint32_t take_lowest(model::GangId gang) {
    auto at = gangs_.lower_bound(none_below_);
    for (; at != gangs_.end() && at->first == none_below_; ++at) ++none_below_;
    gangs_.emplace_hint(at, none_below_, gang);
    return none_below_++;
  }

  /// Frees the number of a replica.
  void free(std::uint32_t number, model::GangId gang) {
    const auto found = gangs_.find(number);
    if (found == gangs_.end() || found->second != gang) return;
    gangs_.erase(found);
    if (number < none_below_) none_below_ = number;
  }

 private:
  std::map<std::uint32_t, model::GangId> gangs_;
  std::uint32_t none_below_ = 0;  ///< no number below it is free
};

}  // namespace capstan::op
