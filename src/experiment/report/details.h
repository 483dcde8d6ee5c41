#pragma once

#include <cstddef>
#include <string>

#include "experiment/run/result.h"

namespace capstan::experiment {

/// Returns every figure of one run that the table leaves out: GPU time and money by state, latencies, requests, tokens,
/// replicas, nodes, disruptions, decisions. Ends with a newline.
std::string details(const RunResult& result, std::size_t width);

}  // namespace capstan::experiment
