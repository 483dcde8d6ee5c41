#pragma once

#include <string>

#include "lint/rule.h"

namespace capstan::lint {

/// A rule on a page of a terminal: what it finds, what it costs, what to do, and both examples.
std::string explain_rule(const Rule& rule);

/// The reference page of a rule, Markdown.
std::string rule_page(const Rule& rule);

/// The page that lists all of them.
std::string rules_page();

/// One line a rule: id, severity, title.
std::string rules_list();

}  // namespace capstan::lint
