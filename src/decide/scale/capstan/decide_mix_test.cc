// Goal: the guarantees of the policy for several variants. Method: a constant request flow over replicas of two GPU
// kinds, divided as the router does; the arithmetic of the choice itself is tested in mix_test.cc.
#include <gtest/gtest.h>

#include <algorithm>

#include "decide/scale/scale.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr double kPromptTokens = 1000, kAnswerTokens = 200;

const engine::EngineRow& engine_of_gpu(const char* gpu) {
  return **engine::EngineTable::bundled().find("Llama-3.1-8B", gpu, 1, "bfloat16");
}

/// A mix of H100, the first variant, and A100. An A100 replica is worth about two fifths of an H100 replica.
class FluidMix {
 public:
  FluidMix(ReplicaCount h100, ReplicaCount a100) {
    first_.alternatives.emplace_back();
    const char* gpus[] = {"H100", "A100"};
    for (std::uint32_t i = 0; i < 2; ++i) {
      WorkloadView& role = role_of(i);
      role.service = {i};
      role.max = 100;
      role.slo = {.ttft = seconds(1), .tpot = std::chrono::milliseconds(50), .e2e = {}};
      role.engine = &engine_of_gpu(gpus[i]);
      role.gateway_waiting = model::Signal::measured(0, kAge);
      role.supply.further_replicas = 100;
      price(i, i == 0 ? 10 : 3);
      follow(i, i == 0 ? h100 : a100);
      for (WorkloadView::Replica& replica : role.replicas) replica.phase = model::Gang::Phase::ready;
    }
  }

  WorkloadView& role_of(std::uint32_t variant) { return variant == 0 ? first_ : first_.alternatives[0]; }
  void price(std::uint32_t variant, std::int64_t usd) { role_of(variant).supply.price_per_hour = {usd * 1'000'000}; }
  /// Withholds GPUs from replicas of this variant from now on.
  void withhold(std::uint32_t variant, bool withheld = true) { withheld_[variant] = withheld; }
  void silence(std::uint32_t variant) { silent_[variant] = true; }
  /// Makes steps of this variant take `times` as long as the table says from now on.
  void slow(std::uint32_t variant, double times) { slow_[variant] = times; }

  ReplicaCount ready(std::uint32_t variant) {
    return std::ranges::count(role_of(variant).replicas, model::Gang::Phase::ready, &WorkloadView::Replica::phase);
  }

  Decision pass(double requests_per_s, Memory& memory) {
    now_ = now_ + kScrape;
    for (std::uint32_t i = 0; i < 2; ++i) start(i);
    double weights = 0;
    for (std::uint32_t i = 0; i < 2; ++i) weights += static_cast<double>(ready(i)) * kWeights[i];
    for (std::uint32_t i = 0; i < 2; ++i) scrape(i, requests_per_s * kWeights[i] / std::max(weights, 1.0));
    Decision last;
    for (int i = 0; i < 3; ++i) {
      last = decide(first_, Capstan{}, memory, now_ + i * seconds(5) + seconds(1));
      for (const model::Action& action : last.plan.actions) {
        const auto& set = std::get<model::SetReplicas>(action.effect);
        follow(set.service.value, set.replicas);
      }
    }
    return last;
  }
  Decision pass(int times, double requests_per_s, Memory& memory) {
    Decision last;
    for (int i = 0; i < times; ++i) last = pass(requests_per_s, memory);
    return last;
  }

 private:
  static constexpr Duration kScrape = seconds(15);
  static constexpr Duration kAge = seconds(1);
  static constexpr Duration kLead = seconds(60);
  static constexpr double kWeights[] = {5, 2};
  static constexpr double kTokenS[] = {0.011, 0.02};

  void follow(std::uint32_t variant, ReplicaCount replicas) {
    WorkloadView& role = role_of(variant);
    role.current = replicas;
    while (static_cast<ReplicaCount>(role.replicas.size()) > replicas) role.replicas.pop_back();
    while (static_cast<ReplicaCount>(role.replicas.size()) < replicas) {
      WorkloadView::Replica replica;
      replica.id = {next_++};
      replica.created_at = now_;
      role.replicas.push_back(replica);
    }
  }

  void start(std::uint32_t variant) {
    for (WorkloadView::Replica& replica : role_of(variant).replicas) {
      if (replica.phase == model::Gang::Phase::pending && !withheld_[variant]) {
        replica.phase = model::Gang::Phase::starting;
        replica.expected_ready_at = now_ + kLead;
      }
      if (replica.phase == model::Gang::Phase::starting && replica.expected_ready_at <= now_) {
        replica.phase = model::Gang::Phase::ready;
      }
    }
  }

