#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::decide::scale {

/// One variant behind an endpoint, as input to `cheapest_mix`.
struct MixOption {
  /// Capacity of a replica, in thousandths; 1000: one replica of the first variant; 0: none.
  std::int64_t worth_milli = 1000;
  std::int64_t price = 1;  ///< price per replica and hour, above 0; any unit common to all options
  ReplicaCount current = 0;
  /// Fewest replicas that may be chosen.
  ReplicaCount least = 0;
  ReplicaCount most = 0;  ///< most replicas that may be chosen and are available; >= least
};

/// Cost terms of a change.
struct MixTerms {
  /// Time for which the decision is assumed to last.
  Duration horizon = std::chrono::hours(1);
  /// Time from the request for a replica until it serves; shorter than `horizon`. During this time both the new replica
  /// and the replica that it replaces are paid, but only one serves.
  Duration lead{};
};

/// A number of replicas for each variant.
struct Mix {
  std::vector<ReplicaCount> replicas;
  std::int64_t worth_milli = 0;
  std::int64_t price = 0;  ///< price of all replicas per hour
  bool covers = false;     ///< true: carries the needed load
  bool exact = true;       ///< false: the search reached its limit of steps, and a cheaper mix may exist
};

/// Returns the cheapest mix that carries `needed_milli` over the horizon. The cost of a mix is
///
///   price x horizon and, if any replica starts, lead x price of all replicas that start or stop
///
/// Ties go to the mix with the fewest changes, then the fewest replicas, then more of the earlier variants. If no mix
/// carries the load, returns `most` replicas of each variant with a capacity, and `least` of the others.
///
/// The result is exact if the search ends within `kMaxMixNodes` steps of branch and bound. Two or three variants need
/// far fewer steps.
Mix cheapest_mix(std::span<const MixOption> options, std::int64_t needed_milli, const MixTerms& terms);
inline constexpr std::size_t kMaxMixNodes = 20'000;

/// Returns the replicas needed of one variant alone; empty if that many are not available.
std::optional<ReplicaCount> replicas_alone(const MixOption& option, std::int64_t needed_milli);

/// Returns the cost of a mix by the formula above, in price x nanoseconds, which can exceed 64 bits.
__int128 mix_cost(std::span<const MixOption> options, std::span<const ReplicaCount> replicas, const MixTerms& terms);

}  // namespace capstan::decide::scale
