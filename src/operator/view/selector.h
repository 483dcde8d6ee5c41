#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "signals/prometheus_api.h"

namespace capstan::op {

/// Label matchers as they stand between the braces of a PromQL selector: `job="chat",pod=~"chat-.*"`. Error: what is
/// wrong, with its column; the file is left to the caller.
Result<std::vector<signals::Matcher>> read_matchers(std::string_view text);

}  // namespace capstan::op
