#include "peers/read_settings.h"

#include <gtest/gtest.h>

#include "peers/aibrix.h"
#include "peers/dynamo.h"
#include "peers/knative.h"
#include "peers/peer_fixture.h"
#include "peers/ray_serve.h"
#include "peers/scaled_by_requests.h"
#include "peers/wva.h"

namespace capstan::peers {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Autoscaler> make(const std::string& text) {
  manifest::ErrorList errors;
  const Result<manifest::Node> node = manifest::parse(text, "s.yaml");
  const Choice choice = read_settings(*node, errors);
  EXPECT_TRUE(errors.ok()) << errors.error->text();
  return choice.make();
}

std::string error_of(const std::string& text) {
  manifest::ErrorList errors;
  const Result<manifest::Node> node = manifest::parse(text, "s.yaml");
  read_settings(*node, errors);
  return errors.error ? errors.error->text() : "";
}

/// Calls the peer until `until` and returns its last answer. Each answer becomes spec.replicas at once, but no new
/// replica becomes ready.
Recommendation run_until(Autoscaler& peer, PeerFixture& at, Duration from, Duration until) {
  Recommendation answer;
  for (Duration now = from; now <= until; now += peer.period()) {
    answer = peer.recommend(at.view(), Instant{now});
    at.role.current = answer.replicas;
  }
  return answer;
}

TEST(PeerSettings, EveryPeerHasDefaultsAndRejectsUnknownSettings) {
  for (const std::string_view name : names()) {
    const std::string policy = "policy: " + std::string(name);
    EXPECT_NE(make("{" + policy + "}"), nullptr) << name;
    EXPECT_NE(error_of("{" + policy + ", nonsense: 1}").find("nonsense"), std::string::npos) << name;
  }
}

TEST(PeerSettings, LibraryPredictorsAreRejectedWithTheReason) {
  EXPECT_EQ(error_of("{policy: dynamo_planner, load_predictor: arima}"),
            "s.yaml:1:42: scale.load_predictor: arima needs a library (pmdarima or prophet) that a simulation "
            "does not have, expected constant or kalman");
  EXPECT_NE(error_of("{policy: dynamo_planner, load_predictor: prophet}"), "");
  EXPECT_NE(error_of("{policy: aibrix_apa, targetMetric: nothing}").find("that no engine exports"), std::string::npos);
}

TEST(Knative, ScalesByRequestsOverTheTarget) {
  const auto knative = make("{policy: knative_kpa, target: 10, target-utilization-percentage: 100}");
  PeerFixture at;
  at.serve(1, 35);
  EXPECT_EQ(run_until(*knative, at, 0s, 60s).replicas, 4);
  at.serve(4, 0);
  EXPECT_EQ(run_until(*knative, at, 61s, 90s).replicas, 4) << "panic does not scale down";
  EXPECT_EQ(run_until(*knative, at, 91s, 240s).replicas, 2) << "at most half of the ready pods";
}

TEST(Knative, RequestsInTheGatewayWakeIt) {
  const auto knative = make("{policy: knative_kpa, target: 10}");
  PeerFixture at;
  at.serve(0, 0);
  EXPECT_EQ(run_until(*knative, at, 0s, 40s).replicas, 0);
  at.gateway_waiting = 12;
  EXPECT_GE(run_until(*knative, at, 41s, 44s).replicas, 1);
}

TEST(RayServe, ActsAfterItsDelay) {
  const auto ray = make("{policy: ray_serve, target_ongoing_requests: 10, max_replicas: 8}");
  PeerFixture at;
  at.serve(2, 20);
  EXPECT_EQ(run_until(*ray, at, 0s, 20s).replicas, 2);
  EXPECT_EQ(run_until(*ray, at, 20s, 31s).replicas, 4);
  at.serve(4, 100);
  EXPECT_EQ(run_until(*ray, at, 32s, 120s).replicas, 8);
}

TEST(Aibrix, FollowsTheMeanAndScalesDownToTheLowestAnswer) {
  const auto apa = make("{policy: aibrix_apa, targetMetric: num_requests_running, targetValue: 10}");
  PeerFixture at;
  at.serve(2, 0);
  at.scrape("vllm:num_requests_running", 15, {});
  EXPECT_EQ(apa->recommend(at.view(), Instant{1s}).replicas, 3);
  at.serve(4, 0);
  at.scrape("vllm:num_requests_running", 1, Instant{400s});
  EXPECT_EQ(apa->recommend(at.view(), Instant{401s}).replicas, 2) << "at most half in one decision";
}

TEST(Aibrix, AFailedFetchCountsAsZero) {
  const auto apa = make("{policy: aibrix_apa, targetMetric: num_requests_running, targetValue: 10}");
  PeerFixture at;
  at.serve(4, 50);
  EXPECT_EQ(apa->recommend(at.view(), Instant{1s}).replicas, 2);
  ASSERT_EQ(apa->warnings().size(), 1u);
  EXPECT_NE(apa->warnings()[0].find("never found"), std::string::npos);
}

TEST(Wva, AddsOneAfterFourMinutesIfAllAreSaturated) {
  const auto wva = make("{policy: wva_v1}");
  PeerFixture at;
  at.serve(2, 10, 8);
  for (int s = 0; s <= 300; s += 15) {
    at.scrape("vllm:kv_cache_usage_perc", 0.95, Instant{std::chrono::seconds(s)});
    at.scrape("vllm:num_requests_waiting", 8, Instant{std::chrono::seconds(s)});
  }
  EXPECT_EQ(run_until(*wva, at, 0s, 225s).replicas, 2) << "the chart's window of 240 s";
  EXPECT_EQ(run_until(*wva, at, 240s, 270s).replicas, 3);
}

TEST(Dynamo, OneFullEngineAddsOneAndNothingChangesWhileItStarts) {
  const auto planner = make("{policy: dynamo_planner, max_gpu_budget: 16}");
  PeerFixture at;
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
  EXPECT_EQ(planner->recommend(at.view(), {}).replicas, 3) << "0.9 of the cache, and 4,000 waiting tokens of 16,000";
  at.role.current = 3;
  EXPECT_EQ(planner->recommend(at.view(), Instant{5s}).why, "scaling is in progress");
}

TEST(Peers, CountTheRequestsInFlight) {
  PeerFixture at;
  at.serve(3, 4, 1);
  at.gateway_waiting = 7;
  EXPECT_EQ(requests_in_flight(at.view()), 22);
  at.serve(0, 0);
  at.gateway_waiting.reset();
  EXPECT_EQ(requests_in_flight(at.view()), std::nullopt);
  EXPECT_EQ(bounded(5, 1, 0), 5);
  EXPECT_EQ(bounded(5, 1, 3), 3);
}

}  // namespace
}  // namespace capstan::peers