  void scrape(std::uint32_t variant, double share) {
    for (WorkloadView::Replica& replica : role_of(variant).replicas) {
      if (replica.phase != model::Gang::Phase::ready) continue;
      model::ReplicaSignals& s = replica.signals;
      const auto grown = [&](const model::Signal& counter, double tokens) {
        return model::Signal::measured(counter.value + static_cast<std::int64_t>(share * tokens * in_seconds(kScrape)),
                                       kAge);
      };
      s.prompt_tokens_total = grown(s.prompt_tokens_total, kPromptTokens);
      s.generated_tokens_total = grown(s.generated_tokens_total, kAnswerTokens);
      const double running = share * kAnswerTokens * kTokenS[variant] * slow_[variant];
      s.running = model::Signal::measured(static_cast<std::int64_t>(running + 0.5), kAge);
      s.waiting = model::Signal::measured(0, kAge);
      s.kv_usage_ppm = model::Signal::measured(std::min<std::int64_t>(s.running.value * 3000, 1'000'000), kAge);
      s.ttft_p99_us = model::Signal::measured(100'000, kAge);
      if (silent_[variant]) s.waiting.state = s.running.state = model::Signal::State::missing;
    }
  }

  WorkloadView first_;
  Instant now_{};
  bool withheld_[2] = {false, false};
  bool silent_[2] = {false, false};
  double slow_[2] = {1, 1};
  std::uint32_t next_ = 0;
};

constexpr double kSteadyLoad = 74;  // requests/s: about four H100

TEST(DecideMix, TheWorthOfAVariantIsItsCapacityRelativeToTheFirst) {
  FluidMix mix(5, 2);
  Memory memory;
  const Decision decision = mix.pass(8, kSteadyLoad, memory);
  ASSERT_TRUE(decision.sizing && decision.sizing->mix);
  const std::vector<VariantSizing>& variants = decision.sizing->mix->variants;
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0].worth_milli, 1000);
  EXPECT_GT(variants[1].worth_milli, 200);
  EXPECT_LT(variants[1].worth_milli, 700);
  EXPECT_LT(variants[1].batch, variants[0].batch);
  EXPECT_EQ(decision.service, model::ServiceId{0});
  ASSERT_EQ(decision.alternatives.size(), 1u);
  EXPECT_EQ(decision.alternatives[0].service, model::ServiceId{1});
  EXPECT_EQ(decision.alternatives[0].decided_with, model::ServiceId{0});
}

TEST(DecideMix, SwitchesToTheCheaperVariantAndStopsNothingBeforeItServes) {
  FluidMix mix(6, 0);
  Memory memory;
  double least_capacity = 1e9;
  for (int i = 0; i < 160; ++i) {
    const Decision decision = mix.pass(kSteadyLoad, memory);
    const MixSizing& sizing = *decision.sizing->mix;
    const double capacity =
        static_cast<double>(mix.ready(0)) + static_cast<double>(mix.ready(1) * sizing.variants[1].worth_milli) / 1000.0;
    if (i > 4)
      least_capacity = std::min(least_capacity, capacity - static_cast<double>(decision.sizing->demand_milli) / 1000.0);
  }
  EXPECT_EQ(mix.role_of(0).current, 0);
  EXPECT_GT(mix.role_of(1).current, 6);
  EXPECT_GE(least_capacity, 0) << "the serving replicas carried the load at all times";
}

/// Returns the savings of the chosen mix within the horizon minus the cost of switching to it. This cost is the price,
/// for one lead time, of all replicas that start or stop (docs/design/capstan-policy.md). Returns no value if no
/// replica starts, or if the existing mix does not carry the load: more replicas are then needed at any cost.
std::optional<std::int64_t> gained_by_a_switch(const Sizing& sizing) {
  std::int64_t carried = 0, changes = 0;
  bool starts = false;
  for (const VariantSizing& variant : sizing.mix->variants) {
    carried += variant.current * variant.worth_milli;
    changes += std::abs(variant.chosen - variant.current) * variant.price_per_hour.count;
    starts = starts || variant.chosen > variant.current;
  }
  if (!starts || carried < sizing.mix->target_milli) return std::nullopt;
  const std::int64_t saved = sizing.mix->price - sizing.mix->chosen_price;
  return saved * (sizing.mix->horizon / sizing.lead) - changes;
}

