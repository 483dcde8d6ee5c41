#include "plan/cost/render_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace capstan::plan {

std::string answers_text(const std::vector<Statement>& statements) {
  std::string out;
  for (const Statement& statement : statements) {
    out += fmt::format("{}: {}\n  {}\n", statement.name, statement.value, statement.why);
  }
  return out;
}

std::string answers_json(const std::vector<Statement>& statements) {
  nlohmann::ordered_json answers = nlohmann::ordered_json::array();
  for (const Statement& statement : statements) {
    std::string name = statement.name;
    std::ranges::replace(name, ' ', '_');
    answers.push_back({{"name", name}, {"value", statement.value}, {"formula", statement.why}});
  }
  return nlohmann::ordered_json{{"format_version", 1}, {"answers", answers}}.dump(2) + '\n';
}

}  // namespace capstan::plan
