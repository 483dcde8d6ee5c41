#pragma once

#include <string>
#include <vector>

#include "base/random.h"

namespace capstan::test {

/// Every construct that is evaluated, at least once, and what people write in their scalers.
std::vector<std::string> written_expressions();

/// An expression that nobody would write: any construct inside any other, well typed or nearly so.
std::string random_expression(RandomStream& random);

}  // namespace capstan::test
