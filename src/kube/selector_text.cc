#include "kube/selector_text.h"

#include <string>
#include <utility>
#include <vector>

namespace capstan::kube {
namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Splits a text at the commas outside of parentheses.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] != ',' || depth > 0) continue;
    parts.push_back(without_blanks(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(without_blanks(text.substr(begin)));
  return parts;
}

bool is_key(std::string_view text) { return !text.empty() && text.find_first_of(" =!(),") == text.npos; }

/// Parses "KEY in (A,B)" and "KEY notin (A)".
bool read_set(std::string_view part, Selector& into) {
  const std::size_t open = part.find('(');
  if (open == part.npos || part.back() != ')') return false;
  const std::string_view head = without_blanks(part.substr(0, open));
  const std::size_t space = head.find(' ');
  if (space == head.npos) return false;
  const std::string_view op = without_blanks(head.substr(space));
  if (!is_key(head.substr(0, space)) || (op != "in" && op != "notin")) return false;
  Requirement requirement;
  requirement.key = head.substr(0, space);
  requirement.op = op == "in" ? "In" : "NotIn";
  for (const std::string_view value : parts_of(part.substr(open + 1, part.size() - open - 2))) {
    requirement.values.emplace_back(value);
  }
  into.expressions.push_back(std::move(requirement));
  return true;
}

bool read_part(std::string_view part, Selector& into) {
  if (part.find('(') != part.npos) return read_set(part, into);
  Requirement requirement;
  const std::size_t equals = part.find('=');
  if (equals == part.npos) {
    const bool absent = part.starts_with('!');
    requirement.key = without_blanks(absent ? part.substr(1) : part);
    requirement.op = absent ? "DoesNotExist" : "Exists";
    if (!is_key(requirement.key)) return false;
    into.expressions.push_back(std::move(requirement));
    return true;
  }
  const bool negated = equals > 0 && part[equals - 1] == '!';
  const bool double_equals = part.substr(equals).starts_with("==");
  const std::string_view key = without_blanks(part.substr(0, equals - (negated ? 1 : 0)));
  const std::string_view value = without_blanks(part.substr(equals + (double_equals ? 2 : 1)));
  if (!is_key(key) || value.find_first_of(" =!(),") != value.npos) return false;
  if (!negated) {
    into.labels.set(std::string(key), std::string(value));
    return true;
  }
  requirement.key = key;
  requirement.op = "NotIn";
  requirement.values.emplace_back(value);
  into.expressions.push_back(std::move(requirement));
  return true;
}

}  // namespace

std::optional<Selector> read_selector_text(std::string_view text) {
  Selector selector;
  selector.present = true;
  if (without_blanks(text).empty()) return std::nullopt;
  for (const std::string_view part : parts_of(text)) {
    if (!read_part(part, selector)) return std::nullopt;
  }
  return selector;
}

}  // namespace capstan::kube
