#include "serve/variations.h"

#include <gtest/gtest.h>

#include <fstream>

#include "serve/testing.h"

namespace capstan::serve {
namespace {

/// Opens a scenario. The command of a result is "capstan" with its assignments.
std::expected<Variations, manifest::Errors> open(const char* text) {
  const std::string path = testing::TempDir() + "variations_test.yaml";
  std::ofstream(path) << text;
  return Variations::open(path, {}, [](const std::vector<std::string>& sets) {
    std::string words = "capstan";
    for (const std::string& set : sets) words += " " + set;
    return words;
  });
}

TEST(Variations, SimulatesTheScenarioAndItsChanges) {
  const auto variations = open(kSmallScenario);
  ASSERT_TRUE(variations) << variations.error().text();
  EXPECT_EQ(variations->limits().max_replicas, 8);
  const net::Clock clock = net::machine_clock();
  const Result<std::string> stated = variations->simulate({});
  ASSERT_TRUE(stated);
  EXPECT_NE(stated->find(R"("command":"capstan")"), stated->npos);
  EXPECT_EQ(variations->simulate(WhatIf{}, {}, clock), *stated);
  const Result<std::string> changed = variations->simulate({.load_factor = 2}, {}, clock);
  ASSERT_TRUE(changed);
  EXPECT_NE(changed->find(R"("command":"capstan load.scale=3")"), changed->npos);
  EXPECT_NE(changed->substr(0, changed->find("command")), stated->substr(0, stated->find("command")));
}

TEST(Variations, EndAtTheirLimitsAndWhenTheyAreStopped) {
  const auto variations = open(kSmallScenario);
  ASSERT_TRUE(variations);
  Instant now{};
  const net::Clock clock = [&] { return now; };
  const Result<std::string> many = variations->simulate({}, {}, clock, {.requests = 10});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().text(), "the simulation was stopped at its limit of 60 s or 10 requests");
  const net::Clock late = [now]() mutable { return now = now + std::chrono::minutes(1); };
  const Result<std::string> long_run = variations->simulate({}, {}, late);
  ASSERT_FALSE(long_run);
  EXPECT_EQ(long_run.error().text(), "the simulation was stopped at its limit of 60 s or 20,000,000 requests");
  std::stop_source stop;
  stop.request_stop();
  const Result<std::string> stopped = variations->simulate({}, stop.get_token(), clock);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().text(), "the simulation was stopped");
}

TEST(Variations, AChangeThatTheScenarioRefusesIsAnError) {
  const auto variations = open(kSmallScenario);
  ASSERT_TRUE(variations);
  const Result<std::string> refused = variations->simulate({.price_factor = 1'000'000}, {}, net::machine_clock());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("usd_per_hour"), std::string::npos) << refused.error().text();
  EXPECT_FALSE(open("name: x"));
}

}  // namespace
}  // namespace capstan::serve
