#pragma once

#include <string>
#include <vector>

#include "base/random.h"

namespace capstan::test {

/// Returns expressions that use every construct at least once, and typical expressions of scalers.
std::vector<std::string> written_expressions();

/// Returns a random expression with any construct inside any other. Its types may be wrong.
std::string random_expression(RandomStream& random);

}  // namespace capstan::test
