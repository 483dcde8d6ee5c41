#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "conformance/value.h"

namespace capstan::conformance {

/// A number of replicas beyond any cluster. Sums and products of two such numbers fit a 64-bit integer.
inline constexpr std::int64_t kMaxReplicas = 1'000'000'000;

/// A value in a case's input, with typed and bounded reads. A failed read returns a valid default, so that a suite
/// needs no checks between reads. The first problem is recorded with its path.
class CaseInput {
 public:
  using Problem = std::optional<std::string>;  ///< "given.pods[0].phase: found 3, expected ..."
  static constexpr double kMax = 1e15;         ///< default bound of a number, so that sums stay exact

  CaseInput(const Value& value, std::string path, Problem& problem)
      : value_(&value), path_(std::move(path)), problem_(&problem) {}

  /// Returns the member of this name, which must exist; it may be null.
  CaseInput operator[](std::string_view key) const;
  /// Returns the member of this name, or null if it does not exist.
  CaseInput find(std::string_view key) const;
  bool is_null() const { return value_->is_null(); }
  std::string as_json() const { return to_text(*value_); }
  bool is_text() const { return value_->text() != nullptr; }
  explicit operator bool() const { return !is_null(); }

  std::int64_t integer(std::int64_t least = -static_cast<std::int64_t>(kMax),
                       std::int64_t most = static_cast<std::int64_t>(kMax)) const;
  double number(double least = -kMax, double most = kMax) const;
  bool boolean() const;
  const std::string& text() const;
  /// Returns a number of seconds as a duration, clamped to 126 years.
  Duration seconds() const;
  /// Returns a number of seconds as a duration. The number must be within the bounds, which are at most 126 years.
  Duration seconds(double least, double most) const;
  std::vector<CaseInput> list() const;
  std::vector<std::pair<std::string, CaseInput>> members() const;

  std::optional<std::int64_t> integer_or_null() const;
  std::optional<double> number_or_null() const;
  std::optional<Duration> seconds_or_null() const;

  /// Returns the value paired with this text in `choices`.
  template <typename Choice>
  Choice one_of(std::initializer_list<std::pair<std::string_view, Choice>> choices) const {
    std::string names;
    for (const auto& [name, choice] : choices) {
      if (value_->text() != nullptr && *value_->text() == name) return choice;
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    fail("one of " + names);
    return choices.begin()->second;
  }

  /// Records that this place holds something other than `expected`.
  void fail(const std::string& expected) const;

 private:
  const Value* value_;
  std::string path_;
  Problem* problem_;
};

}  // namespace capstan::conformance
