#include "decide/scale/hpa_metrics.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/testing/moment.h"

namespace capstan::decide::scale {
namespace {

using capstan::testing::ago;
using capstan::testing::kNow;

using Group = HpaPod::Group;
using Phase = HpaPodFacts::Phase;

/// Parses pods such as "r800 u m s9000": r is a ready pod with its sample, u an unready and m a missing pod, s a sample
/// without a pod. Each pod requests 2000.
std::vector<HpaPod> pods(std::string_view row) {
  std::vector<HpaPod> all;
  for (std::size_t i = 0; i < row.size(); ++i) {
    HpaPod pod{row[i] == 'r'   ? Group::ready
               : row[i] == 'u' ? Group::unready
               : row[i] == 'm' ? Group::missing
               : row[i] == 'i' ? Group::ignored
                               : Group::superfluous,
               0, 2000};
    if (pod.group == Group::superfluous) pod.request_milli.reset();
    while (i + 1 < row.size() && row[i + 1] >= '0' && row[i + 1] <= '9') pod.milli = pod.milli * 10 + (row[++i] - '0');
    if (i + 1 < row.size()) ++i;  // skips the space
    all.push_back(pod);
  }
  return all;
}

struct Row {
  const char* what;
  const char* pods;
  std::int64_t target;
  ReplicaCount current;
  ReplicaCount replicas;  ///< expected count; -1: an error
};

TEST(HpaMetrics, Utilization) {
  const Row rows[] = {
      {"ceil of the ratio times the ready pods", "r1000 r1400", 30, 2, 4},
      {"the percentage is truncated before the ratio", "r1259 r1259", 57, 2, 2},
      {"unready pods count as idle on the way up", "r800 u u", 30, 3, 3},
      {"unready pods do not count on the way down", "r200 r600 r1000 u u", 50, 5, 2},
      {"missing pods count as full on the way down", "r800 r190 m m", 100, 4, 3},
      {"missing pods count as on target if that is more than full", "r800 r190 m m", 150, 4, 3},
      {"missing pods count as idle on the way up", "r3800 m", 100, 2, 2},
      {"missing pods do not count exactly on target", "r2000 m", 100, 2, 2},
      {"a sample without a pod has no request and is left out", "r8000 r6000 s9000", 100, 2, 7},
      {"ignored pods do not count", "r1000 r1400 i i", 30, 2, 4},
      {"no pod", "s100", 30, 1, -1},
      {"the only sample has no pod", "m s100", 30, 1, -1},
      {"no pod counts", "u u", 30, 2, -1},
  };
  for (const Row& row : rows) {
    const HpaProposal proposal = propose_by_utilization(pods(row.pods), row.target, row.current, {});
    EXPECT_EQ(proposal.valid ? proposal.replicas : -1, row.replicas) << row.what;
  }
  std::vector<HpaPod> without = pods("r1000 i");
  without[1].request_milli.reset();
  EXPECT_FALSE(propose_by_utilization(without, 30, 2, {}).valid) << "even an ignored pod must have a request";
}

TEST(HpaMetrics, UtilizationOfMemoryDoesNotOverflow) {
  constexpr std::int64_t kTerabyteMilli = 1'000'000'000'000'000;
  std::vector<HpaPod> many(400, HpaPod{pods("r1000").front()});
  for (HpaPod& pod : many) {
    pod.milli = kTerabyteMilli;
    pod.request_milli = 2 * kTerabyteMilli;
  }
  const HpaProposal proposal = propose_by_utilization(many, 25, 400, {});
  EXPECT_EQ(proposal.utilization_percent, 50);
  EXPECT_EQ(proposal.replicas, 800);
}

TEST(HpaMetrics, Pods) {
  const Row rows[] = {
      {"ceil of the ratio", "r20000 r10000 r30000", 15000, 3, 4},
      {"the mean is truncated", "r50000 r15000 r30000", 31666, 3, 3},
      {"readiness does not matter, but a pending pod counts", "r30000 r30000 u", 15000, 3, 4},
      {"missing pods count as on target on the way down", "r1000 m m", 10000, 3, 3},
      {"missing pods count as idle on the way up", "r30000 m", 10000, 2, 3},
      {"exactly on target, missing pods count as idle (for a resource: not at all)", "r10000 m", 10000, 2, 1},
      {"a sample without a pod counts in the mean", "r10000 s30000", 10000, 1, 2},
      {"no pod counts", "u m", 10000, 2, -1},
  };
  for (const Row& row : rows) {
    const HpaProposal proposal = propose_by_pods(pods(row.pods), row.target, row.current, {});
    EXPECT_EQ(proposal.valid ? proposal.replicas : -1, row.replicas) << row.what;
  }
}

TEST(HpaMetrics, ValueMultipliesTheReadyPods) {
  EXPECT_EQ(propose_by_value(20000, 15000, 3, 3, {}).replicas, 4);
  EXPECT_EQ(propose_by_value(8600, 4400, 3, 1, {}).replicas, 2) << "it scales down although the ratio is 1.95";
  EXPECT_EQ(propose_by_value(8600, 4400, 3, 0, {}).replicas, 0) << "kubernetes/kubernetes#130130";
  EXPECT_EQ(propose_by_value(16500, 15000, 3, 9, {}).replicas, 3) << "exactly 10 % is within the tolerance";
  EXPECT_EQ(propose_by_value(16500, 15000, 0, {}, {}).replicas, 2) << "from zero the ratio itself is the count";
  EXPECT_FALSE(propose_by_value(20000, 15000, 3, {}, {}).valid);
}

TEST(HpaMetrics, AverageValueIgnoresReadiness) {
  EXPECT_EQ(propose_by_average_value(20166, 5000, 4, {}).replicas, 4);
  EXPECT_EQ(propose_by_average_value(20166, 5000, 4, {}).mean_milli, 5042) << "rounded up";
  EXPECT_EQ(propose_by_average_value(8600, 2000, 3, {}).replicas, 5);
  EXPECT_EQ(propose_by_average_value(950, 850, 16, {}).replicas, 2)
      << "the metric is a maximum over pods, and an AverageValue divides it like a total";
  EXPECT_EQ(propose_by_average_value(0, 850, 0, {}).replicas, 0);
  EXPECT_EQ(propose_by_average_value(1700, 850, 0, {}).replicas, 2);
}

TEST(HpaMetrics, ASumOfItemsSaturates) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  struct SumRow {
    const char* what;
    std::vector<std::int64_t> items;
    std::int64_t for_value, for_average_value;
  };
  const SumRow rows[] = {
      {"no item", {}, 0, 0},
      {"two items", {3000, 5000}, 8000, 8000},
      {"an overflow", {kMax, 1, -5}, kMax, kMax},
      {"a negative sum", {-2000}, -2000, kMax},
      {"a negative partial sum", {-1, 5000}, 4999, kMax},
      {"a sum of zero", {5000, -5000}, 0, 0},
  };
  for (const SumRow& row : rows) {
    EXPECT_EQ(sum_for_value(row.items), row.for_value) << row.what;
    EXPECT_EQ(sum_for_average_value(row.items), row.for_average_value) << row.what;
  }
  EXPECT_EQ(propose_by_value(kMax, 1000, 3, 3, {}).replicas, 2147483647);
  EXPECT_EQ(propose_by_average_value(kMax, 1000, 3, {}).replicas, 2147483647);
  EXPECT_EQ(propose_by_average_value(kMax, 1000, 3, {}).mean_milli, kMax) << "its mean is unknown";
}

TEST(HpaMetrics, PodsAreGroupedByTheirState) {
  const HpaReadiness readiness{std::chrono::seconds(120), std::chrono::seconds(10)};
  const HpaPodFacts sound{Phase::running, false, true, ago(30), ago(60), true, kNow, std::chrono::seconds(30)};
  struct GroupRow {
    const char* what;
    void (*change)(HpaPodFacts&);
    Group group;
  };
  const GroupRow rows[] = {
      {"a sample window entirely after it became ready", [](HpaPodFacts&) {}, Group::ready},
      {"a sample window that began before it became ready", [](HpaPodFacts& pod) { pod.sampled_at = ago(1); },
       Group::unready},
      {"deleted", [](HpaPodFacts& pod) { pod.deleting = true; }, Group::ignored},
      {"failed", [](HpaPodFacts& pod) { pod.phase = Phase::failed; }, Group::ignored},
      {"pending", [](HpaPodFacts& pod) { pod.phase = Phase::pending; }, Group::unready},
      {"without a sample", [](HpaPodFacts& pod) { pod.sampled = false; }, Group::missing},
      {"without a condition", [](HpaPodFacts& pod) { pod.ready.reset(); }, Group::unready},
      {"without a start", [](HpaPodFacts& pod) { pod.started_at.reset(); }, Group::unready},
      {"unready at its start", [](HpaPodFacts& pod) { pod.ready = false; }, Group::unready},
      {"unready later, was ready once",
       [](HpaPodFacts& pod) {
         pod.ready = false;
         pod.started_at = ago(600);
         pod.ready_since = ago(590);
       },
       Group::ready},
      {"unready later, never was ready",
       [](HpaPodFacts& pod) {
         pod.ready = false;
         pod.started_at = ago(600);
         pod.ready_since = ago(591);
       },
       Group::unready},
  };
  for (const GroupRow& row : rows) {
    HpaPodFacts pod = sound;
    row.change(pod);
    EXPECT_EQ(group_pod(pod, true, readiness, kNow), row.group) << row.what;
  }
  HpaPodFacts loading = sound;
  loading.ready = false;
  EXPECT_EQ(group_pod(loading, false, readiness, kNow), Group::ready) << "a custom metric ignores readiness";
}

}  // namespace
}  // namespace capstan::decide::scale
