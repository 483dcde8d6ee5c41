#include "explain/explain.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "explain/words.h"
#include "model/reason_sentence.h"

namespace capstan::explain {
namespace {

using model::ReasonCode;

model::Catalog catalog() {
  model::Catalog c;
  c.gpu_kinds = {"H100"};
  c.domains = {{"zone-a", model::TopologyLevel::zone, {}}, {"rack-1", model::TopologyLevel::rack, {0}}};
  model::Offering offering;
  offering.instance_type = "p5.48xlarge";
  offering.gpu = {0};
  offering.zone = {0};
  c.offerings = {offering};
  c.services.push_back({.name = "chat", .slo = {}, .workload = {}, .min_replicas = 1, .max_replicas = 9});
  return c;
}

decide::scale::Decision scale_up() {
  decide::scale::WorkloadView role;
  role.service = {0};
  role.min = 1;
  role.max = 9;
  role.current = 2;
  for (std::uint32_t i = 0; i < 2; ++i) {
    role.replicas.push_back({{i}, model::Gang::Phase::ready, {}, {}});
    role.replicas.back().signals.waiting = model::Signal::measured(6);
  }
  decide::scale::Memory memory;
  return decide::scale::decide(role, decide::scale::QueueHpa{}, memory, {});
}

TEST(Explain, AScalingDecisionShowsItsArithmetic) {
  const decide::scale::Decision decision = scale_up();
  const std::string why = sentence(decision.why, catalog());
  EXPECT_EQ(
      paragraph(catalog(), decision),
      "chat: 2 replicas requested, 2 of them exist or start. 2 of 2 replicas reported the requests waiting: 12 in "
      "total, 6 on average for a target of 4, which is 150 % of the target. If only this metric decided, 3 "
      "replicas would be needed. The number changes from 2 to 3: " +
          why + ".");
  EXPECT_EQ(line(catalog(), decision.plan.actions.at(0)), "scale chat to 3 replicas: " + why);
}

/// A decision with one variant of a mix. The text computes nothing, so the numbers need not belong together.
decide::scale::Decision mixed() {
  decide::scale::Decision decision;
  decision.service = {0};
  decision.current = decision.counted = decision.desired = 2;
  decision.why = {ReasonCode::mix_holds, {2, 2'400, 8'500'000}};
  decide::scale::MixSizing& mix = decision.sizing.emplace().mix.emplace();
  mix.horizon = std::chrono::hours(1);
  mix.target_milli = 2'400;
  mix.price = mix.chosen_price = 8'500'000;
  mix.from_zero_price = 8'000'000;
  mix.covers = true;
  decide::scale::VariantSizing variant;
  variant.service = {0};
  variant.modelled = true;
  variant.batch = 90;
  variant.token_us = 30'000;
  variant.worth_milli = 1'000;
  variant.lead = std::chrono::seconds(120);
  variant.price_per_hour = {3'400'000};
  variant.gpus = 1;
  variant.further_replicas = 7;
  variant.serving = variant.current = variant.chosen = variant.from_zero = variant.desired = 2;
  variant.most = 9;
  variant.replicas_alone = 3;
  mix.variants.push_back(variant);
  return decision;
}

TEST(Explain, AMixShowsTheNumbersOfEachVariant) {
  const std::string text = paragraph(catalog(), mixed());
  EXPECT_TRUE(text.contains(
      "The demand on 1 variant is 2.4 replicas of the first variant. The replicas that are requested "
      "so far cost 8.50 USD/h, the cheapest mix that carries the demand costs 8.50 USD/h, and 8.00 USD/h if "
      "nothing ran yet. A switch must pay for itself within 1 h.\n- chat: a replica carries 90 sequences "
      "at 30 ms between tokens"))
      << text;
  EXPECT_TRUE(text.contains(
      "There is room for 7 more. The plan may choose 0 to 9. Without the other variants it would take 3 "
      "replicas for 10.20 USD/h. Requested so far: 2; cheapest mix: 2; cheapest mix if nothing ran yet: 2; "
      "decided: 2."))
      << text;
  const auto parsed = nlohmann::json::parse(json(catalog(), mixed()));
  EXPECT_EQ(parsed["sizing"]["mix"]["variants"][0]["worth_milli"], 1'000);
  EXPECT_EQ(parsed["sizing"]["mix"]["priced_in"], "micro_usd");
  decide::scale::Decision member;
  member.service = {0};
  member.decided_with = {0};
  EXPECT_NE(paragraph(catalog(), member).find("decided together with chat"), std::string::npos);
}

TEST(Explain, CountsPendingAndStartingReplicasTogether) {
  decide::scale::Decision decision;
  decision.service = {0};
  decision.current = decision.counted = decision.desired = 2;
  decision.why = {ReasonCode::nothing_to_do, {}};
  decide::scale::Sizing& sizing = decision.sizing.emplace();
  sizing.serving = sizing.starting = 1;
  const std::string text = paragraph(catalog(), decision);
  EXPECT_TRUE(text.contains("Replicas: 1 serving, 1 pending or starting, 0 without a reading.")) << text;
}

TEST(Explain, AWarmMinimumNamesTheRequestsThatAStartFromZeroWouldMakeLate) {
  decide::scale::Decision decision;
  decision.service = {0};
  decision.current = decision.counted = decision.proposed = decision.stabilized = decision.desired = 1;
  decision.why = {ReasonCode::minimum_warm, {475, 1, 6, 1}};
  decision.sizing.emplace().warm = decide::scale::WarmSizing{.replicas = 1,
                                                             .wakes = 1,
                                                             .requests = 1200,
                                                             .requests_late = 475,
                                                             .requests_allowed = 6,
                                                             .late_for = std::chrono::seconds(118)};
  const std::string text = paragraph(catalog(), decision);
  EXPECT_TRUE(text.contains(
      "A start from zero makes requests wait 1 min 58 s longer than the SLO allows. In 1 recorded burst after idle "
      "time it would "
      "make 475 of 1,200 requests late. The limit is 6 late requests, half of the misses that the SLO allows. 1 warm "
      "replica keeps this limit."))
      << text;
  EXPECT_TRUE(text.contains("The number stays at 1: " + sentence(decision.why, catalog()))) << text;
  EXPECT_EQ(nlohmann::json::parse(json(catalog(), decision))["sizing"]["warm"]["requests_late"], 475);
}

TEST(Explain, ASpreadNamesTheReplicasThatTheLossOfADomainLeaves) {
  decide::scale::Decision decision;
  decision.service = {0};
  decision.current = decision.counted = decision.desired = 9;
  decision.proposed = decision.stabilized = 6;
  decision.why = {ReasonCode::loss_survived, {6, 9, 3, 3, 3}};
  decision.spread = decide::scale::SpreadSizing{
      .level = model::TopologyLevel::zone, .need = 6, .domains = 3, .fullest = 3, .placed = 9, .required = 9};
  const std::string text = paragraph(catalog(), decision);
  EXPECT_TRUE(text.contains(
      "6 replicas must remain after the loss of any zone. 3 zones can hold replicas. The fullest has 3 of 9 replicas "
      "now, so its loss would leave 6. In total, 9 replicas are needed."))
      << text;
  EXPECT_TRUE(text.contains("The number stays at 9: " + sentence(decision.why, catalog()))) << text;
  EXPECT_FALSE(text.contains("The limits allow")) << text;
  decision.spread->required = 11;
  decision.why = {ReasonCode::surplus_kept, {4, 4000, 300}};
  EXPECT_FALSE(paragraph(catalog(), decision).contains("The limits allow"))
      << "the window keeps the surplus, not a limit";
  decision.why = {ReasonCode::at_maximum, {11, 9}};
  EXPECT_TRUE(paragraph(catalog(), decision).contains("The limits allow 9."));
  decision.spread->required = 9;
  EXPECT_EQ(nlohmann::json::parse(json(catalog(), decision))["spread"]["left"], 6);
  decision.spread->domains = 1;
  EXPECT_TRUE(
      paragraph(catalog(), decision).contains("must survive the loss of a zone, but only one zone has its GPUs"));
}

TEST(Explain, AGroupOfNodesShowsItsDomainAndItsHold) {
  const model::Action action{
      model::LaunchNodes{
          .pool = {0}, .offering = {0}, .domain = {1}, .count = 4, .hold = std::chrono::minutes(10), .gang = {3}},
      {ReasonCode::launch_for_gang, {4, 32}}};
  EXPECT_EQ(line(catalog(), action),
            "launch 4 x p5.48xlarge in zone-a, all inside rack-1, all or none within 10 min: " +
                sentence(action.why, catalog()));
}

TEST(Explain, ANodeThatDoesNotChangeHasAReason) {
  const model::Plan::NoAction kept{model::Plan::NoAction::Subject::node, 7, {ReasonCode::not_quiet_yet, {30, 3600}}};
  EXPECT_EQ(line(catalog(), kept), "node 7 does not change: " + sentence(kept.why, catalog()));
}

TEST(Explain, AShortfallNamesTheMissingGpusAndTheBestDomain) {
  decide::place::Decision decision;
  decide::place::Shortfall lack;
  lack.service = {0};
  lack.ordinal = 2;
  lack.spec.pods.gpu = {0};
  lack.needed = whole_gpus(8);
  lack.short_by = whole_gpus(1);
  lack.best_domain = {1};
  lack.best_free = whole_gpus(7);
  decision.shortfalls.push_back(lack);
  EXPECT_EQ(paragraph(catalog(), decision),
            "No gang is pending.\n- replica 2 of chat lacks 1 of 8 H100 GPUs in one domain; rack-1 has 7 free");
}

TEST(Explain, AJobHasNoServiceAndIsNamedByItsGang) {
  decide::place::Decision decision;
  decide::place::Shortfall lack;
  lack.gang = {8};
  lack.ordinal = 6;
  lack.spec.pods.gpu = {0};
  lack.needed = whole_gpus(1);
  lack.short_by = whole_gpus(1);
  lack.best_domain = {1};
  decision.shortfalls.push_back(lack);
  EXPECT_EQ(paragraph(catalog(), decision),
            "No gang is pending.\n- gang 8 lacks 1 of 1 H100 GPUs in one domain; rack-1 has 0 free");
  model::Names names;
  names.gangs.set({8}, "eval 6");
  EXPECT_EQ(paragraph(catalog(), decision, &names),
            "No gang is pending.\n- eval 6 lacks 1 of 1 H100 GPUs in one domain; rack-1 has 0 free");
  EXPECT_TRUE(nlohmann::json::parse(json(catalog(), decision))["shortfalls"][0]["service"].is_null());
  const model::Action bind{model::BindPods{.gang = {8}, .bindings = {{{1}, {2}}}}, {ReasonCode::nothing_to_do, {}}};
  EXPECT_TRUE(line(catalog(), bind).starts_with("bind 1 pod of gang 8: "));
  EXPECT_TRUE(line(catalog(), bind, &names).starts_with("bind 1 pod of eval 6: "));
}

TEST(Explain, JsonHasTheNumbersOfTheText) {
  const auto parsed = nlohmann::json::parse(json(catalog(), scale_up()));
  EXPECT_EQ(parsed["desired"], 3);
  EXPECT_EQ(parsed["why"]["code"], "queue_above_target");
  EXPECT_EQ(parsed["readings"][0]["metric"], "waiting");
  EXPECT_EQ(parsed["actions"][0]["action"], "set_replicas");
  EXPECT_EQ(nlohmann::json::parse(json(catalog(), decide::place::Decision{}))["layer"], "place");
  EXPECT_EQ(nlohmann::json::parse(json(catalog(), decide::provision::Decision{}))["short_gpus"], 0);
}

TEST(Explain, EveryMetricIsShownInTheUnitThatPeopleUse) {
  using Kind = decide::scale::MetricReading::Kind;
  struct Row {
    Kind kind;
    std::int64_t mean_milli, target;
    const char* text;
  };
  const Row rows[] = {
      {Kind::duty_cycle, 85'400, 60, "the GPU duty cycle: 85.4 % on average for a target of 60 %"},
      {Kind::memory, 90'000, 80, "GPU memory in use: 90 % on average for a target of 80 %"},
      {Kind::waiting, 3'421, 4, "the requests waiting: 7 in total, 3.4 on average for a target of 4"},
      {Kind::kv, 850'000'000, 900'000, "KV memory in use: 85 % on average for a target of 90 %"},
      {Kind::ttft, 1'250'000'000, 2'000'000, "the time to the first token: 1.25 s on average for a target of 2 s"},
      {Kind::tpot, 12'400'000, 30'000, "the time between tokens: 12.4 ms on average for a target of 30 ms"},
      {Kind::goodput, 995'000'000, 990'000, "hold the SLO: 99.5 % on average for a target of 99 %"},
  };
  for (const Row& row : rows) {
    decide::scale::Decision decision;
    decision.service = {0};
    decision.readings.push_back(
        {.kind = row.kind, .valid = true, .total = 7, .mean_milli = row.mean_milli, .target = row.target, .read = 2});
    const std::string text = paragraph(catalog(), decision);
    EXPECT_TRUE(text.contains(row.text)) << text;
  }
}

TEST(Explain, NumbersAreShownAsPeopleReadThem) {
  EXPECT_EQ(gpus_text({250}), "0.25");
  EXPECT_EQ(gpus_text({8000}), "8");
  EXPECT_EQ(decimal_text(3421), "3.4");
  EXPECT_EQ(decimal_text(3000), "3");
  EXPECT_EQ(decimal_text(41), "0.04");
  EXPECT_EQ(decimal_text(0), "0");
  EXPECT_EQ(decimal_text(-1500), "-1.5");
  EXPECT_EQ(decimal_text(123'456), "123.5");
  EXPECT_EQ(percent_text(850'000), "85 %");
  EXPECT_EQ(percent_text(5'000), "0.5 %");
  EXPECT_EQ(percent_text(20), "0.002 %");
  EXPECT_EQ(price_text({2'400'000}), "2.40 USD/h");
  EXPECT_EQ(price_text({9'999}), "0.01 USD/h");
  EXPECT_EQ(time_text({}), "0 s");
  EXPECT_EQ(time_text(std::chrono::microseconds(12'400)), "12.4 ms");
  EXPECT_EQ(time_text(std::chrono::milliseconds(3'421)), "3.42 s");
  EXPECT_EQ(time_text(std::chrono::milliseconds(59'900)), "59.9 s");
  EXPECT_EQ(time_text(std::chrono::seconds(129)), "2 min 9 s");
  EXPECT_EQ(time_text(std::chrono::hours(1)), "1 h");
  EXPECT_EQ(time_text(std::chrono::minutes(90)), "1 h 30 min");
  EXPECT_EQ(time_text(std::chrono::hours(49)), "2 d 1 h");
  EXPECT_EQ(time_text(-std::chrono::seconds(61)), "-1 min 1 s");
  EXPECT_EQ(count_text(1, "pod", "pods"), "1 pod");
}

}  // namespace
}  // namespace capstan::explain
