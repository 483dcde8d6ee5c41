// Tests that a group of node claims is created completely or not at all.
#include "actuate/claims.h"

#include <gtest/gtest.h>

#include "actuate/bench.h"
#include "actuate/change_all.h"

namespace capstan::actuate::testing {
namespace {

using namespace std::chrono_literals;
using Write = FakeServer::Write;

struct ClaimsTest : ::testing::Test {
  Bench bench{31};

  ClaimGroup group(const std::string& name, std::int64_t count = 3) {
    ClaimGroup group;
    group.pool.meta.name = "h100";
    group.pool.meta.uid = "pool";
    group.name = name;
    group.count = count;
    group.is_all_or_none = true;
    return group;
  }
  void launch(std::uint32_t token, const std::string& name) {
    bench.submit("group/" + name, token, std::make_unique<LaunchGroup>(group(name)));
  }
  void release(std::uint32_t token, const std::vector<Ref>& claims) {
    std::vector<Change> changes;
    for (const Ref& claim : claims) changes.push_back(delete_claim(claim));
    bench.submit("release", token, std::make_unique<ChangeAll>(std::move(changes)));
  }
  std::string claims() {
    std::string names;
    for (const auto& [name, claim] : bench.server.objects(kNodeClaims)) names += (names.empty() ? "" : " ") + name;
    return names;
  }
};

TEST_F(ClaimsTest, CreatesAllClaimsOrNone) {
  struct Row {
    const char* what;
    std::function<int(const Write&)> refuse;
    std::string outcome;
    bool made;
  };
  int times = 0;
  const auto on = [&](const std::string& key, int n, int code) {
    return [&times, key, n, code](const Write& write) {
      return write.method == "POST" && write.key == key && times++ < n ? code : 0;
    };
  };
  const Row rows[] = {
      {"all", [](const Write&) { return 0; }, "applied", true},
      {"the first is refused", on("h100-g-0", 99, 422), "refused claims_given_back 0 3", false},
      {"the last is refused", on("h100-g-2", 99, 403), "refused claims_given_back 2 3", false},
      {"the server has no NodeClaims", on("h100-g-0", 99, 404), "refused claims_given_back 0 3", false},
      {"the server is busy", on("h100-g-1", 2, 429), "applied", true},
      {"after an error the claim is read back and created again", on("h100-g-1", 2, 500), "applied", true},
  };
  std::uint32_t token = 0;
  for (const Row& row : rows) {
    for (const char* name : {"h100-g-0", "h100-g-1", "h100-g-2"}) bench.server.remove(kNodeClaims, name);
    times = 0;
    bench.refuse = row.refuse;
    launch(++token, "g");
    bench.run(20s);
    EXPECT_EQ(bench.outcome(token), row.outcome) << row.what;
    EXPECT_EQ(claims(), row.made ? "h100-g-0 h100-g-1 h100-g-2" : "") << row.what;
  }
}

TEST_F(ClaimsTest, ARepetitionCreatesOnlyMissingClaims) {
  launch(1, "g");
  bench.run(2s);
  bench.server.remove(kNodeClaims, "h100-g-1");
  launch(2, "g");
  bench.run(2s);
  EXPECT_EQ(bench.outcome(1) + ", " + bench.outcome(2), "applied, applied");
  EXPECT_EQ(claims(), "h100-g-0 h100-g-1 h100-g-2");
  EXPECT_EQ(bench.writes().size(), 6u);
}

TEST_F(ClaimsTest, AForeignClaimWithTheNameFailsTheGroup) {
  bench.server.put(kNodeClaims, "", "h100-g-1", {{"spec", {{"theirs", true}}}});
  launch(1, "g");
  bench.run(2s);
  EXPECT_EQ(bench.outcome(1), "refused claims_given_back 1 3");
  EXPECT_EQ(claims(), "h100-g-1");
}

TEST_F(ClaimsTest, RollsBackAfterTheKillSwitchIsOff) {
  bench.refuse = [&](const Write& write) {
    if (write.key == "h100-g-1") bench.permit = Permit::finish;
    return 0;
  };
  launch(1, "g");
  bench.run(30s);
  EXPECT_EQ(claims(), "h100-g-0 h100-g-1") << "nothing is written while halted";
  EXPECT_EQ(bench.outcome(1), "");
  bench.run(30s);
  EXPECT_EQ(bench.outcome(1), "unknown halted");
  bench.permit = Permit::all;
  bench.refuse = [](const Write&) { return 0; };
  bench.run(3s);
  EXPECT_EQ(claims(), "");
  EXPECT_EQ(bench.outcome(1), "unknown halted");
}

TEST_F(ClaimsTest, DeletesTheClaimsOfAGroup) {
  launch(1, "g");
  bench.run(2s);
  std::vector<Ref> refs;
  for (const char* name : {"h100-g-0", "h100-g-1", "h100-g-2"}) {
    refs.push_back(bench.ref(kube::resources::kNodeClaims, name));
  }
  bench.server.remove(kNodeClaims, "h100-g-0");
  refs[1].uid = "another";
  release(2, refs);
  bench.run(2s);
  EXPECT_EQ(bench.outcome(2), "applied");
  EXPECT_EQ(claims(), "h100-g-1") << "another claim with the same name stays";
  bench.refuse = [](const Write&) { return 403; };
  release(3, {bench.ref(kube::resources::kNodeClaims, "h100-g-1")});
  bench.run(2s);
  EXPECT_EQ(bench.outcome(3), "refused api_refused 403");
}

TEST_F(ClaimsTest, RemovesAHold) {
  launch(1, "g");
  bench.run(2s);
  const Ref claim = bench.ref(kube::resources::kNodeClaims, "h100-g-0");
  EXPECT_TRUE(bench.object(kNodeClaims, "h100-g-0")["metadata"]["annotations"].contains(kDoNotDisrupt));
  bench.submit("hold", 2, std::make_unique<ChangeAll>(std::vector{allow_disruption(claim)}));
  bench.run(2s);
  EXPECT_EQ(bench.outcome(2), "applied");
  EXPECT_FALSE(bench.object(kNodeClaims, "h100-g-0")["metadata"]["annotations"].contains(kDoNotDisrupt));
}

}  // namespace
}  // namespace capstan::actuate::testing
