#include "explain/explain.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "explain/words.h"

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
  c.services.push_back(
      {.name = "chat", .slo = {}, .variants = {model::Variant{}}, .min_replicas = 1, .max_replicas = 9});
  return c;
}

decide::scale::Decision scale_up() {
  decide::scale::RoleView role;
  role.service = {0};
  role.min = 1;
  role.max = 9;
  role.current = 2;
  for (std::uint32_t i = 0; i < 2; ++i) {
    role.replicas.push_back({{i}, model::Gang::Phase::ready, {}, {}});
    role.replicas.back().signals.waiting = model::Signal::of(6);
  }
  decide::scale::Memory memory;
  return decide::scale::decide(role, decide::scale::QueueHpa{}, memory, {});
}

TEST(Explain, ScalingIsToldWithItsArithmetic) {
  EXPECT_EQ(paragraph(catalog(), scale_up()),
            "chat has 2 replicas asked for and 2 counted. 2 of 2 replicas gave requests waiting: 12 in total, 6.000 on "
            "average over a target of 4, a ratio of 1500 per mille; that asks for 3. It goes from 2 to 3: 12 requests "
            "wait; at 4 a replica that needs 3, 2 are counted.");
  EXPECT_EQ(line(catalog(), scale_up().plan.actions.at(0)),
            "scale chat to 3 replicas: 12 requests wait; at 4 a replica that needs 3, 2 are counted");
}

