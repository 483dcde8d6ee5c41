#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "bound/request_price.h"
#include "scenario/scenario.h"

namespace capstan::experiment {

/// The bound holds up to 104 bytes of each at a time: 48 here (of a vector that has just grown), 40 of its job and 16
/// of what dropping it would save; of a block of prompts that somebody has computed, 40. At the most of both that is 14
/// GiB, so that a machine with 24 GiB has room for the run beside it.
struct MostKnown {
  std::size_t requests = 100'000'000;
  std::size_t blocks = 100'000'000;
};

/// Every request of a scenario's load, read ahead: for whoever may know the future. Of a prompt counts as cached what
/// any earlier request had in common with it, as if every replica remembered all that any of them ever computed.
/// @return an error where the load is bad, waits for its own answers (a closed loop has no arrivals to know), or has
///         more requests than fit in memory
Result<std::vector<bound::KnownRequest>> known_requests(const scenario::Scenario& scenario, std::uint64_t seed,
                                                        const MostKnown& most = {});

/// Do some of the requests name their prompts' prefixes, and do engines keep them?
bool shares_prefixes(const scenario::Scenario& scenario, const std::vector<bound::KnownRequest>& requests);

}  // namespace capstan::experiment
