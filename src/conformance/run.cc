#include "conformance/run.h"

#include <algorithm>
#include <cmath>

namespace capstan::conformance {
namespace {

// A parsed double and a computed one may differ by a few bits.
constexpr double kRelative = 1e-9;
constexpr double kAbsolute = 1e-12;

std::optional<double> number_of(const Value& value) {
  if (value.integer() != nullptr) return static_cast<double>(*value.integer());
  if (value.real() != nullptr) return *value.real();
  return std::nullopt;
}

class Comparison {
 public:
  explicit Comparison(std::span<const Tolerance> tolerances) : tolerances_(tolerances) {}

  /// @param key  name of the field that has both values; for the items of a list, the name of the list
  void compare(const Value& expected, const Value& found, const std::string& path, std::string_view key) {
    if (const Value::Object* members = expected.object(); members != nullptr && found.object() != nullptr) {
      for (const Member& member : *members) compare_member(member, found, path);
    } else if (is_set(key) && expected.array() != nullptr && found.array() != nullptr) {
      if (sorted(*expected.array()) != sorted(*found.array())) {
        all.push_back({path, to_text(expected), to_text(found)});
      }
    } else if (const Value::Array* items = expected.array();
               items != nullptr && found.array() != nullptr && found.array()->size() == items->size()) {
      for (std::size_t i = 0; i < items->size(); ++i) {
        compare((*items)[i], (*found.array())[i], path + "[" + std::to_string(i) + "]", key);
      }
    } else if (!equal(expected, found, key)) {
      all.push_back({path, to_text(expected), to_text(found)});
    }
  }

  std::vector<Difference> all;

 private:
  void compare_member(const Member& member, const Value& found, const std::string& path) {
    const std::string inside = path.empty() ? member.key : path + "." + member.key;
    const std::string_view key = member.key;
    if (!found[key].is_null()) return compare(member.value, found[key], inside, key);
    if (key == "derived") return compare(member.value, found, inside, key);
    const bool exclusive = key.ends_with(kMoreThan), least = key.ends_with(kMin), most = key.ends_with(kMax);
    if (!exclusive && !least && !most) return compare(member.value, found[key], inside, key);
    const Value& bounded = found[key.substr(0, key.size() - (exclusive ? kMoreThan : least ? kMin : kMax).size())];
    const std::optional<double> bound = number_of(member.value), value = number_of(bounded);
    const bool holds = bound && value && (exclusive ? *value > *bound : least ? *value >= *bound : *value <= *bound);
    if (!holds) all.push_back({inside, to_text(member.value), to_text(bounded)});
  }

  bool is_set(std::string_view key) const {
    const auto stated = std::ranges::find(tolerances_, key, &Tolerance::field);
    return stated != tolerances_.end() && stated->any_order;
  }

  static std::vector<std::string> sorted(const Value::Array& items) {
    std::vector<std::string> texts;
    for (const Value& item : items) texts.push_back(to_text(item));
    std::ranges::sort(texts);
    return texts;
  }

  bool equal(const Value& expected, const Value& found, std::string_view key) const {
    if (key == "error" && !expected.is_null()) return !found.is_null();
    const bool integers = expected.integer() != nullptr && found.integer() != nullptr;
    if (integers && *expected.integer() == *found.integer()) return true;
    const std::optional<double> a = number_of(expected), b = number_of(found);
    if (a && b) {
      const auto stated = std::ranges::find(tolerances_, key, &Tolerance::field);
      const double difference = std::abs(*a - *b), size = std::max(std::abs(*a), std::abs(*b));
      if (stated != tolerances_.end()) return difference <= stated->absolute + stated->relative * size;
      return !integers && difference <= kAbsolute + kRelative * size;
    }
    return to_text(expected) == to_text(found);
  }

  static constexpr std::string_view kMoreThan = "_min_exclusive", kMin = "_min", kMax = "_max";
  std::span<const Tolerance> tolerances_;
};

Failure ask(const Suite& suite, const Case& row) {
  Failure failure{row.id, {}, {}};
  CaseInput::Problem problem;
  const Kind* kind = suite.find_kind(row.kind);
  if (kind == nullptr) {
    failure.problem = "kind: found " + (row.kind.empty() ? "none" : "\"" + row.kind + "\"") + ", expected " +
                      suite.kind_words(row.kind);
    return failure;
  }
  const Value answer = kind->answer(CaseInput(row.given, "given", problem));
  if (problem)
    failure.problem = *problem;
  else
    failure.differences = differences(row.expect, answer, suite.tolerances);
  return failure;
}

}  // namespace

std::vector<Difference> differences(const Value& expected, const Value& found, std::span<const Tolerance> tolerances) {
  Comparison comparison(tolerances);
  comparison.compare(expected, found, "", "");
  return std::move(comparison.all);
}

Report run(const Suite& suite, const std::vector<Case>& cases) {
  Report report{std::string(suite.name), 0, {}};
  for (const Case& row : cases) {
    Failure failure = ask(suite, row);
    if (failure.problem.empty() && failure.differences.empty())
      ++report.passed;
    else
      report.failed.push_back(std::move(failure));
  }
  return report;
}

std::string to_text(const Report& report) {
  std::string text;
  for (const Failure& failure : report.failed) {
    if (!failure.problem.empty()) text += failure.id + ": " + failure.problem + "\n";
    for (const Difference& difference : failure.differences) {
      text += failure.id + ": " + difference.field + ": expected " + difference.expected + ", found " +
              difference.found + "\n";
    }
  }
  return text + std::to_string(report.passed) + " passed, " + std::to_string(report.failed.size()) + " failed\n";
}

std::string to_json(const Report& report) {
  const auto difference_of = [](const Difference& difference) {
    return object({{"field", difference.field}, {"expected", difference.expected}, {"found", difference.found}});
  };
  const auto failure_of = [&](const Failure& failure) {
    return object({{"id", failure.id},
                   {"problem", failure.problem.empty() ? Value() : Value(failure.problem)},
                   {"differences", array_of(failure.differences, difference_of)}});
  };
  return to_text(object({{"format_version", 1},
                         {"suite", report.suite},
                         {"passed", report.passed},
                         {"failed", report.failed.size()},
                         {"failures", array_of(report.failed, failure_of)}})) +
         "\n";
}

}  // namespace capstan::conformance
