#include "model/snapshot.h"

#include <gtest/gtest.h>

namespace capstan::model {
namespace {

Snapshot small() {
  Snapshot snapshot;
  snapshot.services.set({0}, {.desired_replicas = 2, .gateway_waiting = Signal::measured(3)});
  snapshot.nodes.set({0}, {});
  snapshot.claims.set({0}, {});
  snapshot.gangs.set({0}, {});
  snapshot.pods.set({0}, {});
  return snapshot;
}

TEST(Snapshot, EqualContentHashesEqual) { EXPECT_EQ(state_hash(small()), state_hash(small())); }

TEST(Snapshot, AnyRowChangesTheHash) {
  const std::uint64_t before = state_hash(small());
  Snapshot changed = small();
  Node cordoned;
  cordoned.phase = Node::Phase::cordoned;
  changed.nodes.set({0}, cordoned);
  EXPECT_NE(state_hash(changed), before);
  changed = small();
  changed.pods.erase({0});
  EXPECT_NE(state_hash(changed), before);
  changed = small();
  changed.gangs.set({0}, Gang{});
  const std::uint64_t silent = state_hash(changed);
  ReplicaSignals stale;
  stale.waiting.state = Signal::State::stale;
  changed.signals.set({0}, stale);
  EXPECT_NE(state_hash(changed), silent) << "stale and missing are different things";
}

TEST(Snapshot, ACopySharesRowsUntilOneChanges) {
  const Snapshot first = small();
  Snapshot second = first;
  EXPECT_EQ(first.gangs.find({0}), second.gangs.find({0}));
  Gang seventh;
  seventh.ordinal = 7;
  second.gangs.set({0}, seventh);
  EXPECT_EQ(first.gangs.at({0}).ordinal, 0u);
  EXPECT_EQ(first.pods.find({0}), second.pods.find({0}));
}

}  // namespace
}  // namespace capstan::model
