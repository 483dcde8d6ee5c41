#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "promql/expression.h"

namespace re2 {
class RE2;
}

namespace capstan::promql {

/// A regular expression that matches whole texts only, as in Prometheus. For every expression, RE2 needs time linear in
/// the length of the text, and its memory is bounded.
class Regex {
 public:
  explicit Regex(const std::string& pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  std::optional<std::string> fault() const;  ///< reason why the pattern is invalid
  bool matches(std::string_view text) const;
  /// Expands `with`, where $1 and ${name} stand for groups of the match. Returns nothing if the text does not match.
  std::optional<std::string> replaced(std::string_view text, std::string_view with) const;

 private:
  std::unique_ptr<re2::RE2> compiled_;
};

/// A compiled label matcher. A missing label has an empty value.
class LabelTest {
 public:
  explicit LabelTest(const LabelMatcher& matcher);

  std::optional<std::string> fault() const { return regex_ ? regex_->fault() : std::nullopt; }
  bool matches(std::string_view value) const;
  const std::string& label() const { return label_; }

 private:
  std::string label_;
  LabelMatcher::Op op_;
  std::string value_;
  std::optional<Regex> regex_;
};

}  // namespace capstan::promql
