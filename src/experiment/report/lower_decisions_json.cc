#include "experiment/report/lower_decisions_json.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include <nlohmann/json.hpp>

#include "experiment/report/byte_budget.h"

namespace capstan::experiment {
namespace {

/// Bytes of a decision in JSON besides its texts.
constexpr std::size_t kRowBytes = 90;

bool binds(const LowerDecision& decided) { return decided.action.starts_with("bind "); }

}  // namespace

std::vector<DecisionPositions> shown_decisions(const std::vector<RunResult>& results, std::size_t bytes_most) {
  struct Row {
    const LowerDecision* decided = nullptr;
    std::size_t result = 0;
    std::size_t position = 0;
    std::size_t rank = 0;  ///< among the decisions of its result
  };
  std::vector<Row> rows;
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (!results[r].history) continue;
    const std::vector<HistoryDecision>& all = results[r].history->decisions;
    for (std::size_t i = 0; i < all.size(); ++i) rows.push_back({&all[i].decided, r, i});
  }
  std::ranges::sort(rows, {}, [](const Row& row) {
    return std::tuple(row.result, binds(*row.decided), -row.decided->gpus, row.decided->at, row.position);
  });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].result == rows[i - 1].result) rows[i].rank = rows[i - 1].rank + 1;
  }
  std::ranges::sort(rows, {}, [](const Row& row) { return std::tuple(binds(*row.decided), row.rank, row.result); });
  std::vector<BudgetedPart> ordered;
  for (const Row& row : rows) {
    ordered.push_back(
        {row.result, row.position, kRowBytes + row.decided->action.size() + row.decided->arithmetic.size()});
  }
  return parts_within(ordered, results.size(), bytes_most);
}

nlohmann::ordered_json lower_decisions_json(const RunHistory& history, const DecisionPositions& shown) {
  using Json = nlohmann::ordered_json;
  Json json = Json::array();
  for (const std::size_t position : shown) {
    const auto& [decided, user] = history.decisions[position];
    const bool is_place = decided.layer == LowerDecision::Layer::place;
    json.push_back({{"at_ns", decided.at.since_start.count()},
                    {"layer", is_place ? "place" : "provision"},
                    {"service", user ? Json(*user) : Json()},
                    {"object", decided.object},
                    {"action", decided.action}});
    if (!decided.arithmetic.empty()) json.back()["arithmetic"] = decided.arithmetic;
  }
  return json;
}

}  // namespace capstan::experiment
