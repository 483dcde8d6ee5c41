#include "control/slo_watch.h"

#include <gtest/gtest.h>

namespace capstan::control {
namespace {

using decide::scale::Policy;
using decide::scale::QueueHpa;
using decide::scale::WorkloadView;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SloBreachRule kRule{.bound = seconds(2), .min_duration = seconds(60)};

Policy queue(RequestCount waiting_per_replica) {
  return QueueHpa{.waiting_per_replica = waiting_per_replica, .running_per_replica = {}, .hpa = {}};
}

/// Evaluates the SLO of a service step by step.
class SloWatchTest : public ::testing::Test {
 protected:
  /// Evaluates once, `after` the previous evaluation.
  const Policy& evaluate(Duration after, std::optional<Duration> ttft, const Policy& stated) {
    now_ = now_ + after;
    role_.replicas.assign(1, {{0}, model::Gang::Phase::ready, Instant{}, {}});
    if (ttft) role_.replicas[0].signals.ttft_p99_us = model::Signal::measured(*ttft / std::chrono::microseconds(1));
    update_slo(rule_, acknowledged_, role_, stated, memory_, scale_, now_);
    return settings_in_force(memory_, stated);
  }
  void replicas(ReplicaCount count) { role_.current = count; }

  const SloBreachRule* rule_ = &kRule;
  Instant now_ = Instant{} + std::chrono::hours(1);
  Instant acknowledged_{};
  WorkloadView role_;
  SloMemory memory_;
  decide::scale::Memory scale_;
};

TEST_F(SloWatchTest, ABreachRestoresTheLastGoodSettingsAndReplicas) {
  replicas(5);
  evaluate(seconds(0), milliseconds(300), queue(4));
  evaluate(seconds(60), milliseconds(300), queue(4));
  replicas(2);  // the settings change to queue(99), under which two replicas serve
  EXPECT_EQ(evaluate(seconds(10), milliseconds(400), queue(99)), queue(99));
  EXPECT_EQ(evaluate(seconds(10), seconds(3), queue(99)), queue(99));
  EXPECT_EQ(evaluate(seconds(59), seconds(3), queue(99)), queue(99)) << "the breach has not lasted long enough";
  EXPECT_EQ(scale_.floor, 0);
  EXPECT_EQ(evaluate(seconds(1), seconds(3), queue(99)), queue(4));
  EXPECT_TRUE(memory_.rolled_back());
  EXPECT_EQ(scale_.floor, 5) << "the replicas of the good state, more than now";
}

TEST_F(SloWatchTest, ASurgeKeepsTheCurrentReplicas) {
  replicas(3);
  evaluate(seconds(0), milliseconds(300), queue(4));
  evaluate(seconds(60), milliseconds(300), queue(4));
  replicas(9);
  evaluate(seconds(10), seconds(5), queue(4));
  EXPECT_EQ(evaluate(seconds(60), seconds(5), queue(4)), queue(4));
  EXPECT_EQ(scale_.floor, 9);
}

TEST_F(SloWatchTest, OnlyAnAcknowledgementEndsIt) {
  replicas(2);
  evaluate(seconds(0), milliseconds(300), queue(4));
  evaluate(seconds(60), milliseconds(300), queue(4));
  evaluate(seconds(10), seconds(3), queue(99));
  evaluate(seconds(60), seconds(3), queue(99));
  const Instant rolled_back = memory_.rolled_back_at;
  EXPECT_EQ(evaluate(std::chrono::hours(9), milliseconds(100), queue(99)), queue(4))
      << "the SLO has been held again for hours";
  EXPECT_EQ(evaluate(seconds(1), milliseconds(100), queue(7)), queue(4)) << "new settings do not apply yet either";
  EXPECT_EQ(scale_.floor, 2);
  acknowledged_ = rolled_back - seconds(5);  // acknowledges an earlier breach
  EXPECT_EQ(evaluate(seconds(1), milliseconds(100), queue(7)), queue(4));
  // Acknowledges this breach by its displayed time, which is in whole seconds and so up to a second earlier.
  acknowledged_ = rolled_back - milliseconds(999);
  EXPECT_EQ(evaluate(seconds(1), milliseconds(100), queue(7)), queue(7));
  EXPECT_EQ(scale_.floor, 0);
  EXPECT_FALSE(memory_.rolled_back());
  EXPECT_EQ(memory_.good->settings, queue(4)) << "still the last settings known to be good";
}

TEST_F(SloWatchTest, WithoutTheRuleThereIsNoFloor) {
  replicas(2);
  evaluate(seconds(0), seconds(3), queue(4));
  evaluate(seconds(60), seconds(3), queue(4));
  EXPECT_EQ(scale_.floor, 2) << "even without a known good state";
  rule_ = nullptr;
  EXPECT_EQ(evaluate(seconds(1), seconds(3), queue(4)), queue(4));
  EXPECT_EQ(scale_.floor, 0);
}

TEST_F(SloWatchTest, UnmeasuredTimeIsNeitherHeldNorBreached) {
  replicas(2);
  evaluate(seconds(0), milliseconds(300), queue(4));
  evaluate(seconds(30), {}, queue(4));
  evaluate(seconds(40), milliseconds(300), queue(4));
  EXPECT_FALSE(memory_.good) << "half of the time is unmeasured";
  evaluate(seconds(60), milliseconds(300), queue(4));
  EXPECT_TRUE(memory_.good);
  evaluate(seconds(10), seconds(3), queue(4));
  evaluate(seconds(100), {}, queue(4));
  EXPECT_FALSE(memory_.rolled_back()) << "missing readings are not a breach";
  evaluate(seconds(1), seconds(3), queue(4));
  EXPECT_TRUE(memory_.rolled_back()) << "missing readings do not end a breach either";
}

TEST_F(SloWatchTest, ASuccessorContinuesFromSavedMemory) {
  replicas(3);
  evaluate(seconds(0), milliseconds(300), queue(4));
  evaluate(seconds(60), milliseconds(300), queue(4));
  evaluate(seconds(10), seconds(3), queue(99));
  evaluate(seconds(60), seconds(3), queue(99));
  const SloMemory read = parse_slo_memory(to_text(memory_), memory_.good->settings).value();
  EXPECT_EQ(read.good, memory_.good);
  EXPECT_EQ(read.rolled_back_at, memory_.rolled_back_at);
  EXPECT_EQ(read.breached_since, memory_.breached_since);
  EXPECT_EQ(to_text(read), to_text(memory_));
  EXPECT_TRUE(parse_slo_memory(to_text(SloMemory()), std::nullopt));
  EXPECT_FALSE(parse_slo_memory(to_text(memory_), std::nullopt));
  EXPECT_FALSE(parse_slo_memory("slo-memory/1 0", std::nullopt));
  EXPECT_FALSE(parse_slo_memory("slo-memory/9 0 0 0", std::nullopt));
}

}  // namespace
}  // namespace capstan::control
