#pragma once

#include <optional>
#include <string>

#include "promql/expression.h"

namespace capstan::promql {

/// A type error: its place in the expression and its message.
struct TypeFault {
  Place place;
  std::string message;
};

/// Sets the type of the expression from the types of its parts, or returns why it has no type.
std::optional<TypeFault> check_types(Expression& expression);

}  // namespace capstan::promql
