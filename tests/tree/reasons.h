#pragma once

#include <vector>

#include "tree/rooms.h"
#include "tree/source.h"

namespace capstan::tree {

/// Finds codes of src/model/reasons.inc that no source below src/ uses, apart from tests.
std::vector<Finding> check_reasons(const std::vector<Source>& tree);

}  // namespace capstan::tree
