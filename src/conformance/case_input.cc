#include "conformance/case_input.h"

#include <algorithm>
#include <cmath>

namespace capstan::conformance {
namespace {
constexpr std::size_t kMaxShown = 80;
constexpr double kMaxSeconds = 4e9;

Duration from_seconds(double seconds) { return Duration(static_cast<std::int64_t>(std::round(seconds * 1e9))); }
}  // namespace

void CaseInput::fail(const std::string& expected) const {
  if (*problem_) return;
  std::string found = to_text(*value_);
  if (found.size() > kMaxShown) found = found.substr(0, kMaxShown) + "...";
  *problem_ = path_ + ": found " + found + ", expected " + expected;
}

CaseInput CaseInput::operator[](std::string_view key) const {
  const CaseInput member = find(key);
  const Value::Object* members = value_->object();
  const bool exists = members != nullptr && std::ranges::find(*members, key, &Member::key) != members->end();
  if (!exists && !*problem_) *problem_ = path_ + ": found no \"" + std::string(key) + "\", expected one";
  return member;
}

CaseInput CaseInput::find(std::string_view key) const {
  return {(*value_)[key], path_ + "." + std::string(key), *problem_};
}

std::int64_t CaseInput::integer(std::int64_t least, std::int64_t most) const {
  std::optional<std::int64_t> value;
  if (value_->integer() != nullptr) value = *value_->integer();
  // "8.0" counts as an integer.
  if (const double* real = value_->real(); real != nullptr && std::abs(*real) <= kMax && std::floor(*real) == *real) {
    value = static_cast<std::int64_t>(*real);
  }
  if (value && least <= *value && *value <= most) return *value;
  fail("an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return std::clamp<std::int64_t>(0, least, most);
}

double CaseInput::number(double least, double most) const {
  std::optional<double> value;
  if (value_->integer() != nullptr) value = static_cast<double>(*value_->integer());
  if (value_->real() != nullptr) value = *value_->real();
  if (value && least <= *value && *value <= most) return *value;
  fail("a number from " + to_text(Value(least)) + " to " + to_text(Value(most)));
  return std::clamp(0.0, least, most);
}

bool CaseInput::boolean() const {
  if (value_->boolean() != nullptr) return *value_->boolean();
  fail("true or false");
  return false;
}

const std::string& CaseInput::text() const {
  static const std::string nothing;
  if (value_->text() != nullptr) return *value_->text();
  fail("a string");
  return nothing;
}

Duration CaseInput::seconds() const { return from_seconds(std::clamp(number(), -kMaxSeconds, kMaxSeconds)); }
Duration CaseInput::seconds(double least, double most) const { return from_seconds(number(least, most)); }

std::vector<CaseInput> CaseInput::list() const {
  std::vector<CaseInput> items;
  if (value_->array() == nullptr) {
    fail("a list");
    return items;
  }
  for (const Value& item : *value_->array()) {
    items.emplace_back(item, path_ + "[" + std::to_string(items.size()) + "]", *problem_);
  }
  return items;
}

std::vector<std::pair<std::string, CaseInput>> CaseInput::members() const {
  std::vector<std::pair<std::string, CaseInput>> members;
  if (value_->object() == nullptr) {
    fail("an object");
    return members;
  }
  for (const Member& member : *value_->object()) {
    members.emplace_back(member.key, CaseInput(member.value, path_ + "." + member.key, *problem_));
  }
  return members;
}

std::optional<std::int64_t> CaseInput::integer_or_null() const {
  return is_null() ? std::nullopt : std::optional(integer());
}
std::optional<double> CaseInput::number_or_null() const { return is_null() ? std::nullopt : std::optional(number()); }
std::optional<Duration> CaseInput::seconds_or_null() const {
  return is_null() ? std::nullopt : std::optional(seconds());
}

}  // namespace capstan::conformance
