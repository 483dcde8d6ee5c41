#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "bound/request_price.h"
#include "experiment/scenario.h"

namespace capstan::experiment {

/// Every request of a scenario's load, read ahead: for whoever may know the future. Of a prompt counts as cached what
/// any earlier request had in common with it, as if every replica remembered all that any of them ever computed.
/// @return an error where the load is bad, waits for its own answers (a closed loop has no arrivals to know), or has
///         more requests than fit in memory
Result<std::vector<bound::KnownRequest>> known_requests(const Scenario& scenario, std::uint64_t seed);

/// Do some of the requests name their prompts' prefixes, and do engines keep them?
bool shares_prefixes(const Scenario& scenario, const std::vector<bound::KnownRequest>& requests);

}  // namespace capstan::experiment
