#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "signals/prometheus_api.h"

namespace capstan::op {

/// Reads label matchers in the form of a PromQL selector without braces: `job="chat",pod=~"chat-.*"`. An error states
/// the fault and its column; the caller adds the file.
Result<std::vector<signals::Matcher>> read_matchers(std::string_view text);

}  // namespace capstan::op