TEST(DecideMix, NeverSwitchesForLessThanTheSwitchCosts) {
  FluidMix mix(6, 0);
  Memory memory;
  const Decision first = mix.pass(4, kSteadyLoad, memory);
  // The price at which both variants cost the same per worth, minus 1 %.
  const std::int64_t worth = first.sizing->mix->variants[1].worth_milli;
  mix.role_of(1).supply.price_per_hour = {mix.role_of(0).supply.price_per_hour.count * worth / 1000 * 99 / 100};
  Memory fresh;
  FluidMix again(6, 0);
  again.role_of(1).supply.price_per_hour = mix.role_of(1).supply.price_per_hour;
  int switches = 0;
  for (int i = 0; i < 200; ++i) {
    const Decision decision = again.pass(kSteadyLoad, fresh);
    const std::optional<std::int64_t> gained = gained_by_a_switch(*decision.sizing);
    switches += gained.has_value();
    EXPECT_GT(gained.value_or(1), 0) << i;
    EXPECT_LE(decision.sizing->mix->from_zero_price, decision.sizing->mix->chosen_price);
  }
  EXPECT_GT(switches, 0) << "a lower need changes the best mix";
}

TEST(DecideMix, TakesTheCheapVariantUpToItsMaximumAndTheRestFromTheOther) {
  FluidMix mix(6, 0);
  mix.role_of(1).max = 4;
  Memory memory;
  mix.pass(200, kSteadyLoad, memory);
  EXPECT_GE(mix.role_of(1).current, 2) << "four, or fewer if a further switch would cost more than it saves";
  EXPECT_GT(mix.role_of(0).current, 1);
  EXPECT_LT(mix.role_of(0).current, 6);
}

TEST(DecideMix, AVariantWithoutRoomIsNotPlanned) {
  FluidMix mix(4, 0);
  mix.role_of(1).supply.further_replicas = 0;
  Memory memory;
  const Decision decision = mix.pass(40, 2 * kSteadyLoad, memory);
  EXPECT_EQ(mix.role_of(1).current, 0);
  EXPECT_GT(mix.role_of(0).current, 6);
  EXPECT_EQ(decision.sizing->mix->variants[1].most, 0);
}

TEST(DecideMix, AVariantWithCapacityErrorsIsNotPlannedForAWhile) {
  FluidMix mix(6, 0);
  mix.withhold(1);
  Memory memory;
  for (int i = 0; i < 60 && mix.role_of(1).current == 0; ++i) mix.pass(kSteadyLoad, memory);
  EXPECT_GT(mix.role_of(1).current, 0) << "it was requested because it is cheaper";
  mix.role_of(1).supply.refused = true;
  const Decision refused = mix.pass(kSteadyLoad, memory);
  EXPECT_EQ(mix.role_of(1).current, 0);
  EXPECT_GT(refused.sizing->mix->variants[1].denied, minutes(9));
  mix.role_of(1).supply.refused = false;
  mix.pass(36, kSteadyLoad, memory);
  EXPECT_EQ(mix.role_of(1).current, 0) << "nine minutes later";
  EXPECT_GE(mix.role_of(0).current, 4);
  mix.withhold(1, false);
  mix.pass(120, kSteadyLoad, memory);
  EXPECT_GT(mix.role_of(1).current, 0) << "after the waiting time";
}

TEST(DecideMix, TheOtherVariantsCarryAMinimumWithoutGpus) {
  FluidMix mix(4, 0);
  mix.role_of(1).min = 4;
  mix.withhold(1);
  mix.role_of(1).supply.refused = true;
  Memory memory;
  const Decision decision = mix.pass(60, kSteadyLoad, memory);
  EXPECT_EQ(mix.role_of(1).current, 4) << "the minimum still holds";
  EXPECT_GE(mix.role_of(0).current * 1000, decision.sizing->mix->target_milli);
}

TEST(DecideMix, AReplicaThatWaitsTooLongForGpusCountsAsDenied) {
  FluidMix mix(4, 0);
  mix.withhold(1);
  Memory memory;
  ReplicaCount most_asked = 0;
  for (int i = 0; i < 60; ++i) {
    mix.pass(2 * kSteadyLoad, memory);
    most_asked = std::max(most_asked, mix.role_of(1).current);
    if (most_asked > 0 && mix.role_of(1).current == 0) break;
  }
  EXPECT_GT(most_asked, 0);
  EXPECT_EQ(mix.role_of(1).current, 0);
  mix.pass(6, 2 * kSteadyLoad, memory);
  EXPECT_EQ(mix.role_of(1).current, 0);
  EXPECT_GE(mix.role_of(0).current, 6);
}

TEST(DecideMix, DoesNotScaleToZeroShortlyBeforeAWindow) {
  FluidMix mix(1, 0);
  const std::vector<model::BoundsWindow> windows = {
      {*Cron::parse("0 1 * * *"), std::chrono::hours(1), 3, std::nullopt}};
  mix.role_of(0).windows = &windows;
  Memory memory;
  std::vector<ReplicaCount> seen;
  for (int i = 0; i < 4 * 60; ++i) {
    mix.pass(0, memory);
    if (seen.empty() || seen.back() != mix.role_of(0).current) seen.push_back(mix.role_of(0).current);
  }
  EXPECT_EQ(seen, (std::vector<ReplicaCount>{1, 0, 3}));
  EXPECT_EQ(mix.ready(0), 3);
}

