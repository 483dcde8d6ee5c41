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

/// A regular expression that must take all of a text, as Prometheus anchors its own. Time and memory are linear in the
/// text, whatever the expression (RE2).
class Regex {
 public:
  explicit Regex(const std::string& pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  std::optional<std::string> fault() const;  ///< why the pattern is none
  bool takes(std::string_view text) const;
  /// The text with `template` in its place, where $1 and ${name} are groups; nothing where the pattern does not take
  /// it.
  std::optional<std::string> replaced(std::string_view text, std::string_view with) const;

 private:
  std::unique_ptr<re2::RE2> compiled_;
};

/// A matcher, ready to be asked. A label that is not there has an empty value.
class LabelTest {
 public:
  explicit LabelTest(const LabelMatcher& matcher);

  std::optional<std::string> fault() const { return regex_ ? regex_->fault() : std::nullopt; }
  bool holds(std::string_view value) const;
  const std::string& label() const { return label_; }

 private:
  std::string label_;
  LabelMatcher::Op op_;
  std::string value_;
  std::optional<Regex> regex_;
};

}  // namespace capstan::promql
