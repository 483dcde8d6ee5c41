#pragma once

#include <string>
#include <vector>

#include "plan/result/plan.h"

// The answers of `capstan cost` for its standard output.
namespace capstan::plan {

/// Returns each answer as a line with its value and a line with its formula.
std::string answers_text(const std::vector<Statement>& statements);
/// Returns the answers as a JSON document with an end of line.
std::string answers_json(const std::vector<Statement>& statements);

}  // namespace capstan::plan
