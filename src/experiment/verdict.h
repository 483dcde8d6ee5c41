#pragma once

#include <string>

#include "experiment/compare.h"

// What a comparison says to somebody who has to choose.
namespace capstan::experiment {

/// Does the policy meet the share of requests that the SLO asks for?
bool holds_slo(const RunResult& result, const model::Slo& slo);

/// None where no policy holds it.
const RunResult* cheapest_that_holds(const Comparison& comparison);

/// One or two sentences: who scores best and what it meets and costs; where it misses the SLO, the cheapest policy that
/// holds it, or that none does. For one policy: whether it holds its SLO.
std::string verdict_words(const Comparison& comparison);

/// What sets `a` apart from `b`: requests by where they ended, GPU-hours by the states that make most of the
/// difference. "13.4 points more met (1,204 fewer late); 10.0 GPU-hours less: 12.0 less idle, 2.0 more busy". Empty
/// where they are alike.
std::string difference_words(const RunResult& a, const RunResult& b);

}  // namespace capstan::experiment
