#include "actuate/evict.h"

#include <gtest/gtest.h>

#include "actuate/bench.h"

namespace capstan::actuate::testing {
namespace {

using namespace std::chrono_literals;
using Write = FakeServer::Write;

struct EvictTest : ::testing::Test {
  Bench bench{5};

  void SetUp() override { bench.add_pod("p"); }
  void submit(std::uint32_t token, Ref pod) {
    bench.submit("pod", token, std::make_unique<Evict>(std::move(pod), RandomStream(token, "evict")));
  }
  Ref pod() { return bench.ref(kube::resources::kPods, "p"); }
};

TEST_F(EvictTest, EvictsOrReportsWhyNot) {
  struct Row {
    const char* what;
    std::string uid;  // UID in the action; empty: that of the pod
    std::function<int(const Write&)> refuse;
    std::string outcome;
    bool exists;
  };
  int times = 0;
  const auto first = [&](int n, int code) {
    return [&times, n, code](const Write&) { return times++ < n ? code : 0; };
  };
  const Row rows[] = {
      {"the pod is evicted", "", first(0, 0), "applied", false},
      {"another pod has its name, so the pod is gone", "another", first(0, 0), "applied", true},
      {"the pod is gone", "", first(9, 404), "applied", true},
      {"a disruption budget refuses three times", "", first(3, 429), "applied", false},
      {"a disruption budget always refuses", "", first(99, 429), "refused eviction_held", true},
      {"not allowed", "", first(9, 403), "refused api_refused 403", true},
      {"after an error the pod is read back and evicted again", "", first(1, 500), "applied", false},
      {"two disruption budgets, for which the server always fails", "", first(99, 500), "refused writes_lost 8", true},
  };
  std::uint32_t token = 0;
  for (const Row& row : rows) {
    times = 0;
    bench.add_pod("p");
    bench.refuse = row.refuse;
    Ref ref = pod();
    if (!row.uid.empty()) ref.uid = row.uid;
    submit(++token, ref);
    bench.run(100s);
    EXPECT_EQ(bench.outcome(token), row.outcome) << row.what;
    EXPECT_EQ(!bench.pod("p").is_null(), row.exists) << row.what;
  }
}

TEST_F(EvictTest, DoublesThePauseUpToTenSeconds) {
  bench.disruptions_allowed = 0;
  submit(1, pod());
  bench.run(100s);
  std::vector<std::int64_t> pauses_s;
  for (std::size_t i = 1; i < bench.server.seen.size(); ++i) {
    const Duration pause = bench.server.seen[i].at - bench.server.seen[i - 1].at;
    pauses_s.push_back(std::chrono::duration_cast<std::chrono::seconds>(pause).count());
  }
  EXPECT_EQ(pauses_s, (std::vector<std::int64_t>{1, 2, 4, 8, 10, 10}));
}

TEST_F(EvictTest, DoesNothingWhenHalted) {
  bench.permit = Permit::finish;
  submit(1, pod());
  bench.run(1s);
  EXPECT_EQ(bench.outcome(1), "refused halted");
  EXPECT_TRUE(bench.server.seen.empty());
}

}  // namespace
}  // namespace capstan::actuate::testing
