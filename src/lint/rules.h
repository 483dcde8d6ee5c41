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

/// Rules that concern an object of this kind. A kind that none does may be skipped before it is read.
std::span<const Rule* const> rules_for(std::string_view kind);

}  // namespace capstan::lint
