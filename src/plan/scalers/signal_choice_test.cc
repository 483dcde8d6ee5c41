#include "plan/scalers/signal_choice.h"

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
    EXPECT_FALSE(choice.kind_reason.empty());
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

TEST(SignalChoice, TakesTheSignalThatTheSpecAsksFor) {
  PlanSample sample = chat_sample();
  const ServiceSpec& service = sample.spec.services.front();
  ServicePlan& fleet = sample.services.front();
  RoleFleet& role = fleet.roles.front();
  role.prefill_share = 0.7;  // prefill-bound: the plan takes the queue
  const SignalChoice own = choose_signal(service, fleet, role);
  EXPECT_EQ(own.asked_reason, "");
  const SignalChoice kv = choose_signal(service, fleet, role, "vllm:kv_cache_usage_perc");
  EXPECT_EQ(kv.kind, WorkKind::prefill_bound);
  EXPECT_EQ(kv.signal, WorkKind::decode_bound);
  EXPECT_TRUE(kv.uses_kv());
  EXPECT_FALSE(kv.uses_waiting());
  EXPECT_EQ(kv.asked_reason, "asked.scale_on: vllm:kv_cache_usage_perc; the plan would take queue depth");
  EXPECT_EQ(choose_signal(service, fleet, role, "queue").asked_reason,
            "asked.scale_on: queue; the plan would take the same");
  EXPECT_EQ(choose_signal(service, fleet, role, "latency").signal, WorkKind::prefill_bound);
  const SignalChoice goodput = choose_signal(service, fleet, role, "goodput");
  EXPECT_EQ(goodput.signal, WorkKind::mixed);
  EXPECT_TRUE(goodput.uses_goodput() && goodput.uses_waiting());
  EXPECT_FALSE(goodput.uses_kv()) << "it differs from KV pressure";
}

TEST(SignalChoice, NamesTheThresholdThatIsReachedFirst) {
  PlanSample sample = chat_sample();
  RoleFleet& role = sample.services.front().roles.front();
  role.batch = 40;
  role.kv_share_at_batch = 0.95;  // the cap of the KV target is reached at 27 sequences
  role.minimum = 64;
  const SignalChoice choice = choose_signal(sample.spec.services.front(), sample.services.front(), role, "kv");
  EXPECT_EQ(choice.kv_percent, 65);
  EXPECT_EQ(choice.first_threshold, "KV memory");
  role.kv_share_at_batch = 0;
  EXPECT_EQ(choose_signal(sample.spec.services.front(), sample.services.front(), role).first_threshold, "in flight");
}

TEST(SignalChoice, GoodputIsWhatAReplicaDeliversWithinTheSlo) {
  PlanSample sample = chat_sample();
  ServiceSpec& service = sample.spec.services.front();
  RoleFleet& role = sample.services.front().roles.front();
  role.minimum = 64;  // carries every burst
  const MeanRequest request = mean_request(service, {});
  const ReplicaCapacity capacity = replica_capacity(service, role, request);
  const SignalChoice choice = choose_signal(service, sample.services.front(), role, "goodput");
  EXPECT_EQ(choice.goodput_tokens, static_cast<std::int64_t>(capacity.found.tokens_per_s / 1.1));
  EXPECT_NEAR(capacity.found.tokens_per_s, capacity.requests_per_s * request.answer, 1);
  const double sequences = sequences_at(role, service.slo, request, static_cast<double>(choice.goodput_tokens));
  EXPECT_LT(sequences, static_cast<double>(capacity.found.batch)) << "replicas are added before the SLO is missed";
  EXPECT_GT(sequences, 1);
  service.slo.tpot /= 2;
  EXPECT_LT(choose_signal(service, sample.services.front(), role, "goodput").goodput_tokens, choice.goodput_tokens)
      << "a faster SLO leaves less goodput";
  service.engine = Engine::triton;
  EXPECT_TRUE(choose_signal(service, sample.services.front(), role, "goodput").uses_kv())
      << "Triton counts no answer tokens";
}

TEST(MeanRequest, IsThatOfTheSimulationsIfThereAreAny) {
  const ServiceSpec service = testing::chat_service();
  const MeanRequest stated = mean_request(service, {});
  EXPECT_NEAR(stated.prompt, 1377, 1);  // 1000 x exp(0.8^2 / 2)
  EXPECT_NEAR(stated.answer, 239, 1);
  EXPECT_FALSE(stated.is_simulated);
  ServicePlan fleet;
  fleet.mean_load = {.prompt_tokens = 500, .answer_tokens = 200, .mean_per_s = 3};
  const MeanRequest simulated = mean_request(service, fleet);
  EXPECT_EQ(simulated.prompt, 500);
  EXPECT_EQ(simulated.answer, 200);
  EXPECT_TRUE(simulated.is_simulated);
}

}  // namespace
}  // namespace capstan::plan
