#include "control/in_flight.h"

#include <gtest/gtest.h>

#include "base/testing/moment.h"

namespace capstan::control {
namespace {

using capstan::testing::at_s;

using std::chrono::seconds;
using Kind = ports::Outcome::Kind;

model::Action evict(std::uint32_t pod) { return {model::EvictPod{{pod}}, {}}; }
std::uint32_t pod_of(const InFlight::SettledAction& settled) {
  return std::get<model::EvictPod>(settled.action.effect).pod.value;
}

TEST(InFlight, OutcomesAreReturnedInOrderOfSubmission) {
  InFlight in_flight;
  for (std::uint32_t i = 0; i < 3; ++i) in_flight.add({i}, evict(10 + i), at_s(0));
  const auto settled = in_flight.settle({{{2}, Kind::refused, {}}, {{0}, Kind::applied, {}}}, at_s(1));
  ASSERT_EQ(settled.size(), 2u);
  EXPECT_EQ(pod_of(settled[0]), 10u);
  EXPECT_EQ(settled[0].kind, Kind::applied);
  EXPECT_EQ(pod_of(settled[1]), 12u);
  EXPECT_EQ(settled[1].kind, Kind::refused);
  EXPECT_EQ(in_flight.entries().size(), 1u);
}

TEST(InFlight, AnActionWithoutAnOutcomeBecomesUnknown) {
  InFlight in_flight;
  in_flight.add({7}, evict(1), at_s(0));
  EXPECT_TRUE(in_flight.settle({}, at_s(59)).empty());
  const auto settled = in_flight.settle({}, at_s(60));
  ASSERT_EQ(settled.size(), 1u);
  EXPECT_EQ(settled[0].kind, Kind::unknown);
  EXPECT_EQ(settled[0].why.code, model::ReasonCode::outcome_unknown);
}

TEST(InFlight, AScaleDownWithADrainMayTakeLonger) {
  InFlight in_flight;
  in_flight.add({7}, {model::SetReplicas{{0}, 3, {{1}}}, {}}, at_s(0));
  EXPECT_TRUE(in_flight.settle({}, at_s(659)).empty());
  EXPECT_EQ(in_flight.requested_replicas({0}), 3);
  EXPECT_EQ(in_flight.requested(), (std::map<model::ServiceId, ReplicaCount>{{{0}, 3}}));
  EXPECT_EQ(in_flight.settle({}, at_s(660)).size(), 1u);
  EXPECT_EQ(in_flight.requested_replicas({0}), std::nullopt);
}

TEST(InFlight, AConversionConcernsBothServices) {
  InFlight in_flight;
  in_flight.add({7}, {model::ConvertReplica{{5}, {1}, {2}}, {}}, at_s(0));
  EXPECT_FALSE(in_flight.is_converting({0}));
  EXPECT_TRUE(in_flight.is_converting({1}));
  EXPECT_TRUE(in_flight.is_converting({2}));
  in_flight.settle({{{7}, Kind::applied, {}}}, at_s(1));
  EXPECT_FALSE(in_flight.is_converting({1}));
}

TEST(InFlight, NamesTheGangsThatAreBoundAndTheNodesThatAreEnded) {
  InFlight in_flight;
  in_flight.add({1}, {model::BindPods{.gang = {9}, .bindings = {}}, {}}, at_s(0));
  in_flight.add({2}, {model::TerminateNode{{4}}, {}}, at_s(0));
  in_flight.add({3}, {model::BindPods{.gang = {2}, .bindings = {}}, {}}, at_s(0));
  EXPECT_EQ(in_flight.binding(), (std::vector<model::GangId>{{2}, {9}}));
  EXPECT_EQ(in_flight.terminating(), (std::vector<model::NodeId>{{4}}));
  in_flight.settle({{{2}, Kind::applied, {}}, {{3}, Kind::refused, {}}}, at_s(1));
  EXPECT_EQ(in_flight.binding(), (std::vector<model::GangId>{{9}}));
  EXPECT_TRUE(in_flight.terminating().empty());
}

TEST(InFlight, AnOutcomeWithAnUnknownTokenIsIgnored) {
  InFlight in_flight;
  in_flight.add({1}, evict(1), at_s(0));
  EXPECT_TRUE(in_flight.settle({{{9}, Kind::applied, {}}}, at_s(1)).empty());
}

}  // namespace
}  // namespace capstan::control
