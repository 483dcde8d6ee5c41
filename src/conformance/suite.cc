#include "conformance/suite.h"

#include <algorithm>
#include <array>

#include "conformance/peers.h"

namespace capstan::conformance {
namespace {

constexpr std::size_t kMaxCases = 100'000;

// Tolerances that the peers' own tests allow. WVA's queueing model uses single precision.
constexpr Tolerance kHpa[] = {{"unready", 0, 0, true}, {"missing", 0, 0, true}};
constexpr Tolerance kKpa[] = {{"excess_burst_capacity", 1, 0}, {"coefficient", 1e-5, 0}};
constexpr Tolerance kWva[] = {{"prefill_ms", 0, 1e-6}, {"decode_ms", 0, 1e-6}};

constexpr std::array kSuites = {
    Suite{"hpa", answer_hpa, kHpa}, Suite{"kpa", answer_kpa, kKpa},           Suite{"keda", answer_keda, {}},
    Suite{"wva", answer_wva, kWva}, Suite{"ray_serve", answer_ray_serve, {}}, Suite{"aibrix", answer_aibrix, {}},
};

}  // namespace

const Suite* find_suite(std::string_view name) {
  const auto found = std::ranges::find(kSuites, name, &Suite::name);
  return found == kSuites.end() ? nullptr : &*found;
}

std::string suite_names() {
  std::string names;
  for (const Suite& suite : kSuites) names += (names.empty() ? "" : ", ") + std::string(suite.name);
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
