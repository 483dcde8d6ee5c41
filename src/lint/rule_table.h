#pragma once

#include <span>

#include "lint/rule.h"

namespace capstan::lint {

/// The rules in the order of their files' names; the build writes it (rules.cmake).
std::span<const Rule* const> rule_table();

}  // namespace capstan::lint
