#include "operator/snapshot/claim_times.h"

#include <gtest/gtest.h>
#include "objects.h"

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

}  // namespace
}  // namespace capstan::op
