#pragma once

#include <cstddef>
#include <string>

#include "experiment/compare.h"

// The services of a scenario that has several, in the text of its results.
namespace capstan::experiment {

/// Returns the table of a policy's services: the met requests, latencies, replicas, GPU time and cost of each. Empty
/// with one service.
std::string service_table(const RunResult& result, std::size_t width);

/// Returns "the SLO of 99 %" or "the SLOs of all 3 services".
std::string slo_phrase(const Comparison& comparison);

/// Returns the services whose SLO the result misses: "code (97.1 % met, 99 % asked) and chat (...)". Of many, it names
/// three and counts the others.
std::string missed_services_words(const RunResult& result);

}  // namespace capstan::experiment