/// Two H100 serve, two more are asked for in an A100's place; nothing is computed here, so any numbers do.
decide::scale::Decision mixed() {
  decide::scale::Decision decision;
  decision.service = {0};
  decision.current = decision.counted = decision.desired = 2;
  decision.why = {ReasonCode::mix_holds, {2, 2'400, 8'500'000}};
  decide::scale::MixSizing& mix = decision.sizing.emplace().mix.emplace();
  mix.horizon = std::chrono::hours(1);
  mix.target_milli = 2'400;
  mix.price = mix.chosen_price = 8'500'000;
  mix.anew_price = 8'000'000;
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
  variant.more = 7;
  variant.serving = variant.current = variant.chosen = variant.begun_anew = variant.desired = 2;
  variant.most = 9;
  variant.alone = 3;
  mix.variants.push_back(variant);
  return decision;
}

TEST(Explain, AMixIsToldVariantByVariant) {
  const std::string text = paragraph(catalog(), mixed());
  EXPECT_NE(
      text.find("It stays at 2: 2 replicas of this variant: the mix is the cheapest that carries 2400 thousandths of "
                "a replica of the first one, at a price of 8500000 an hour."),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("1 variants together have to carry 2.400 replicas of the first. What is asked for costs 8.50 USD an "
                "hour, the cheapest mix that carries it 8.50 USD; were nothing there yet, 8.00 USD. What a switch "
                "costs has to be saved within 3600 s.\n- chat: a replica carries 90 sequences at 30000 us a token"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("there is room for 7 more; 0 to 9 can be chosen. Alone it would take 3, at 10.20 USD an hour. Asked "
                "for: 2; in the cheapest mix: 2; were nothing there yet: 2; decided: 2."),
      std::string::npos)
      << text;
  const auto parsed = nlohmann::json::parse(json(catalog(), mixed()));
  EXPECT_EQ(parsed["sizing"]["mix"]["variants"][0]["worth_milli"], 1'000);
  EXPECT_EQ(parsed["sizing"]["mix"]["priced_in"], "micro_usd");
  decide::scale::Decision member;
  member.service = {0};
  member.decided_with = {0};
  EXPECT_NE(paragraph(catalog(), member).find("decided together with chat"), std::string::npos);
}

TEST(Explain, WhatAStartFromZeroWouldMakeLateIsTold) {
  decide::scale::Decision decision;
  decision.service = {0};
  decision.current = decision.counted = decision.wanted = decision.held_to = decision.desired = 1;
  decision.why = {ReasonCode::minimum_warm, {475, 1, 6, 1}};
  decision.sizing.emplace().warm = decide::scale::WarmSizing{.replicas = 1,
                                                             .wakes = 1,
                                                             .requests = 1200,
                                                             .requests_late = 475,
                                                             .requests_allowed = 6,
                                                             .late_for = std::chrono::seconds(118)};
  const std::string text = paragraph(catalog(), decision);
  EXPECT_TRUE(
      text.contains("A start from zero would keep requests 118 s longer than the SLO allows: 475 of 1200 at "
                    "the one wake that is remembered, where half of what may miss is 6; 1 warm meets that."))
      << text;
  EXPECT_TRUE(
      text.contains("It stays at 1: a start from zero would make 475 requests late at 1 wake as those that are "
                    "remembered, and the SLO lets 6 miss there: 1 replica stays warm."))
      << text;
  EXPECT_EQ(nlohmann::json::parse(json(catalog(), decision))["sizing"]["warm"]["requests_late"], 475);
}

TEST(Explain, WhatTheLossOfADomainLeavesIsTold) {
  decide::scale::Decision decision;
  decision.service = {0};
  decision.current = decision.counted = decision.desired = 9;
  decision.wanted = decision.held_to = 6;
  decision.why = {ReasonCode::loss_survived, {6, 9, 3, 3}};
  decision.spread = decide::scale::SpreadSizing{
      .level = model::TopologyLevel::zone, .need = 6, .domains = 3, .fullest = 3, .placed = 9, .asked = 9};
  const std::string text = paragraph(catalog(), decision);
  EXPECT_TRUE(
      text.contains("6 hold the SLO, whichever zone is lost, of 3 that can hold some; the fullest has 3 of the 9 "
                    "that stand, so that its loss now would leave 6: 9 are asked for."))
      << text;
  EXPECT_TRUE(
      text.contains("It stays at 9: 6 replicas hold the SLO, and 9 are asked for over 3 domains, of which the "
                    "fullest has 3, so that the loss of any one leaves as many."))
      << text;
  EXPECT_FALSE(text.contains("The limits allow")) << text;
  decision.spread->asked = 11;
  decision.why = {ReasonCode::surplus_kept, {4, 4000, 300}};
  EXPECT_FALSE(paragraph(catalog(), decision).contains("The limits allow")) << "the window keeps them, no limit";
  decision.why = {ReasonCode::at_maximum, {11, 9}};
  EXPECT_TRUE(paragraph(catalog(), decision).contains("The limits allow 9."));
  decision.spread->asked = 9;
  EXPECT_EQ(nlohmann::json::parse(json(catalog(), decision))["spread"]["left"], 6);
  decision.spread->domains = 1;
  EXPECT_TRUE(
      paragraph(catalog(), decision).contains("The loss of a zone is to be survived, and only one has its GPUs"));
}

TEST(Explain, AGroupOfNodesIsToldWithItsDomainAndItsHold) {
  const model::Action action{
      model::LaunchNodes{
          .pool = {0}, .offering = {0}, .within = {1}, .count = 4, .hold = std::chrono::minutes(10), .gang = {3}},
      {ReasonCode::launch_for_gang, {4, 32}}};
  EXPECT_EQ(line(catalog(), action),
            "launch 4 x p5.48xlarge in zone-a, all inside rack-1, all or none within 600 s: 4 nodes at once for a gang "
            "that is 32 GPUs short");
}

TEST(Explain, WhatIsLeftAloneHasAReasonToo) {
  const model::Plan::Kept kept{model::Plan::Kept::Subject::node, 7, {ReasonCode::not_quiet_yet, {30, 3600}}};
  EXPECT_EQ(line(catalog(), kept), "node 7 stays as it is: pods came or went 30 s ago, the pool waits 3600 s");
}

TEST(Explain, AShortfallNamesWhatIsMissingAndWhere) {
  decide::place::Decision decision;
  decide::place::Shortfall lack;
  lack.service = {0};
  lack.ordinal = 2;
  lack.gpu = {0};
  lack.needed = whole_gpus(8);
  lack.short_by = whole_gpus(1);
  lack.best_domain = {1};
  lack.best_free = whole_gpus(7);
  decision.shortfalls.push_back(lack);
  EXPECT_EQ(paragraph(catalog(), decision),
            "0 gangs wait: 0 placed now, 0 bound already, 0 that cannot fit now, 0 that never will.\n"
            "- chat replica 2 lacks 1 of 8 H100 GPUs together; rack-1 has 7 free");
}

TEST(Explain, JsonSaysTheSame) {
  const auto parsed = nlohmann::json::parse(json(catalog(), scale_up()));
  EXPECT_EQ(parsed["desired"], 3);
  EXPECT_EQ(parsed["why"]["code"], "queue_above_target");
  EXPECT_EQ(parsed["readings"][0]["metric"], "waiting");
  EXPECT_EQ(parsed["actions"][0]["action"], "set_replicas");
  EXPECT_EQ(nlohmann::json::parse(json(catalog(), decide::place::Decision{}))["layer"], "place");
  EXPECT_EQ(nlohmann::json::parse(json(catalog(), decide::provision::Decision{}))["short_gpus"], 0);
}

TEST(Explain, PartsOfAGpuAreShownAsSuch) {
  EXPECT_EQ(gpus_text({250}), "0.25");
  EXPECT_EQ(gpus_text({8000}), "8");
}

}  // namespace
}  // namespace capstan::explain
