#pragma once

#include <vector>

#include "lint/rule.h"

namespace capstan::lint {

/// Removes the findings of one object that follow from a misspelt name in it. A container with `resource:` has no GPU
/// because of this field, and an engine with `--tenser-parallel-size 4` uses one GPU because of this flag. Only the
/// misspelt name is reported. If the other finding has another cause as well, the next run reports it.
void remove_consequences(std::vector<Finding>& findings);

}  // namespace capstan::lint
