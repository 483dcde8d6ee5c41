#pragma once

#include <vector>

#include "experiment/run/result.h"
#include "model/slo.h"

// The order of policies for an operator: policies that hold the SLO come first, the cheapest of them at the top.
namespace capstan::experiment {

/// Returns true if the policy meets the share of requests that the SLO asks for. With several services, each service
/// must meet its own SLO, and each class of jobs its goal. Jobs without a goal do not count.
bool holds_slo(const RunResult& result, const model::Slo& slo);

/// Returns how many more requests the policy would have to meet to hold the SLO; 0 if it holds it.
RequestCount requests_short_of_slo(const RunResult& result, const model::Slo& slo);

/// Returns true if `a` costs less than `b`: fewer USD, or as many USD and less paid GPU time. If no price is known,
/// every cost is 0 USD and the paid GPU time decides.
bool is_cheaper(const RunResult& a, const RunResult& b);

/// Returns true if `a` is the better choice. A policy that holds the SLO comes before a policy that misses it. Of two
/// policies that miss it, the one with fewer missed SLOs and goals comes first, then the one with the higher
/// attainment. After that, the lower cost decides, then the name. In a scenario with only jobs, the number of ended
/// jobs of the classes without a goal comes before the cost.
bool ranks_before(const RunResult& a, const RunResult& b, const model::Slo& slo);

/// Orders policies by `ranks_before`.
void rank(std::vector<RunResult>& results, const model::Slo& slo);

}  // namespace capstan::experiment
