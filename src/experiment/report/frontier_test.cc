#include "experiment/report/frontier.h"

#include <gtest/gtest.h>

#include "scenario/sweep.h"

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

RunResult row(const std::string& name, RequestCount met, std::int64_t usd, std::string swept_from = {}) {
  RunResult result;
  result.policy = name;
  result.swept_from = std::move(swept_from);
  result.requests.arrived = 1000;
  result.requests.completed = result.requests.met = met;
  result.cost_micro_usd[0] = usd * 1'000'000;
  result.gpu_ns[0] = usd;
  result.simulated = 2h;
  return result;
}

Comparison comparison() {
  Comparison c;
  c.slo.attainment_ppm = 990'000;
  c.results = {row("a", 950, 10), row("a tuned", 992, 14, "a"), row("a costly", 995, 40, "a"), row("b", 940, 12),
               row("c", 999, 50)};
  return c;
}

TEST(Frontier, LeavesOutDominatedPolicies) {
  const Comparison c = comparison();
  std::string names;
  for (const RunResult* result : frontier(c.results, Cost::usd)) names += result->policy + ",";
  EXPECT_EQ(names, "a,a tuned,a costly,c,");
  EXPECT_EQ(frontier(c.results, Cost::gpu_hours).size(), 4u);
}

TEST(Frontier, TunedIsTheCheapestSettingThatHoldsTheSlo) {
  const Comparison c = comparison();
  EXPECT_EQ(best_of_sweep(c.results, "a", c.slo)->policy, "a tuned");
  EXPECT_EQ(best_of_sweep(c.results, "b", c.slo), nullptr);
  EXPECT_TRUE(shown(c, c.results[0]));
  EXPECT_TRUE(shown(c, c.results[1]));
  EXPECT_FALSE(shown(c, c.results[2]));
}

TEST(Frontier, TwoPoliciesDivergeWhereTheyFirstAskForDifferentNumbers) {
  RunResult a = row("a", 1, 1), b = row("b", 1, 1);
  a.scale_steps = {{Instant{0s}, 2, "start"}, {Instant{30s}, 3, "queue"}, {Instant{90s}, 5, "queue"}};
  b.scale_steps = {{Instant{0s}, 2, "start"}, {Instant{30s}, 3, "rate"}, {Instant{60s}, 4, "rate"}};
  const std::optional<Divergence> first = first_divergence(a, b);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->at, Instant{60s});
  EXPECT_EQ(first->a.desired, 3);
  EXPECT_EQ(first->b.why, "rate");
  EXPECT_FALSE(first_divergence(a, a).has_value());
  EXPECT_EQ(per_hour_milli(3, 2h), 1500);
}

TEST(Frontier, TheWordsNameEachPolicyWithItsCost) {
  const std::string words = frontier_words(comparison(), 200);
  EXPECT_NE(words.find("frontier by USD    a (95.0 % for 10.00 USD); a tuned (99.2 % for 14.00 USD)"), words.npos)
      << words;
  EXPECT_NE(words.find("tuned  a tuned: "), words.npos) << words;
}

TEST(Sweep, EveryCombinationIsAPolicyOfItsOwn) {
  const auto node = manifest::parse(
      "{name: x, scale: {policy: ray_serve, target_ongoing_requests: 2},"
      " sweep: {scale.target_ongoing_requests: [8, 16], scale.upscale_delay_s: [0, 30]}}",
      "s.yaml");
  manifest::ErrorList errors;
  const std::vector<scenario::SweptPolicy> all = scenario::expand(*node, errors);
  ASSERT_TRUE(errors.ok());
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].words, "");
  EXPECT_EQ(all[0].node.find("sweep"), nullptr);
  EXPECT_EQ(all[4].words, "target_ongoing_requests 16, upscale_delay_s 30");
  EXPECT_EQ(all[4].node.find("scale")->find("target_ongoing_requests")->text, "16");
}

TEST(Sweep, SettingsWithOneLastNameAreShownWithTheirPath) {
  const auto node = manifest::parse(
      "{name: x, scale: {prefill: {target: 1}, decode: {target: 1}},"
      " sweep: {scale.prefill.target: [2], scale.decode.target: [4]}}",
      "s.yaml");
  manifest::ErrorList errors;
  EXPECT_EQ(scenario::expand(*node, errors).back().words, "prefill.target 2, decode.target 4");
}

TEST(Sweep, ANullSweepIsOnePolicy) {
  manifest::ErrorList errors;
  const std::vector<scenario::SweptPolicy> all =
      scenario::expand(*manifest::parse("{name: x, sweep: ~}", "s.yaml"), errors);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].node.find("sweep"), nullptr) << "the reader of policies finds no sweep";
}

TEST(Sweep, AManifestIsChangedByAList) {
  const auto node =
      manifest::parse("{name: x, scale: {manifest: hpa.yaml}, sweep: {manifest.spec.maxReplicas: [4, 8]}}", "s.yaml");
  manifest::ErrorList errors;
  const std::vector<scenario::SweptPolicy> all = scenario::expand(*node, errors);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].node.find("scale")->find("set")->items.at(0).text, "spec.maxReplicas=8");
}

TEST(Sweep, OnlyListsOfScalarsAreAccepted) {
  for (const char* text : {"{sweep: 1}", "{sweep: {a: 1}}", "{sweep: {a: []}}", "{sweep: {a: [{b: 1}]}}"}) {
    manifest::ErrorList errors;
    scenario::expand(*manifest::parse(text, "s.yaml"), errors);
    EXPECT_FALSE(errors.ok()) << text;
  }
}

}  // namespace
}  // namespace capstan::experiment
