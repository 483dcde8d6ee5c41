#include "scenario/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "manifest/fields.h"
#include "manifest/scalars.h"
#include "scenario/figures.h"

namespace capstan::golden {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Reads one side of a claim: `2.5`, `unmet of "queue"` or `2.5 x unmet of "queue"`.
std::optional<Claim::Side> read_side(std::string_view text) {
  Claim::Side side;
  text = trimmed(text);
  constexpr std::string_view kOf = " of \"";
  const std::size_t of = text.find(kOf);
  const std::size_t times = text.substr(0, of).find(" x ");
  if (of == text.npos || times != text.npos) {
    const auto number = manifest::read_number(trimmed(text.substr(0, std::min(of, times))));
    if (!number) return std::nullopt;
    side.factor = *number;
    if (of == text.npos) return times == text.npos ? std::optional(side) : std::nullopt;
  }
  if (!text.ends_with('"')) return std::nullopt;
  side.figure = trimmed(text.substr(times == text.npos ? 0 : times + 3, of - (times == text.npos ? 0 : times + 3)));
  side.policy = text.substr(of + kOf.size(), text.size() - of - kOf.size() - 1);
  const auto names = figure_names();
  if (std::ranges::find(names, side.figure) == names.end()) return std::nullopt;
  return side;
}

std::optional<Claim> read_claim(std::string_view text) {
  // The name of a policy is quoted and may contain any character, so a relation within quotes is ignored.
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted || (text[i] != '<' && text[i] != '>' && text[i] != '=')) continue;
    const auto left = read_side(text.substr(0, i));
    const auto right = read_side(text.substr(i + 1));
    if (!left || !right) return std::nullopt;
    return Claim{std::string(text), *left, text[i], *right};
  }
  return std::nullopt;
}

std::optional<double> value(const Claim::Side& side, const experiment::Comparison& comparison) {
  if (side.figure.empty()) return side.factor;
  const auto row = std::ranges::find(comparison.results, side.policy, &experiment::RunResult::policy);
  if (row == comparison.results.end()) return std::nullopt;
  return side.factor * figure(*row, side.figure).value();
}

}  // namespace

Result<std::vector<Case>> read_cases(std::string_view text, const std::string& file) {
  std::vector<Case> cases;
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    const std::string_view rest = trimmed(line.substr(space));
    const auto wrong = [&](const char* expected) {
      return std::unexpected(
          Error{ErrorKind::input, file, number, 1, fmt::format("found \"{}\", expected {}", line, expected)});
    };
    if (word == "case") {
      const std::size_t of = rest.find(" of ");
      const std::string name(trimmed(rest.substr(0, of)));
      const std::string scenario(of == rest.npos ? name : trimmed(rest.substr(of + 4)));
      cases.push_back({name, scenario, {}, {}});
    } else if (cases.empty()) {
      return wrong("a line with case before it");
    } else if (word == "set") {
      cases.back().sets.emplace_back(rest);
    } else if (word == "claim") {
      const auto claim = read_claim(rest);
      if (!claim) return wrong("claim FIGURE of \"POLICY\" < [NUMBER x] FIGURE of \"POLICY\", or a number");
      cases.back().claims.push_back(*claim);
    } else {
      return wrong("case, set or claim");
    }
  }
  return cases;
}

std::string claim_fault(const Claim& claim, const experiment::Comparison& comparison) {
  const auto left = value(claim.left, comparison);
  const auto right = value(claim.right, comparison);
  if (!left || !right) return claim.text + ": the comparison has no such policy";
  const bool holds = claim.relation == '<' ? *left < *right : claim.relation == '>' ? *left > *right : *left == *right;
  return holds ? "" : fmt::format("{}: the sides are {:.3f} and {:.3f}", claim.text, *left, *right);
}

}  // namespace capstan::golden
