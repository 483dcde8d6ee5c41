#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::decide::scale {

/// One variant behind an endpoint, as the choice of a mix sees it.
struct MixOption {
  std::int64_t worth_milli = 1000;  ///< what a replica carries, in thousandths of one of the first variant; 0: nothing
  std::int64_t price = 1;  ///< of a replica and hour, above 0: micro-USD, or whatever all options are priced in
  ReplicaCount current = 0;
  ReplicaCount least = 0;
  ReplicaCount most = 0;  ///< >= least; what can be had is in it
};

/// How long what is decided now is taken to last, and what a change costs by then.
struct MixTerms {
  Duration horizon = std::chrono::hours(1);
  /// From asking for a replica to its serving: so long it is paid for nothing, and so long does whatever it takes the
  /// place of run on. Below the horizon.
  Duration lead{};
};

/// So many replicas of each variant.
struct Mix {
  std::vector<ReplicaCount> replicas;
  std::int64_t worth_milli = 0;
  std::int64_t price = 0;  ///< an hour
  bool covers = false;     ///< carries what is needed
  bool exact = true;       ///< false: the search ended at its bound, and a cheaper one may exist
};

/// The cheapest mix that carries `needed_milli`, over the horizon:
///
///   price x horizon, and, where anything starts, lead x price of all that starts or stops
///
/// Among equals the one that changes least, then the one with the fewest replicas, then the one with more of the
/// earlier variants. Where nothing carries so much, as many of each as there can be.
///
/// Exact within `kMixNodesMost` steps of a branch and bound, which two or three variants never come near.
Mix cheapest_mix(std::span<const MixOption> options, std::int64_t needed_milli, const MixTerms& terms);
inline constexpr std::size_t kMixNodesMost = 20'000;

/// What it takes of one variant alone; nothing where there cannot be so many.
std::optional<ReplicaCount> alone(const MixOption& option, std::int64_t needed_milli);

/// What a mix comes to by the formula above, in price x nanoseconds, which no integer of 64 bits holds.
__int128 mix_cost(std::span<const MixOption> options, std::span<const ReplicaCount> replicas, const MixTerms& terms);

}  // namespace capstan::decide::scale
