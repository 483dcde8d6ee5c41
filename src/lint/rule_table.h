#pragma once

#include <span>

#include "lint/rule.h"

namespace capstan::lint {

/// Returns the rules in the order of their file names. The build generates this function (rules.cmake).
std::span<const Rule* const> rule_table();

}  // namespace capstan::lint
