#include "lint/testing/cases.h"

// Tests of the rules of node pools and of their node classes: severities of the same defect in different places.
namespace capstan::lint::pool_cases_test {
namespace {

using namespace testing_cases;

std::string node_class(const std::string& spec) {
  return "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gpu}\nspec: {" + spec + "}\n";
}

/// Returns a pool of GPU nodes with these limits and these fields of its nodes.
std::string gpu_pool(const std::string& node = "", const std::string& limits = "nvidia.com/gpu: 8",
                     const std::string& metadata = "") {
  return "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {limits: {" + limits +
         "}, template: {metadata: {" + metadata + "}, spec: {" + node +
         "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}, requirements: [{key: "
         "karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}]}}}\n";
}

TEST(PoolCases, ALargeVolumeWithoutRaisedIopsIsAdvice) {
  const auto volume = [](const std::string& iops) {
    const std::string ebs = "ebs: {volumeType: gp3, volumeSize: 500Gi" + iops + "}";
    return found(node_class("blockDeviceMappings: [{" + ebs + "}]") + gpu_pool(), "gp3-throughput-unset");
  };
  EXPECT_EQ(volume(""), "info");
  EXPECT_EQ(volume(", iops: 16000"), "warning");
  EXPECT_EQ(volume(", iops: 16000, throughput: 1000"), "none");
}

TEST(PoolCases, TheLatestImageIsAdviceForNodesThatExpireWithinADay) {
  const auto pool = [](const std::string& node) {
    return found(node_class("amiSelectorTerms: [{alias: al2023@latest}]") + gpu_pool(node), "ami-latest-alias");
  };
  EXPECT_EQ(pool(""), "warning");
  EXPECT_EQ(pool("expireAfter: 720h, "), "warning");
  EXPECT_EQ(pool("expireAfter: 4h, "), "info");
}

TEST(PoolCases, AmazonLinux2IsAdviceIfTheImagesAreChosen) {
  const auto older = [](const std::string& selector) {
    return found(
        "apiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: a}\nspec: {amiFamily: "
        "AL2" +
            selector + "}\n",
        "ami-al2-eol");
  };
  EXPECT_EQ(older(""), "error");
  EXPECT_EQ(older(", amiSelector: {aws-ids: ami-123}"), "info");
}

TEST(PoolCases, AVersionThatNoReleaseHadIsAnError) {
  const auto pool = [](const std::string& version, const std::string& kind) {
    return found("apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: a}\nspec: {}\n",
                 "karpenter-api-removed");
  };
  EXPECT_EQ(pool("karpenter.sh/v1beta1", "Provisioner"), "error");
  EXPECT_EQ(pool("karpenter.k8s.aws/v1", "AWSNodeTemplate"), "error");
  EXPECT_EQ(pool("karpenter.sh/v1", "NodePool"), "none");
}

TEST(PoolCases, ALimitOnAResourceThatNoNodeHasIsNoLimit) {
  const auto limits = [](const std::string& text) { return found(gpu_pool("", text), "gpu-pool-no-gpu-limit"); };
  EXPECT_EQ(limits("nvidia.com/gpu: 8"), "none");
  EXPECT_EQ(limits("gpu: 8"), "warning");
  EXPECT_EQ(limits("nodes: 4"), "none");
}

TEST(PoolCases, LabelsOfKarpenterAreRefused) {
  const auto labels = [](const std::string& text) {
    return found(gpu_pool("", "nodes: 4", "labels: {" + text + "}"), "pool-label-restricted");
  };
  EXPECT_EQ(labels("karpenter.sh/nodepool: gpu"), "error");
  EXPECT_EQ(labels("karpenter.sh/gpu: yes"), "error");
  EXPECT_EQ(labels("kubernetes.io/hostname: a"), "error");
  EXPECT_EQ(labels("karpenter.sh/capacity-type: spot"), "none");
  EXPECT_EQ(labels("karpenter.k8s.aws/instance-family: g6e"), "none");
  EXPECT_EQ(labels("team: chat"), "none");
}

}  // namespace
}  // namespace capstan::lint::pool_cases_test
