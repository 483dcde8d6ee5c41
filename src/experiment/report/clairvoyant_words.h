#pragma once

#include <cstddef>
#include <string>

#include "experiment/compare.h"

namespace capstan::experiment {

/// "Lower bound at attainment 99.0 %".
std::string lower_bound_name(const model::Slo& slo);

/// What the two clairvoyant rows say, and each shown policy's paid GPU time against the achievable. Ends with a
/// newline.
std::string clairvoyant_words(const Comparison& comparison, std::size_t width);

}  // namespace capstan::experiment
