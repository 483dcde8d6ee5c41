#include "operator/snapshot/claim_times.h"

#include <gtest/gtest.h>
#include "objects.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::op {
namespace {

using std::chrono::seconds;
using testing::Object;

Object claim(const std::string& name, const std::string& pool, const std::string& initialized_at = "") {
  Object object = {{"metadata", testing::meta(name)}};
  object["metadata"]["labels"] = {{"karpenter.sh/nodepool", pool}};
  if (!initialized_at.empty()) {
    object["status"]["conditions"] = {
        {{"type", "Initialized"}, {"status", "True"}, {"lastTransitionTime", initialized_at}}};
  }
  return object;
}

TEST(ClaimTimes, ExpectsTheLongestTimeOfThePool) {
  testing::Cluster cluster;  // every claim is created at 16:00:00
  cluster.claims.put(claim("fast", "gpu", "2026-11-21T16:01:00Z"));
  cluster.claims.put(claim("slow", "gpu", "2026-11-21T16:03:00Z"));
  cluster.claims.put(claim("new", "gpu"));
  cluster.claims.put(claim("elsewhere", "spot"));
  const kube::StoreSnapshot<kube::NodeClaim> claims = cluster.claims.snapshot();
  const ClaimTimes times(claims);
  std::map<std::string, Instant> expected;
  claims.for_each([&](kube::RowId, const kube::NodeClaim& c) { expected[c.meta.name] = times.expected_ready_at(c); });
  EXPECT_EQ(expected["slow"] - expected["fast"], seconds(120)) << "a claim that is ready has its own time";
  EXPECT_EQ(expected["new"], expected["slow"]);
  EXPECT_TRUE(expected["elsewhere"].is_never());
}

TEST(ClaimTimes, ARegisteredNodeWhoseGpusAreNotVisibleIsStillOnItsWay) {
  testing::Cluster cluster;
  const auto claim_with = [](const char* name, Object conditions) {
    return Object{{"metadata",
                   {{"name", name},
                    {"uid", name},
                    {"creationTimestamp", "2026-11-21T16:00:00Z"},
                    {"labels", {{"karpenter.sh/nodepool", "gpu"}}}}},
                  {"spec", {{"resources", {{"requests", {{"nvidia.com/gpu", "8"}}}}}}},
                  {"status", {{"nodeName", name}, {"conditions", std::move(conditions)}}}};
  };
  const Object launched{{"type", "Launched"}, {"status", "True"}},
      registered{{"type", "Registered"}, {"status", "True"}};
  const Object initialized{{"type", "Initialized"}, {"status", "True"}, {"lastTransitionTime", "2026-11-21T16:02:00Z"}};
  cluster.claims.put(claim_with("driver-starts", Object::array({launched, registered})));
  cluster.claims.put(claim_with("done", Object::array({launched, registered, initialized})));
  cluster.nodes.put(testing::node("done"));
  SnapshotBuilder builder;
  const model::Snapshot seen = builder.build(cluster.view(), {}, {}).snapshot;
  std::map<model::Claim::Phase, Instant> ready_at;
  seen.claims.for_each([&](model::ClaimId, const model::Claim& row) { ready_at[row.phase] = row.expected_ready_at; });
  ASSERT_EQ(ready_at.size(), 2u);
  EXPECT_TRUE(ready_at.contains(model::Claim::Phase::registered));
  EXPECT_EQ(ready_at[model::Claim::Phase::launched], ready_at[model::Claim::Phase::registered])
      << "both were created at one time, and the pool takes 2 min";
}

}  // namespace
}  // namespace capstan::op
