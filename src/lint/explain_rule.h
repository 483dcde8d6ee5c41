#pragma once

#include <string>

#include "lint/rule.h"

namespace capstan::lint {

/// Returns a rule as a page for a terminal: defect, cost, repair and both examples.
std::string explain_rule(const Rule& rule);

/// Returns the reference page of a rule in Markdown.
std::string rule_page(const Rule& rule);

/// Returns the page that lists all rules.
std::string rules_page();

/// Returns one line per rule: id, severity, title.
std::string rules_list();

}  // namespace capstan::lint
