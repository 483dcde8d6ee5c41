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

TEST(LowerDecisions, AsJson) {
  RunHistory history;
  history.decisions = {row(1, 4, "gang 1 waits", "- rack-1: rejected"), row(2, 8, "give back node 3: empty")};
  history.decisions[1].user.reset();
  history.decisions[1].decided.layer = LowerDecision::Layer::provision;
  EXPECT_EQ(lower_decisions_json(history).dump(),
            R"([{"at_ns":1000000000,"layer":"place","service":0,"object":"gang 1","action":"gang 1 waits",)"
            R"("arithmetic":"- rack-1: rejected"},)"
            R"({"at_ns":2000000000,"layer":"provision","service":null,"object":"gang 1",)"
            R"("action":"give back node 3: empty"}])");
  EXPECT_EQ(lower_decisions_json({}).dump(), "[]");
}

}  // namespace
}  // namespace capstan::experiment
