#include "conformance/suite.h"

#include <algorithm>
#include <array>

#include "base/similar_names.h"
#include "conformance/peers.h"

namespace capstan::conformance {
namespace {

constexpr std::size_t kMaxCases = 100'000;

// Tolerances that the peers' own tests allow. WVA's queueing model uses single precision.
constexpr Tolerance kHpa[] = {{"unready", 0, 0, true}, {"missing", 0, 0, true}};
constexpr Tolerance kKpa[] = {{"excess_burst_capacity", 1, 0}, {"coefficient", 1e-5, 0}};
constexpr Tolerance kWva[] = {{"prefill_ms", 0, 1e-6}, {"decode_ms", 0, 1e-6}};

std::span<const Suite> suites() {
  static const std::array kSuites = {
      Suite{"hpa", hpa_kinds(), kHpa}, Suite{"kpa", kpa_kinds(), kKpa},           Suite{"keda", keda_kinds(), {}},
      Suite{"wva", wva_kinds(), kWva}, Suite{"ray_serve", ray_serve_kinds(), {}}, Suite{"aibrix", aibrix_kinds(), {}},
  };
  return kSuites;
}

}  // namespace

const Kind* Suite::find_kind(std::string_view kind) const {
  const auto found = std::ranges::find(kinds, kind, &Kind::name);
  return found == kinds.end() ? nullptr : &*found;
}

std::string Suite::kind_words(std::string_view found) const {
  std::vector<std::string_view> names;
  std::string text;
  for (const Kind& kind : kinds) {
    names.push_back(kind.name);
    text += (text.empty() ? "one of " : ", ") + std::string(kind.name);
  }
  return text + did_you_mean_words(found, names);
}

const Suite* find_suite(std::string_view name) {
  const std::span<const Suite> all = suites();
  const auto found = std::ranges::find(all, name, &Suite::name);
  return found == all.end() ? nullptr : &*found;
}

std::string suite_names() {
  std::string names;
  for (const Suite& suite : suites()) names += (names.empty() ? "" : ", ") + std::string(suite.name);
  return names;
}

Result<std::vector<Case>> parse_cases(std::string_view text, const std::string& file) {
  const auto refuse = [&](std::string what) {
    return std::unexpected(Error{ErrorKind::input, file, 0, 0, std::move(what)});
  };
  const Result<Value> root = parse_json(text, file);
  if (!root) return std::unexpected(root.error());
  const Value::Array* rows = (*root)["cases"].array();
  if (rows == nullptr) return refuse("found no list \"cases\", expected {source, schema, cases}");
  if (rows->size() > kMaxCases) return refuse("found more than 100000 cases, expected at most 100000");
  std::vector<Case> cases;
  for (const Value& row : *rows) {
    const auto at = [&] { return "cases[" + std::to_string(cases.size()) + "]"; };
    const std::string* id = row["id"].text();
    if (id == nullptr || id->empty()) return refuse(at() + " has no string \"id\", expected one");
    const Value& kind = row["kind"];
    if (kind.text() == nullptr && !kind.is_null()) return refuse(at() + ".kind is not a string, expected one");
    for (const char* part : {"given", "expect"}) {
      if (row[part].object() == nullptr) return refuse(at() + " has no object \"" + part + "\", expected one");
    }
    cases.push_back({*id, kind.text() == nullptr ? "" : *kind.text(), row["given"], row["expect"]});
  }
  return cases;
}

}  // namespace capstan::conformance
