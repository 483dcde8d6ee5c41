#include "decide/scale/capstan/step.h"

#include <gtest/gtest.h>

#include <optional>

namespace capstan::decide::scale {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// Returns a view with one serving H100 replica and the given A100 replicas.
WorkloadView h100_and(const std::vector<WorkloadView::Replica>& a100) {
  WorkloadView role;
  role.slo = {.ttft = seconds(1), .tpot = std::chrono::milliseconds(50), .e2e = {}};
  role.engine = *engine::EngineTable::bundled().find("Llama-3.1-8B", "H100", 1, "bfloat16");
  role.max = 9;
  WorkloadView other = role;
  other.service = {1};
  other.engine = *engine::EngineTable::bundled().find("Llama-3.1-8B", "A100", 1, "bfloat16");
  role.current = 1;
  role.replicas.push_back({{0}, model::Gang::Phase::ready, {}, {}});
  other.replicas = a100;
  other.current = std::ssize(a100);
  role.alternatives.push_back(other);
  return role;
}

struct Observed {
  WorkloadView role;
  Capstan policy{};
  Memory memory{};
  std::optional<Step> step{};

  const Step& at(Instant now) { return step.emplace(observe(role, policy, load_memory(memory, now), now)); }
};

TEST(Step, TheWorthOfAReplicaIsTheRatioOfServiceTimesForTheSameRequests) {
  Observed seen{
      merged_variants(h100_and({{{1}, model::Gang::Phase::ready, {}, {}}, {{2}, model::Gang::Phase::ready, {}, {}}}))};
  const Step& step = seen.at({minutes(1)});
  ASSERT_EQ(step.variants.size(), 2u);
  const Capacity& h100 = step.variants[0].capacity;
  const Capacity& a100 = step.variants[1].capacity;
  const double ratio = step.shape.prompt_per_output;
  EXPECT_NEAR(step.variants[1].relative_capacity,
              (ratio * h100.prompt_s + h100.decode_s) / (ratio * a100.prompt_s + a100.decode_s), 0.001);
  EXPECT_DOUBLE_EQ(step.serving(), 1 + 2 * step.variants[1].relative_capacity);
  EXPECT_DOUBLE_EQ(step.sequences_serving(), static_cast<double>(h100.batch + 2 * a100.batch));
}

TEST(Step, WithOneVariantTheWorthIsOne) {
  WorkloadView role = h100_and({});
  role.alternatives.clear();
  role.current = 3;
  Observed seen{role};
  const Step& step = seen.at({minutes(1)});
  EXPECT_EQ(step.variants.size(), 1u);
  EXPECT_EQ(step.serving(), 1);
  EXPECT_EQ(step.counted(), 3) << "two more are requested";
}

TEST(Step, APendingReplicaWithUnavailableGpusIsNotCounted) {
  WorkloadView role =
      h100_and({{{1}, model::Gang::Phase::starting, {}, {}}, {{2}, model::Gang::Phase::pending, {}, {}}});
  role.alternatives[0].supply.refused = true;
  Observed seen{merged_variants(role)};
  const Step& step = seen.at({minutes(1)});
  EXPECT_TRUE(step.variants[1].denied);
  EXPECT_FALSE(step.variants[0].denied);
  EXPECT_DOUBLE_EQ(step.counted(), 1 + step.variants[1].relative_capacity) << "the starting replica has its GPUs";
  seen.role.alternatives[0].supply.refused = false;
  EXPECT_TRUE(seen.at({minutes(3)}).variants[1].denied) << "denied for a while";
  seen.role = merged_variants(h100_and({}));
  EXPECT_FALSE(seen.at({minutes(12)}).variants[1].denied);
}

TEST(Step, PlansForTheLongestMeasuredLeadTime) {
  Observed seen{merged_variants(h100_and({}))};
  CapstanMemory& memory = load_memory(seen.memory, {});
  memory.alternatives.resize(1);
  EXPECT_FALSE(seen.at({minutes(1)}).lead_known);
  memory.leads = {seconds(40)};
  EXPECT_EQ(seen.at({minutes(2)}).lead, seconds(40)) << "the guess for the other variant is ignored";
  memory.alternatives[0].leads = {seconds(90)};
  EXPECT_EQ(seen.at({minutes(3)}).lead, seconds(90));
  memory.alternatives[0].denied_until = {minutes(30)};
  EXPECT_EQ(seen.at({minutes(4)}).lead, seconds(40)) << "no A100 will start";
}

}  // namespace
}  // namespace capstan::decide::scale
