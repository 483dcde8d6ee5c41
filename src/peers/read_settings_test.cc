#include "peers/read_settings.h"

#include <gtest/gtest.h>

#include "peers/aibrix.h"
#include "peers/dynamo.h"
#include "peers/knative.h"
#include "peers/ray_serve.h"
#include "peers/scaled_by_requests.h"
#include "peers/sight_fixture.h"
#include "peers/wva.h"

namespace capstan::peers {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Autoscaler> make(const std::string& text) {
  manifest::Verdict verdict;
  const Result<manifest::Node> node = manifest::parse(text, "s.yaml");
  const Choice choice = read_settings(*node, verdict);
  EXPECT_TRUE(verdict.ok()) << verdict.error->text();
  return choice.make();
}

std::string refusal(const std::string& text) {
  manifest::Verdict verdict;
  const Result<manifest::Node> node = manifest::parse(text, "s.yaml");
  read_settings(*node, verdict);
  return verdict.error ? verdict.error->text() : "";
}

/// Looks until a moment; what it wishes is asked for at once, and never comes. The last wish.
Wish look_until(Autoscaler& peer, SightFixture& at, Duration from, Duration until) {
  Wish wish;
  for (Duration now = from; now <= until; now += peer.period()) {
    wish = peer.look(at.sight(), Instant{now});
    at.role.current = wish.replicas;
  }
  return wish;
}

TEST(PeerSettings, EveryPeerHasDefaultsAndRefusesWhatItDoesNotKnow) {
  for (const std::string_view name : names()) {
    const std::string policy = "policy: " + std::string(name);
    EXPECT_NE(make("{" + policy + "}"), nullptr) << name;
    EXPECT_NE(refusal("{" + policy + ", nonsense: 1}").find("nonsense"), std::string::npos) << name;
  }
}

TEST(PeerSettings, FitsOfLibrariesAreRefusedWithTheReason) {
  EXPECT_EQ(refusal("{policy: dynamo_planner, load_predictor: arima}"),
            "s.yaml:1:42: scale.load_predictor: arima is a library's own fit (pmdarima, prophet) that is not "
            "re-implemented, expected constant or kalman");
  EXPECT_NE(refusal("{policy: dynamo_planner, load_predictor: prophet}"), "");
  EXPECT_NE(refusal("{policy: aibrix_apa, targetMetric: nothing}").find("no engine exports"), std::string::npos);
}

TEST(Knative, RequestsOverTheTargetDecide) {
  const auto knative = make("{policy: knative_kpa, target: 10, target-utilization-percentage: 100}");
  SightFixture at;
  at.serve(1, 35);
  EXPECT_EQ(look_until(*knative, at, 0s, 60s).replicas, 4);
  at.serve(4, 0);
  EXPECT_EQ(look_until(*knative, at, 61s, 90s).replicas, 4) << "in panic nothing is lowered";
  EXPECT_EQ(look_until(*knative, at, 91s, 240s).replicas, 2) << "half of those that are ready, at most";
}

TEST(Knative, TheGatewaysQueueWakesIt) {
  const auto knative = make("{policy: knative_kpa, target: 10}");
  SightFixture at;
  at.serve(0, 0);
  EXPECT_EQ(look_until(*knative, at, 0s, 40s).replicas, 0);
  at.gateway_waiting = 12;
  EXPECT_GE(look_until(*knative, at, 41s, 44s).replicas, 1);
}

TEST(RayServe, ActsOnceADelayHasPassed) {
  const auto ray = make("{policy: ray_serve, target_ongoing_requests: 10, max_replicas: 8}");
  SightFixture at;
  at.serve(2, 20);
  EXPECT_EQ(look_until(*ray, at, 0s, 20s).replicas, 2);
  EXPECT_EQ(look_until(*ray, at, 20s, 31s).replicas, 4);
  at.serve(4, 100);
  EXPECT_EQ(look_until(*ray, at, 32s, 120s).replicas, 8);
}

TEST(Aibrix, FollowsTheMeanAndFallsToItsLowestAnswer) {
  const auto apa = make("{policy: aibrix_apa, targetMetric: num_requests_running, targetValue: 10}");
  SightFixture at;
  at.serve(2, 0);
  at.scrape("vllm:num_requests_running", 15, {});
  EXPECT_EQ(apa->look(at.sight(), Instant{1s}).replicas, 3);
  at.serve(4, 0);
  at.scrape("vllm:num_requests_running", 1, Instant{400s});
  EXPECT_EQ(apa->look(at.sight(), Instant{401s}).replicas, 2) << "half at most in one decision";
}

TEST(Aibrix, WhatCannotBeFetchedIsZero) {
  const auto apa = make("{policy: aibrix_apa, targetMetric: num_requests_running, targetValue: 10}");
  SightFixture at;
  at.serve(4, 50);
  EXPECT_EQ(apa->look(at.sight(), Instant{1s}).replicas, 2);
  ASSERT_EQ(apa->warnings().size(), 1u);
  EXPECT_NE(apa->warnings()[0].find("never found"), std::string::npos);
}

TEST(Wva, AddsOneWhereAllAreSaturatedFourMinutesLater) {
  const auto wva = make("{policy: wva_v1}");
  SightFixture at;
  at.serve(2, 10, 8);
  for (int s = 0; s <= 300; s += 15) {
    at.scrape("vllm:kv_cache_usage_perc", 0.95, Instant{std::chrono::seconds(s)});
    at.scrape("vllm:num_requests_waiting", 8, Instant{std::chrono::seconds(s)});
  }
  EXPECT_EQ(look_until(*wva, at, 0s, 225s).replicas, 2) << "the chart's window of 240 s";
  EXPECT_EQ(look_until(*wva, at, 240s, 270s).replicas, 3);
}

TEST(Dynamo, OneFullEngineAddsOneAndNothingMovesWhileItStarts) {
  const auto planner = make("{policy: dynamo_planner, max_gpu_budget: 16}");
  SightFixture at;
  at.serve(2, 10);
  promql::Labels info;
  for (const auto& replica : at.role.replicas) {
    info = {{"__name__", "vllm:cache_config_info"},
            {"block_size", "16"},
            {"num_gpu_blocks", "1000"},
            {"pod", pod_name(replica.id)}};
    at.series.append(info, {series_ms({}), 1});
  }
  at.scrape("vllm:kv_cache_usage_perc", 0.9, {});
  at.scrape("vllm:num_requests_waiting", 4, {});
  at.scrape("vllm:time_to_first_token_seconds_count", 10, {});
  at.scrape("vllm:prompt_tokens_total", 10'000, {});
  EXPECT_EQ(planner->look(at.sight(), {}).replicas, 3) << "0.9 of the cache and 4,000 tokens of 16,000 that wait";
  at.role.current = 3;
  EXPECT_EQ(planner->look(at.sight(), Instant{5s}).why, "scaling is in progress");
}

TEST(Peers, CountWhatIsInFlight) {
  SightFixture at;
  at.serve(3, 4, 1);
  at.gateway_waiting = 7;
  EXPECT_EQ(requests_in_flight(at.sight()), 22);
  at.serve(0, 0);
  at.gateway_waiting.reset();
  EXPECT_EQ(requests_in_flight(at.sight()), std::nullopt);
  EXPECT_EQ(bounded(5, 1, 0), 5);
  EXPECT_EQ(bounded(5, 1, 3), 3);
}

}  // namespace
}  // namespace capstan::peers
