#include "experiment/report/lower_decisions_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace capstan::experiment {
namespace {

HistoryDecision row(int seconds, GpuCount gpus, std::string action, std::string arithmetic = {}) {
  return {{.at = {std::chrono::seconds(seconds)},
           .gpus = gpus,
           .object = "gang 1",
           .action = std::move(action),
           .arithmetic = std::move(arithmetic)},
          0};
}

TEST(LowerDecisions, TheLargestAreShownFirstAndBindingsLast) {
  std::vector<RunResult> results(3);
  results[0].history.emplace().decisions = {row(0, 8, "bind 8 pods"), row(1, 4, "gang 1 waits"), row(2, 8, "launch")};
  results[1].history.emplace().decisions = {row(1, 4, "gang 2 waits")};
  using Shown = std::vector<DecisionPositions>;
  EXPECT_EQ(shown_decisions(results), (Shown{{0, 1, 2}, {0}, {}})) << "the third run has no history";
  EXPECT_EQ(shown_decisions(results, 96), (Shown{{2}, {}, {}}));
  EXPECT_EQ(shown_decisions(results, 200), (Shown{{2}, {0}, {}}));
  EXPECT_EQ(shown_decisions(results, 310), (Shown{{1, 2}, {0}, {}}));
}

TEST(LowerDecisions, EveryRunShowsItsLargestOnes) {
  std::vector<RunResult> results(2);
  results[0].history.emplace().decisions = {row(0, 8, "launch 1"), row(1, 8, "launch 2"), row(2, 8, "launch 3")};
  results[1].history.emplace().decisions = {row(1, 1, "launch 4"), row(3, 2, "launch 5")};
  using Shown = std::vector<DecisionPositions>;
  EXPECT_EQ(shown_decisions(results, 2 * 98), (Shown{{0}, {1}}));
  EXPECT_EQ(shown_decisions(results, 4 * 98), (Shown{{0, 1}, {0, 1}}));
}

TEST(LowerDecisions, AsJson) {
  RunHistory history;
  history.decisions = {row(1, 4, "gang 1 waits", "- rack-1: rejected"), row(2, 8, "give back node 3: empty")};
  history.decisions[1].user.reset();
  history.decisions[1].decided.layer = LowerDecision::Layer::provision;
  EXPECT_EQ(lower_decisions_json(history, {0, 1}).dump(),
            R"([{"at_ns":1000000000,"layer":"place","service":0,"object":"gang 1","action":"gang 1 waits",)"
            R"("arithmetic":"- rack-1: rejected"},)"
            R"({"at_ns":2000000000,"layer":"provision","service":null,"object":"gang 1",)"
            R"("action":"give back node 3: empty"}])");
  EXPECT_EQ(lower_decisions_json(history, {}).dump(), "[]");
}

}  // namespace
}  // namespace capstan::experiment
