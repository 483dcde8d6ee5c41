#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lint/rule.h"

namespace capstan::lint {

/// Every rule, by id. The list is made of the files below rules/ when the build is configured.
std::span<const Rule* const> all_rules();

/// A rule by its id, or null.
const Rule* find_rule(std::string_view id);

/// Looks only at workloads that ask for a GPU: for others it needs not be asked.
bool concerns_only_gpus(const Rule& rule);

/// The kinds of objects that rules are about, or look for beside those; sorted.
std::vector<std::string_view> kinds_looked_at();

/// Returns the rules that concern an object.
std::span<const Rule* const> rules_for(const Object& object);

/// Returns false for an object that no rule is about, and that none looks for beside others.
bool is_looked_at(const Object& object);

}  // namespace capstan::lint
