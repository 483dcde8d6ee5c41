#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "promql/expression.h"

namespace capstan::promql {

/// What a function takes and gives. All that Prometheus 2.42 and 3 have can be parsed.
struct Function {
  std::string_view name;
  std::vector<ValueType> arguments;
  std::uint8_t required = 0;  ///< of the arguments; the others may be left out
  bool any_more = false;      ///< the last one may be repeated
  ValueType result = ValueType::vector;
};

/// Null where there is none of this name; names are case sensitive.
const Function* find_function(std::string_view name);
std::span<const Function> functions();  ///< by name

}  // namespace capstan::promql
