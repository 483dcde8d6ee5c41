#pragma once

#include <string_view>

namespace capstan::signals {

/// Returns the text of schema/metrics.csv as it was when the program was built.
std::string_view bundled_metrics_csv();

}  // namespace capstan::signals
