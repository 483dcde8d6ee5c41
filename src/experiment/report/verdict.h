#pragma once

#include <string>

#include "experiment/compare.h"

// A comparison in sentences, for an engineer who has to choose a policy.
namespace capstan::experiment {

/// Returns the policy that the table marks: the cheapest that holds the SLO; null where none does.
const RunResult* marked_policy(const Comparison& comparison);

/// Returns the sentences below the table. With several policies: the cheapest that holds the SLO and the next one; or,
/// where none holds it, how much the best one lacks. Then what a constant fleet would do, and a higher minimum of
/// replicas where it helps. With one policy: whether it holds its SLO.
std::string verdict_words(const Comparison& comparison);

/// Returns how `a` differs from `b`: requests by where they ended, GPU-hours by the states that make most of the
/// difference. "13.4 points more met (1,204 fewer late); 10.0 GPU-hours less: 12.0 less idle, 2.0 more busy". Empty
/// where they are alike.
std::string difference_words(const RunResult& a, const RunResult& b);

}  // namespace capstan::experiment
