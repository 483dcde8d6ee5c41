#pragma once

#include <optional>
#include <string>

#include "promql/expression.h"

namespace capstan::promql {

struct TypeFault {
  Place place;
  std::string message;
};

/// Gives the expression its type, from those of its parts, or says why it can have none.
std::optional<TypeFault> check_types(Expression& expression);

}  // namespace capstan::promql
