#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "promql/expression.h"

namespace capstan::promql {

/// Limits on expressions, far above what people write.
struct ParseLimits {
  std::size_t bytes = 64u << 10;
  std::size_t depth = 100;
};

/// Reads an expression and checks its types. Every part keeps its place. The language is that of Prometheus 2.42, plus
/// numbers of seconds as durations and the functions of 3.x.
/// @param source  the name of the text in errors
/// @return an input error with line and column inside the text
Result<ExpressionPtr> parse(std::string_view text, const std::string& source = "expression",
                            const ParseLimits& limits = {});

}  // namespace capstan::promql
