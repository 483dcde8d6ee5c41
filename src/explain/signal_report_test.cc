#include "explain/signal_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace capstan::explain {
namespace {

TEST(SignalReport, TheReplicaWithTheLongestQueueIsDiagnosed) {
  const std::vector<PodLoad> loads = {
      {"a", {.running = 9, .waiting = 0}}, {"b", {.running = 2, .waiting = 7}}, {"c", {}}};
  EXPECT_EQ(slowest(loads)->pod, "b");
  EXPECT_EQ(slowest({}), nullptr);
}

TEST(SignalReport, APodWithoutALoadHasNoBottleneck) {
  GatheredSignals gathered;
  gathered.facts.service = "ns/chat";
  const auto json = nlohmann::json::parse(signals_json(gathered));
  EXPECT_EQ(json["service"], "ns/chat");
  EXPECT_EQ(json["bottleneck"], nullptr);
  EXPECT_FALSE(json["stages"].empty());
  EXPECT_FALSE(signals_text(gathered).contains("bottleneck"));
}

}  // namespace
}  // namespace capstan::explain
