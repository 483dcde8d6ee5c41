#include "plan/sections/signal_choice.h"

#include "plan/sections/test_services.h"

namespace capstan::plan {
namespace {

using testing::chat_sample;
using testing::PlanSample;

struct KindRow {
  std::string name;
  model::Role role;
  double prefill_share;
  WorkKind kind;
};

TEST(SignalChoice, FollowsFromWhatLimitsAReplica) {
  const KindRow rows[] = {
      {"long prompts and short answers", model::Role::both, 0.7, WorkKind::prefill_bound},
      {"short prompts and long answers", model::Role::both, 0.1, WorkKind::decode_bound},
      {"both", model::Role::both, 0.45, WorkKind::mixed},
      {"prefill replicas", model::Role::prefill, 0, WorkKind::prefill_bound},
      {"decode replicas", model::Role::decode, 0, WorkKind::decode_bound},
  };
  for (const KindRow& row : rows) {
    PlanSample sample = chat_sample();
    RoleFleet& role = sample.services.front().roles.front();
    role.role = row.role;
    role.prefill_share = row.prefill_share;
    const SignalChoice choice = choose_signal(sample.spec.services.front(), sample.services.front(), role);
    EXPECT_EQ(choice.kind, row.kind) << row.name;
    EXPECT_FALSE(choice.kind_why.empty());
  }
}

TEST(SignalChoice, LeavesRoomForRandomArrivalsAndTheToleranceOfTheHpa) {
  PlanSample sample = chat_sample();
  RoleFleet& role = sample.services.front().roles.front();
  role.batch = 44;
  role.kv_share_at_batch = 0.55;
  role.minimum = 64;  // carries every burst
  const SignalChoice choice = choose_signal(sample.spec.services.front(), sample.services.front(), role);
  EXPECT_EQ(choice.growth, 1);
  EXPECT_EQ(choice.in_flight, 33);   // (44 - sqrt(44)) / 1.1
  EXPECT_EQ(choice.kv_percent, 42);  // 55 % x (44 - sqrt(44)) / 44 / 1.1
}

TEST(SignalChoice, LeavesRoomForABurstThatTheMinimumDoesNotCarry) {
  PlanSample sample = chat_sample();
  RoleFleet& role = sample.services.front().roles.front();
  role.batch = 44;
  role.minimum = 1;
  sample.spec.services.front().load.requests_per_s = 200;
  sample.spec.services.front().load.burst_factor = 1.25;
  const SignalChoice choice = choose_signal(sample.spec.services.front(), sample.services.front(), role);
  EXPECT_DOUBLE_EQ(choice.growth, 1.25);
  EXPECT_EQ(choice.in_flight, 27);  // (44 - sqrt(44)) / 1.25 / 1.1
}

TEST(SignalChoice, WaitsForAsManyPromptsAsFitIntoHalfOfTheTtftBound) {
  PlanSample sample = chat_sample();
  const ServiceSpec& service = sample.spec.services.front();
  const RoleFleet& role = sample.services.front().roles.front();
  const ReplicaCapacity capacity = replica_capacity(service, role, mean_request(service, {}));
  const SignalChoice choice = choose_signal(service, sample.services.front(), role);
  EXPECT_EQ(choice.waiting,
            std::clamp<std::int64_t>(static_cast<std::int64_t>(1.0 / capacity.prompt_s), 2, choice.in_flight));
  EXPECT_FALSE(choice.is_waiting_assumed);
}

TEST(SignalChoice, SaysThatTheQueueIsAssumedWithoutABoundOnTheFirstToken) {
  PlanSample sample = chat_sample();
  sample.spec.services.front().slo.ttft = {};
  const SignalChoice choice =
      choose_signal(sample.spec.services.front(), sample.services.front(), sample.services.front().roles.front());
  EXPECT_TRUE(choice.is_waiting_assumed);
  EXPECT_EQ(choice.waiting, 4);
}

TEST(MeanRequest, IsThatOfTheSimulationsIfThereAreAny) {
  const ServiceSpec service = testing::chat_service();
  const MeanRequest stated = mean_request(service, {});
  EXPECT_NEAR(stated.prompt, 1377, 1);  // 1000 x exp(0.8^2 / 2)
  EXPECT_NEAR(stated.answer, 239, 1);
  EXPECT_FALSE(stated.is_simulated);
  ServicePlan fleet;
  fleet.seeds.push_back({.requests = 10, .answer_tokens = 2000, .prompt_tokens = 5000});
  const MeanRequest simulated = mean_request(service, fleet);
  EXPECT_EQ(simulated.prompt, 500);
  EXPECT_EQ(simulated.answer, 200);
  EXPECT_TRUE(simulated.is_simulated);
}

}  // namespace
}  // namespace capstan::plan
