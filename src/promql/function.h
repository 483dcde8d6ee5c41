#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "promql/expression.h"

namespace capstan::promql {

/// The signature of a function. The table has all functions of Prometheus 2.42 and 3.
struct Function {
  std::string_view name;
  std::vector<ValueType> arguments;
  std::uint8_t required = 0;  ///< number of required arguments; the other ones are optional
  bool is_variadic = false;   ///< true if the last argument may be repeated
  ValueType result = ValueType::vector;
};

/// Returns the function, or null if there is none of this name. Names are case sensitive.
const Function* find_function(std::string_view name);
std::span<const Function> functions();  ///< all functions, sorted by name

}  // namespace capstan::promql
