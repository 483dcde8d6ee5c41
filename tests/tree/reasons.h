#pragma once

#include <vector>

#include "tree/rooms.h"
#include "tree/source.h"

namespace capstan::tree {

/// Codes of src/model/reasons.inc that no source below src/ gives, tests aside: sentences that nobody can ever read.
std::vector<Finding> check_reasons(const std::vector<Source>& tree);

}  // namespace capstan::tree
