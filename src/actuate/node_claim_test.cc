#include "actuate/node_claim.h"

#include <gtest/gtest.h>

namespace capstan::actuate {
namespace {

constexpr const char* kPool = R"({
  "metadata": {"name": "h100", "uid": "pool-uid", "annotations": {
    "karpenter.sh/nodepool-hash": "12", "karpenter.sh/nodepool-hash-version": "v3", "karpenter.sh/other": "x"}},
  "spec": {"template": {
    "metadata": {"labels": {"team": "serving"}},
    "spec": {
      "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
      "expireAfter": "Never",
      "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
      "requirements": [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand", "spot"]},
        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
        {"key": "example.com/old", "operator": "DoesNotExist"}]}}}})";

ClaimGroup group() {
  kube::JsonDocument document;
  ClaimGroup group;
  group.pool = kube::read_node_pool(document.parse(kPool).value());
  group.required_labels = {{"node.kubernetes.io/instance-type", "p5.48xlarge"},
                           {"karpenter.sh/capacity-type", "on-demand"}};
  group.requests.add("nvidia.com/gpu", 8'000);
  group.requests.add("cpu", 1'500);
  group.name = "g1";
  group.count = 2;
  group.is_all_or_none = true;
  return group;
}

TEST(NodeClaim, EqualsAClaimOfKarpenter) {
  EXPECT_EQ(
      claim_body(group(), 1),
      R"({"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"annotations":{)"
      R"("capstan.dev/claim-group-size":"2","capstan.dev/claim-together":"true","karpenter.sh/do-not-disrupt":"true",)"
      R"("karpenter.sh/nodepool-hash":"12","karpenter.sh/nodepool-hash-version":"v3"},)"
      R"("labels":{"capstan.dev/claim-group":"g1","karpenter.sh/nodepool":"h100","team":"serving"},"name":"h100-g1-1",)"
      R"("ownerReferences":[{"apiVersion":"karpenter.sh/v1","blockOwnerDeletion":true,"kind":"NodePool","name":"h100",)"
      R"("uid":"pool-uid"}]},"spec":{"expireAfter":"Never","nodeClassRef":{"group":"karpenter.k8s.aws",)"
      R"("kind":"EC2NodeClass","name":"gpu"},"requirements":[{"key":"karpenter.sh/nodepool","operator":"In",)"
      R"("values":["h100"]},{"key":"node.kubernetes.io/instance-type","operator":"In","values":["p5.48xlarge"]},)"
      R"({"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]},{"key":"kubernetes.io/arch",)"
      R"("operator":"In","values":["amd64"]},{"key":"example.com/old","operator":"DoesNotExist"}],)"
      R"("resources":{"requests":{"cpu":"1500m","nvidia.com/gpu":"8"}},)"
      R"("taints":[{"effect":"NoSchedule","key":"nvidia.com/gpu"}]}})");
}

TEST(NodeClaim, MayBeDisruptedWithoutAGang) {
  ClaimGroup plain = group();
  plain.is_all_or_none = false;
  EXPECT_FALSE(claim_body(plain, 0).contains("do-not-disrupt"));
}

TEST(NodeClaim, NamesFitIntoALabel) {
  ClaimGroup long_one = group();
  long_one.pool.meta.name = std::string(57, 'p') + "-.q";
  EXPECT_EQ(claim_name(long_one, 10), std::string(57, 'p') + "-g1-10");
  EXPECT_LE(claim_name(long_one, 10).size(), 63u);
}

}  // namespace
}  // namespace capstan::actuate
