#pragma once

#include <string>
#include <vector>

#include "experiment/compare.h"

// The sentences that tell an engineer which policy to choose.
namespace capstan::experiment {

/// Returns the policy that the table marks: the cheapest policy that holds the SLO with every seed that was tried; null
/// if none does. If only the seed of the scenario was tried, it is the cheapest policy that holds the SLO with it. In a
/// scenario with only jobs, the table marks the first policy of the ranking, if this policy holds the goals.
const RunResult* marked_policy(const Comparison& comparison);

/// Returns the words below the row of a policy that holds the SLO with some seeds only: "holds the SLO with only 1 of
/// the seeds 1 to 5". Empty for other policies.
std::string chance_row_words(const Comparison& comparison, const RunResult& result);

/// Returns the sentences below the table. With several policies they name the cheapest that holds the SLO and the next
/// one, and whether the result depends on the seed. If none holds it, they say by how much the best one misses it. Then
/// follow the best constant fleet, and a higher minimum of replicas if it helps. With one policy they say whether it
/// holds its SLO.
std::string verdict_words(const Comparison& comparison);

/// Returns how `a` differs from `b` in requests, by outcome, and in GPU-hours, by the states with the largest
/// differences: "13.4 percentage points more met (1,204 fewer late); 10.0 GPU-hours less: 12.0 h less idle, 2.0 h more
/// busy". Empty if they are alike.
std::string difference_words(const RunResult& a, const RunResult& b);

/// Returns the sentences that say how the first policy differs from the next and from the last one.
std::vector<std::string> differences_of_first(const Comparison& comparison);

}  // namespace capstan::experiment
