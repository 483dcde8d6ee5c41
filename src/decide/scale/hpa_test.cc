#include "decide/scale/hpa.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/moment.h"

namespace capstan::decide::scale {
namespace {

using capstan::testing::ago;
using capstan::testing::kNow;

HpaSettings with_behavior() {
  HpaSettings settings;
  settings.behavior = HpaBehavior{};
  return settings;
}

struct LimitRow {
  const char* what;
  ReplicaCount current, proposed, min, max;
  ReplicaCount replicas;
  HpaLimit by;
};

TEST(Hpa, LimitsWithoutBehaviour) {
  const LimitRow rows[] = {
      {"inside all limits", 5, 7, 3, 8, 7, HpaLimit::none},
      {"at most double", 3, 1000, 1, 2000, 6, HpaLimit::scale_up_limit},
      {"at least four are allowed", 1, 1000, 1, 2000, 4, HpaLimit::scale_up_limit},
      {"the bound is reported if bound and rate limit are equal", 3, 1000, 1, 6, 6, HpaLimit::too_many_replicas},
      {"down as far as wanted", 100, 1, 0, 200, 1, HpaLimit::none},
      {"down to the bound", 100, 1, 5, 200, 5, HpaLimit::too_few_replicas},
  };
  for (const LimitRow& row : rows) {
    const HpaLimitedCount limited = limit_rate({}, {}, row.current, row.proposed, row.min, row.max, kNow);
    EXPECT_EQ(limited.replicas, row.replicas) << row.what;
    EXPECT_EQ(limited.limit, row.by) << row.what;
  }
}

TEST(Hpa, LimitsOfTheDefaultBehaviour) {
  const LimitRow rows[] = {
      {"four more, if that is more than double", 1, 1000, 1, 2000, 5, HpaLimit::scale_up_limit},
      {"double", 10, 1000, 1, 2000, 20, HpaLimit::scale_up_limit},
      {"a maximum below the current count lowers it", 20, 1000, 1, 10, 10, HpaLimit::too_many_replicas},
      {"all replicas may go at once", 10, 0, 0, 20, 0, HpaLimit::none},
      {"but not below the bound", 10, 0, 2, 20, 2, HpaLimit::too_few_replicas},
  };
  for (const LimitRow& row : rows) {
    const HpaLimitedCount limited = limit_rate({}, with_behavior(), row.current, row.proposed, row.min, row.max, kNow);
    EXPECT_EQ(limited.replicas, row.replicas) << row.what;
    EXPECT_EQ(limited.limit, row.by) << row.what;
  }
}

TEST(Hpa, ThePeriodsStartIsTheCountBeforeItsChanges) {
  const Memory memory{.has_decided = true,
                      .recommendations = {},
                      .ups = {{ago(100), 1}, {ago(60), 5}, {ago(20), 9}},
                      .downs = {{ago(10), 3}}};
  const HpaRules pods{.stabilization = {},
                      .select = HpaRules::Select::max,
                      .policies = {{HpaRatePolicy::Kind::pods, 150, std::chrono::seconds(120)}}};
  EXPECT_EQ(scale_up_limit(memory, pods, 100, kNow), 100 - 15 + 3 + 150);
  EXPECT_EQ(scale_down_limit(memory, pods, 100, kNow), 100 - 15 + 3 - 150) << "below zero: the bounds apply later";
  EXPECT_EQ(changed_within(memory.ups, std::chrono::seconds(60), kNow), 9)
      << "a change exactly as old as the period is outside";
}

TEST(Hpa, PercentGoesUpByTheCeilingAndDownTowardsZero) {
  const auto percent = [](std::int64_t value, HpaRules::Select select) {
    return HpaRules{.stabilization = {},
                    .select = select,
                    .policies = {{HpaRatePolicy::Kind::percent, value, std::chrono::seconds(60)},
                                 {HpaRatePolicy::Kind::pods, 2, std::chrono::seconds(60)}}};
  };
  using Select = HpaRules::Select;
  EXPECT_EQ(scale_up_limit({}, percent(15, Select::max), 7, kNow), 9);
  EXPECT_EQ(scale_up_limit({}, percent(150, Select::max), 7, kNow), 18);
  EXPECT_EQ(scale_up_limit({}, percent(150, Select::min), 7, kNow), 9);
  EXPECT_EQ(scale_down_limit({}, percent(15, Select::max), 7, kNow), 5) << "max is the largest change";
  EXPECT_EQ(scale_down_limit({}, percent(15, Select::min), 7, kNow), 5);
  EXPECT_EQ(scale_down_limit({}, percent(150, Select::max), 7, kNow), -3);
  EXPECT_EQ(scale_down_limit({}, percent(150, Select::disabled), 7, kNow), 7);
}

TEST(Hpa, SumsOfPodsWrapAroundAsInt32) {
  const HpaRules any{.stabilization = {},
                     .select = HpaRules::Select::max,
                     .policies = {{HpaRatePolicy::Kind::pods, 2147483647, std::chrono::seconds(60)}}};
  EXPECT_EQ(scale_up_limit({}, any, 0, kNow), 2147483647);
  EXPECT_EQ(scale_up_limit({}, any, 1, kNow), -2147483648);
  EXPECT_EQ(scale_down_limit({}, any, 10, kNow), 10 - 2147483647);
  HpaSettings settings = with_behavior();
  settings.behavior->up = any;
  const HpaLimitedCount limited = limit_rate({}, settings, 10, 50, 1, 1000, kNow);
  EXPECT_EQ(limited.replicas, 10) << "a policy of 2147483647 pods allows none";
  EXPECT_EQ(limited.limit, HpaLimit::scale_up_limit);
}

TEST(Hpa, WindowsHoldAScaleUpToTheLowestAndAScaleDownToTheHighestAnswer) {
  struct Row {
    std::int64_t up_s, down_s;
    ReplicaCount current, proposed, held;
  };
  const std::vector<Memory::Recommendation> log = {{ago(120), 4}, {ago(60), 5}};
  for (const Row& row : {Row{0, 180, 100, 3, 5}, Row{300, 0, 1, 7, 4}, Row{0, 300, 1, 3, 3}, Row{300, 300, 4, 9, 4},
                         Row{0, 60, 100, 3, 3}}) {
    HpaSettings settings = with_behavior();
    settings.behavior->up.stabilization = std::chrono::seconds(row.up_s);
    settings.behavior->down.stabilization = std::chrono::seconds(row.down_s);
    Memory memory;
    memory.recommendations = log;
    EXPECT_EQ(stabilize(memory, settings, row.current, row.proposed, kNow), row.held) << row.up_s << " " << row.down_s;
    const bool logged = std::ranges::find(memory.recommendations, Memory::Recommendation{kNow, row.proposed}) !=
                        memory.recommendations.end();
    EXPECT_TRUE(logged) << "the answer before stabilization is stored";
  }
}

TEST(Hpa, ANewAnswerReplacesTheLastOneOutsideEveryWindow) {
  Memory memory;
  memory.recommendations = {{ago(600), 10}, {ago(540), 9}, {ago(300), 2}};
  EXPECT_EQ(stabilize(memory, {}, 0, 3, kNow), 3);
  EXPECT_EQ(memory.recommendations, (std::vector<Memory::Recommendation>{{ago(600), 10}, {kNow, 3}, {ago(300), 2}}));
}

TEST(Hpa, AChangeReplacesTheLastOutdatedOneOfItsDirection) {
  HpaSettings settings = with_behavior();
  settings.behavior->up.policies = {{HpaRatePolicy::Kind::pods, 10, std::chrono::seconds(60)}};
  Memory memory;
  memory.ups = {{ago(70), 8}, {ago(61), 7}, {ago(60), 6}};
  memory.downs = {{ago(1000), 1}};
  record_change(memory, settings, 10, 15, kNow);
  EXPECT_EQ(memory.ups, (std::vector<Memory::Change>{{ago(70), 8}, {kNow, 5}, {ago(60), 6}}));
  EXPECT_EQ(memory.downs.size(), 1u);

  const Memory before = memory;
  record_change(memory, settings, 10, 10, kNow);
  record_change(memory, {}, 10, 15, kNow);
  EXPECT_EQ(memory, before) << "without a change or without behaviour nothing is stored";
}

TEST(Hpa, CeilingsFitAnInt32) {
  EXPECT_EQ(hpa_ceil(1.2), 2);
  EXPECT_EQ(hpa_ceil(-1.2), -1);
  EXPECT_EQ(hpa_ceil(1e300), 2147483647);
  EXPECT_EQ(hpa_ceil(0.0 / 0.0), 0);
}

}  // namespace
}  // namespace capstan::decide::scale
