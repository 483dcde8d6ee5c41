#include "control/assume.h"

#include <gtest/gtest.h>

namespace capstan::control {
namespace {

model::Snapshot one_pending_pod() {
  model::Snapshot snapshot;
  model::Pod pod;
  pod.gpus = whole_gpus(1);
  snapshot.pods.set({0}, pod);
  snapshot.nodes.set({0}, {});
  return snapshot;
}

TEST(Assume, ABindingInFlightHoldsItsGpuAndGivesItBackWhenRefused) {
  const model::Snapshot observed = one_pending_pod();
  InFlight in_flight;
  in_flight.add({1}, {model::BindPods{{0}, {{{0}, {0}}}}, {}}, {});
  Assumptions assumptions;

  model::Snapshot first = observed;
  model::Delta delta;
  assumptions.apply(in_flight, first, delta);
  EXPECT_EQ(first.pods.at({0}).phase, model::Pod::Phase::starting);
  EXPECT_EQ(first.pods.at({0}).node, model::NodeId{0});
  EXPECT_EQ(delta.pods, std::vector{model::PodId{0}});
  EXPECT_EQ(observed.pods.at({0}).phase, model::Pod::Phase::pending) << "the observation itself is never changed";

  in_flight.settle({{{1}, ports::Outcome::Kind::refused, {}}}, {});
  model::Snapshot second = observed;
  model::Delta next;
  assumptions.apply(in_flight, second, next);
  EXPECT_EQ(second.pods.at({0}).phase, model::Pod::Phase::pending);
  EXPECT_EQ(next.pods, std::vector{model::PodId{0}}) << "the row differs from the last assumed one: indexes must hear of it";
}

TEST(Assume, ARowIsNamedOnceAndInOrder) {
  model::Snapshot snapshot = one_pending_pod();
  snapshot.pods.set({3}, model::Pod{});
  InFlight in_flight;
  in_flight.add({1}, {model::EvictPod{{3}}, {}}, {});
  in_flight.add({2}, {model::EvictPod{{0}}, {}}, {});
  Assumptions assumptions;
  model::Delta delta;
  delta.pods = {{3}};
  assumptions.apply(in_flight, snapshot, delta);
  EXPECT_EQ(delta.pods, (std::vector{model::PodId{0}, model::PodId{3}}));
}

TEST(Assume, ANodeThatIsToldToGoTakesNothingMore) {
  model::Snapshot snapshot = one_pending_pod();
  InFlight in_flight;
  in_flight.add({1}, {model::TerminateNode{{0}}, {}}, {});
  Assumptions assumptions;
  model::Delta delta;
  assumptions.apply(in_flight, snapshot, delta);
  EXPECT_EQ(snapshot.nodes.at({0}).phase, model::Node::Phase::terminating);
}

}  // namespace
}  // namespace capstan::control
