#include "promql/regex.h"

#include <re2/re2.h>

#include <charconv>

namespace capstan::promql {
namespace {

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Reads the name after a "$" as Go's Expand does. Returns the number of bytes read, or 0 if there is no name.
std::size_t read_reference(std::string_view text, std::string_view& name) {
  const bool braces = text.starts_with('{');
  std::size_t end = braces ? 1 : 0;
  while (end < text.size() && is_name(text[end])) ++end;
  name = text.substr(braces ? 1 : 0, end - (braces ? 1 : 0));
  if (name.empty() || (braces && (end >= text.size() || text[end] != '}'))) return 0;
  return end + (braces ? 1 : 0);
}

}  // namespace

Regex::Regex(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  compiled_ = std::make_unique<RE2>("^(?:" + pattern + ")$", options);
}
Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

std::optional<std::string> Regex::fault() const {
  constexpr std::size_t kShown = 120;
  if (compiled_->ok()) return std::nullopt;
  return compiled_->error().substr(0, kShown);
}

bool Regex::matches(std::string_view text) const { return RE2::FullMatch(piece(text), *compiled_); }

std::optional<std::string> Regex::replaced(std::string_view text, std::string_view with) const {
  const int groups = compiled_->NumberOfCapturingGroups();
  std::vector<re2::StringPiece> found(static_cast<std::size_t>(groups) + 1);
  if (!compiled_->Match(piece(text), 0, text.size(), RE2::ANCHOR_BOTH, found.data(), groups + 1)) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < with.size(); ++i) {
    if (with[i] != '$') {
      out += with[i];
      continue;
    }
    if (i + 1 < with.size() && with[i + 1] == '$') {
      out += '$', ++i;
      continue;
    }
    std::string_view name;
    const std::size_t taken = read_reference(with.substr(i + 1), name);
    if (taken == 0) {
      out += '$';
      continue;
    }
    int group = -1;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), group);
    if (fault != std::errc() || end != name.data() + name.size()) {
      const auto named = compiled_->NamedCapturingGroups().find(std::string(name));
      group = named == compiled_->NamedCapturingGroups().end() ? -1 : named->second;
    }
    if (group >= 0 && group <= groups) out += std::string(found[static_cast<std::size_t>(group)]);
    i += taken;
  }
  return out;
}

LabelTest::LabelTest(const LabelMatcher& matcher) : label_(matcher.name), op_(matcher.op), value_(matcher.value) {
  if (op_ == LabelMatcher::Op::matches || op_ == LabelMatcher::Op::not_matches) regex_.emplace(value_);
}

bool LabelTest::matches(std::string_view value) const {
  switch (op_) {
    case LabelMatcher::Op::equal:
      return value == value_;
    case LabelMatcher::Op::not_equal:
      return value != value_;
    case LabelMatcher::Op::matches:
      return regex_->matches(value);
    case LabelMatcher::Op::not_matches:
      break;
  }
  return !regex_->matches(value);
}

}  // namespace capstan::promql
