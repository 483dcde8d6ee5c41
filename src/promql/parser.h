#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "promql/expression.h"

namespace capstan::promql {

/// No expression is larger or deeper: what people write is far below.
struct ParseLimits {
  std::size_t bytes = 64u << 10;
  std::size_t depth = 100;
};

/// Reads an expression, checks its types, and keeps where everything stands. It takes what Prometheus 2.42 takes; of
/// what came later also numbers of seconds as durations and the functions of 3.x.
/// @param source  its name in errors
/// @return an input error with line and column inside the text
Result<ExpressionPtr> parse(std::string_view text, const std::string& source = "expression",
                            const ParseLimits& limits = {});

}  // namespace capstan::promql
