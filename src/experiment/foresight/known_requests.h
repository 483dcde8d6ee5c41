#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "bound/request_price.h"
#include "scenario/scenario.h"

namespace capstan::experiment {

/// Limits on the memory that the computation of the bound needs. It needs up to 104 bytes for each request: 48 here (in
/// a vector that has just grown), 40 for the request's job and 16 for the saving if the request is dropped. It also
/// needs 40 bytes for each block of prompts that some replica has computed. At both limits that is 13.4 GiB, so a
/// machine with 24 GiB has room for a simulation at the same time.
struct KnownRequestLimits {
  std::size_t requests = 100'000'000;
  std::size_t blocks = 100'000'000;
};

/// Reads every request of a scenario's load in advance. A prefix that a prompt shares with any earlier prompt counts as
/// cached, as if every replica kept everything that any replica ever computed.
/// @return an error if the load is invalid, is a closed loop (whose arrivals depend on the answers), or has more
///         requests than fit in memory
Result<std::vector<bound::KnownRequest>> known_requests(const scenario::Scenario& scenario, std::uint64_t seed,
                                                        const KnownRequestLimits& most = {});

/// Returns true if engines have a prefix cache and the prompt of some request shares a prefix with an earlier prompt.
bool shares_prefixes(const scenario::Scenario& scenario, const std::vector<bound::KnownRequest>& requests);

}  // namespace capstan::experiment