TEST(DecideMix, ASilentReplicaPreventsScaleDownOfEveryVariant) {
  FluidMix mix(6, 6);
  Memory memory;
  mix.pass(6, kSteadyLoad, memory);
  const ReplicaCount before[] = {mix.role_of(0).current, mix.role_of(1).current};
  mix.silence(1);
  for (int i = 0; i < 200; ++i) {
    mix.pass(kSteadyLoad / 8, memory);
    EXPECT_GE(mix.role_of(0).current, before[0]);
    EXPECT_GE(mix.role_of(1).current, before[1]);
  }
}

TEST(DecideMix, DoesNotPlanAVariantOnWhichASingleRequestMissesTheSlo) {
  FluidMix mix(6, 2);
  for (std::uint32_t i = 0; i < 2; ++i) mix.role_of(i).slo.tpot = std::chrono::milliseconds(15);
  mix.slow(1, 2);
  Memory memory;
  const Decision decision = mix.pass(160, kSteadyLoad, memory);
  EXPECT_TRUE(decision.sizing->mix->variants[1].out_of_reach);
  EXPECT_EQ(decision.sizing->mix->variants[1].worth_milli, 0);
  EXPECT_EQ(mix.role_of(1).current, 0);
  EXPECT_GT(mix.role_of(0).current, 0);
}

TEST(DecideMix, CountsGpusIfAPriceIsUnknown) {
  FluidMix mix(0, 12);
  mix.price(1, 0);
  Memory memory;
  const Decision decision = mix.pass(200, kSteadyLoad, memory);
  EXPECT_FALSE(decision.sizing->mix->in_usd);
  EXPECT_EQ(mix.role_of(1).current, 0) << "one H100 does the work of more than two A100";
}

TEST(DecideMix, LearnsTheStepTimesOfEachVariant) {
  FluidMix mix(4, 4);
  mix.price(1, 4);
  mix.role_of(1).min = 4;
  mix.slow(1, 1.6);
  Memory memory;
  const Decision decision = mix.pass(100, kSteadyLoad, memory);
  const std::vector<VariantSizing>& variants = decision.sizing->mix->variants;
  EXPECT_GT(variants[1].correction_ppm, variants[0].correction_ppm * 13 / 10);
}

TEST(DecideMix, IsStableUnderASteadyLoad) {
  FluidMix mix(6, 0);
  mix.role_of(1).max = 4;
  Memory memory;
  mix.pass(240, kSteadyLoad, memory);
  const ReplicaCount settled[] = {mix.role_of(0).current, mix.role_of(1).current};
  int changes = 0;
  for (int i = 0; i < 480; ++i) changes += mix.pass(kSteadyLoad, memory).plan.actions.empty() ? 0 : 1;
  EXPECT_LE(changes, 2);
  EXPECT_LE(mix.role_of(0).current, settled[0]);
}

TEST(DecideMix, RespondsToAFivefoldStepInTheFirstDecisionAfterIt) {
  FluidMix mix(6, 0);
  mix.role_of(1).max = 4;
  Memory memory;
  const Decision before = mix.pass(160, kSteadyLoad, memory);
  const Decision after = mix.pass(5 * kSteadyLoad, memory);
  EXPECT_TRUE(after.sizing->mix->covers);
  EXPECT_GE(mix.role_of(0).current, 4 * before.sizing->demand_milli / 1000 - 4);
}

TEST(DecideMix, WakesForRequestsInTheGateway) {
  FluidMix mix(0, 0);
  Memory memory;
  EXPECT_TRUE(mix.pass(0, memory).plan.actions.empty());
  mix.role_of(0).gateway_waiting = model::Signal::measured(7, seconds(1));
  mix.pass(0, memory);
  EXPECT_EQ(mix.role_of(0).current + mix.role_of(1).current, 1);
}

TEST(DecideMix, MemoryOfAMixSurvivesSavingAndParsing) {
  FluidMix mix(4, 2);
  Memory memory;
  mix.pass(30, kSteadyLoad, memory);
  const std::string text = to_text(memory);
  EXPECT_TRUE(text.starts_with("scale-memory/12 ")) << text;
  const Result<Memory> read = parse_memory(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, memory);
  memory.capstan->alternatives.clear();
  memory.capstan->denied_until = {};
  EXPECT_TRUE(to_text(memory).starts_with("scale-memory/11 ")) << "the format for a single variant is unchanged";
  EXPECT_EQ(parse_memory(to_text(memory)).value(), memory);
}

}  // namespace
}  // namespace capstan::decide::scale
