#pragma once

#include "plan/search/load_facts.h"

// The length of a search is bounded by simulated requests, not by time, so that every machine finds the same plan. Two
// cores simulate 400,000 to 1,800,000 requests a second.
namespace capstan::plan {

inline constexpr std::uint64_t kSeeds = 5;

/// A load up to this size is planned in a few seconds.
inline constexpr RequestCount kShortLoadRequests = 20'000;
/// A load above this size is huge: fewer fleets are simulated on all of it, and worse conditions under one seed.
inline constexpr RequestCount kHugeLoadRequests = 300'000;

/// Most requests of the simulations of all services on one cluster, summed over the seeds. If a service misses its SLO
/// there, all tries of higher minima together have the same budget again.
inline constexpr RequestCount kMaxTogetherRequests = 12'000'000;

/// Returns the number of seeds with which all services on one cluster are simulated: five, or as many as
/// `kMaxTogetherRequests` allows.
/// @param requests  requests of all services in one simulation
inline std::uint64_t together_seeds(RequestCount requests) {
  const RequestCount possible = kMaxTogetherRequests / (requests > 0 ? requests : 1);
  return possible < 1                                   ? 1
         : possible > static_cast<RequestCount>(kSeeds) ? kSeeds
                                                        : static_cast<std::uint64_t>(possible);
}

/// Tokens of prompts that count as one request of the budget.
inline constexpr Tokens kPromptTokensOfRequest = 4096;

struct SearchBudget {
  RequestCount fleets = 0;     ///< simulated requests after which the search for a fleet begins no further round
  RequestCount others = 0;     ///< the same after the first finalists are proven; requests of earlier rounds count
  RequestCount scalers = 0;    ///< the same for the search of minima for the other scalers, counted from its start
  RequestCount zone_loss = 0;  ///< the same for the search of a minimum that holds the SLO without a zone
  bool is_huge = false;
};

/// Returns the budget of one of several services.
inline SearchBudget budget_of(const LoadFacts& load, std::size_t services) {
  const bool is_short = load.requests <= kShortLoadRequests;
  const auto share = static_cast<RequestCount>(services == 0 ? 1 : services);
  const bool is_huge = load.requests > kHugeLoadRequests;
  // A huge load gets a larger budget, because a single round over its seeds takes more than the budget of other loads.
  const RequestCount fleets = (is_short ? 1'000'000 : is_huge ? 24'000'000 : 8'000'000) / share;
  return {.fleets = fleets,
          .others = is_huge ? fleets : 2 * fleets,
          .scalers = (is_short ? 1'400'000 : 14'000'000) / share,
          .zone_loss = (is_short ? 500'000 : 4'000'000) / share,
          .is_huge = is_huge};
}

}  // namespace capstan::plan
