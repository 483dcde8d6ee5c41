#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lint/rule.h"

namespace capstan::lint {

/// Returns all rules, sorted by id. The build makes the list from the files below rules/.
std::span<const Rule* const> all_rules();

/// Returns the rule with this id, or null.
const Rule* find_rule(std::string_view id);

/// Returns true if the rule checks only workloads that ask for a GPU.
bool concerns_only_gpus(const Rule& rule);

/// Returns the kinds of objects that rules check or look up, sorted.
std::vector<std::string_view> checked_kinds();

/// Returns the rules that check an object.
std::span<const Rule* const> rules_for(const Object& object);

/// Returns true if a rule checks the object or looks it up, or if it contains other objects.
bool is_checked(const Object& object);

}  // namespace capstan::lint
