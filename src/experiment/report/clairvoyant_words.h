#pragma once

#include <cstddef>
#include <string>

#include "experiment/compare.h"

namespace capstan::experiment {

/// Returns "lower bound for 99.0 % met".
std::string lower_bound_name(const model::Slo& slo);

/// Returns the lines that explain the two clairvoyant rows, and that compare the paid GPU time of each shown policy
/// with the achievable time. Ends with a newline.
std::string clairvoyant_words(const Comparison& comparison, std::size_t width);

}  // namespace capstan::experiment
