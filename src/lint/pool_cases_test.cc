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
  EXPECT_EQ(found(node_class("blockDeviceMappings: [{ebs: {volumeType: gp3, volumeSize: 500Gi, iops: 16000}}]"),
                  "gp3-throughput-unset"),
            "info")
      << "no GPU pool of the input has these volumes";
  EXPECT_EQ(volume(", iops: 16000, throughput: 1000"), "none");
}

TEST(PoolCases, AnInstanceTypeThatTheCatalogueLacksIsAdvice) {
  const auto types = [](const std::string& values) {
    const std::string pool =
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {template: {spec: {requirements: "
        "[{key: node.kubernetes.io/instance-type, operator: In, values: [" +
        values + "]}]}}}\n";
    Options options;
    options.advice = true;
    std::string messages;
    for (const Finding& finding : lint_texts({{"a.yaml", pool}}, options).findings) {
      if (finding.rule->id == "instance-type-unknown") messages += finding.message + "\n";
    }
    return messages;
  };
  EXPECT_EQ(
      types("p5.84xlarge, p5.48xlarge"),
      "the catalogue has no instance type p5.84xlarge (did you mean p5.4xlarge or p5.48xlarge?); if the cloud does not "
      "sell it, pool gpu never launches it\n");
  EXPECT_NE(types("p9.48xlarge"), "") << "no family of this name";
  EXPECT_NE(types("Standard_ND96isr_H100_v6"), "");
  EXPECT_EQ(types("Standard_ND96isr_H100_v5, g6e.xlarge"), "");
  EXPECT_EQ(types("m7i.large, c7g.xlarge, inf2.xlarge, trn1.2xlarge"), "") << "the catalogue has types with GPUs only";
  EXPECT_EQ(types("g4ad.xlarge, p2.xlarge, p3.2xlarge"), "") << "AMD's GPUs, and families that it leaves out";
  EXPECT_EQ(types("'${TYPE}'"), "");
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
  EXPECT_EQ(older(", userData: 'echo hello'"), "error") << "user data does not change the image";
  EXPECT_EQ(older(" # this K3s cluster is self-managed\n"), "info");
  EXPECT_EQ(older(", userData: 'kubeadm join a'"), "info");
  const std::string alias = node_class("amiSelectorTerms: [{alias: al2@latest}]");
  EXPECT_EQ(found(alias, "ami-al2-eol"), "error");
  EXPECT_EQ(found("# RKE2\n" + alias, "ami-al2-eol"), "info");
}

TEST(PoolCases, FamiliesWithoutAnyTypeGiveNoNumberOfGpus) {
  const auto message = [](const std::string& families) {
    const Report report =
        lint_texts({{"a.yaml",
                     "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {limits: {cpu: 5000}, "
                     "template: {spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}], requirements: [{key: "
                     "karpenter.k8s.aws/instance-family, operator: In, values: [" +
                         families + "]}]}}}\n"}},
                   Options{});
    const auto first = std::ranges::find_if(
        report.findings, [](const Finding& finding) { return finding.rule->id == "gpu-pool-no-gpu-limit"; });
    return first == report.findings.end() ? std::string() : first->message;
  };
  EXPECT_EQ(message("g5"), "GPU pool gpu has no limit on its GPUs, and its CPU limit allows up to 1250 of them");
  EXPECT_EQ(message("p, g"), "GPU pool gpu has no limit on its GPUs, and only one on its CPU");
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

TEST(PoolCases, AnotherGpuPoolMayHaveTheBaseLoad) {
  const std::string spot = gpu_pool("", "nvidia.com/gpu: 8", "labels: {workload: online}");
  std::string with_spot = spot;
  const std::string requirement = "{key: karpenter.sh/capacity-type, operator: In, values: [spot]}, ";
  with_spot.insert(with_spot.find("{key: karpenter.k8s.aws"), requirement);
  EXPECT_EQ(found(with_spot, "spot-slo-critical"), "warning");
  std::string other = gpu_pool();
  other.replace(other.find("name: gpu"), 9, "name: base");
  EXPECT_EQ(found(with_spot + other, "spot-slo-critical"), "info");
}

TEST(PoolCases, NodesThatExpireWaitForPodsThatMustNotBeDisrupted) {
  std::string pod = server("image: 'a:1'");
  const auto expire = [&](const std::string& node, const std::string& annotation) {
    std::string safe = pod;
    safe.insert(safe.find("labels: {a: b}}, spec"),
                "annotations: {karpenter.sh/do-not-disrupt: '" + annotation + "'}, ");
    return found(gpu_pool(node) + "---\n" + safe, "expire-without-tgp");
  };
  EXPECT_EQ(expire("expireAfter: 168h, ", "true"), "warning");
  EXPECT_EQ(expire("expireAfter: 168h, ", "false"), "none");
  EXPECT_EQ(expire("", "true"), "info") << "the author may not want nodes to expire";
  EXPECT_EQ(expire("expireAfter: 168h, terminationGracePeriod: 1h, ", "true"), "none");
}

TEST(PoolCases, ARolloutNeedsNoMoreGpusIfItDeletesFirst) {
  const auto rollout = [](const std::string& replicas, const std::string& strategy = "") {
    std::string text = server("image: 'a:1'");
    text.insert(text.find("selector:"), "replicas: " + replicas + ", " + strategy);
    return found(gpu_pool("", "nvidia.com/gpu: " + replicas) + "---\n" + text, "rollout-surge-needs-gpu");
  };
  EXPECT_EQ(rollout("2"), "warning");
  EXPECT_EQ(rollout("3"), "warning") << "25 % of 3 is rounded down to 0";
  EXPECT_EQ(rollout("4"), "none") << "one may be deleted first";
  EXPECT_EQ(rollout("8", "strategy: {rollingUpdate: {maxUnavailable: 0}}, "), "warning");
  EXPECT_EQ(rollout("2", "strategy: {rollingUpdate: {maxUnavailable: 1}}, "), "none");
  EXPECT_EQ(rollout("2", "strategy: {rollingUpdate: {maxUnavailable: 50%}}, "), "none");
}

TEST(PoolCases, APoolBelowTheMinimumLeavesReplicasPending) {
  const auto scaled = [](const std::string& min, const std::string& limit) {
    return found(
        gpu_pool("", "nvidia.com/gpu: " + limit) + "---\n" + server("image: 'a:1'") +
            "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: "
            "{name: llama-70b}, minReplicaCount: " +
            min + ", maxReplicaCount: 9}\n",
        "max-replicas-exceed-capacity");
  };
  EXPECT_EQ(scaled("4", "2"), "warning");
  EXPECT_EQ(scaled("1", "2"), "info") << "the limit may be meant as a bound";
  EXPECT_EQ(scaled("1", "9"), "none");
}

/// Returns a pool with one requirement and with these limits.
std::string pool_with(const std::string& requirement, const std::string& limits = "", const std::string& api = "v1") {
  return "apiVersion: karpenter.sh/" + api + "\nkind: NodePool\nmetadata: {name: a}\nspec: {limits: {" + limits +
         "}, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, requirements: "
         "[{" +
         requirement + "}]}}}\n";
}

TEST(PoolCases, ANodeClassNeedsARoleAndSelectors) {
  const std::string terms = "subnetSelectorTerms: [{id: a}], securityGroupSelectorTerms: [{id: b}]";
  EXPECT_EQ(found(node_class("role: r, " + terms), "ec2nodeclass-incomplete"), "none");
  EXPECT_EQ(found(node_class("instanceProfile: p, " + terms), "ec2nodeclass-incomplete"), "none");
  EXPECT_EQ(found(node_class(terms), "ec2nodeclass-incomplete"), "error");
  EXPECT_EQ(found(node_class("role: r, subnetSelectorTerms: [{id: a}]"), "ec2nodeclass-incomplete"), "error");
  EXPECT_EQ(found(node_class("tags: {a: b}"), "ec2nodeclass-incomplete"), "none") << "a patch of another object";
  const std::string old = node_class("role: r, subnetSelector: {a: b}, securityGroupSelectorTerms: [{id: b}]");
  EXPECT_EQ(found(old, "ec2nodeclass-incomplete"), "none") << "pool-field-unknown reports the field";
  std::string beta = old;
  EXPECT_EQ(found(beta.replace(beta.find("/v1"), 3, "/v1beta1"), "ec2nodeclass-incomplete"), "error");
}

TEST(PoolCases, AProvisionerNeedsAProvider) {
  const auto provisioner = [](const std::string& fields, const std::string& api = "v1alpha5") {
    return found("apiVersion: karpenter.sh/" + api +
                     "\nkind: Provisioner\nmetadata: {name: a}\nspec: {requirements: "
                     "[{key: a, operator: Exists}]" +
                     fields + "}\n",
                 "provisioner-no-provider");
  };
  EXPECT_EQ(provisioner(""), "error");
  EXPECT_EQ(provisioner(", providerRef: {name: a}"), "none");
  EXPECT_EQ(provisioner(", provider: {subnetSelector: {a: b}}"), "none");
  EXPECT_EQ(provisioner("", "v1"), "none") << "this API never existed";
}

TEST(PoolCases, ARequirementNamesValuesThatNodesHave) {
  struct Row {
    const char* key;
    const char* values;
    std::string_view severity;
  };
  for (const Row& row : {
           Row{"karpenter.k8s.aws/instance-category", "c7, m7", "error"},
           Row{"karpenter.k8s.aws/instance-category", "c7, m", "warning"},
           Row{"karpenter.k8s.aws/instance-category", "c, m", "none"},
           Row{"karpenter.k8s.aws/instance-category", "'${CATEGORY1}'", "none"},
           Row{"karpenter.k8s.aws/instance-generation", "c7", "error"},
           Row{"karpenter.k8s.aws/instance-generation", "'7'", "none"},
           Row{"karpenter.k8s.aws/instance-memory", "16Gi", "error"},
           Row{"karpenter.k8s.aws/instance-family", "g6e.xlarge", "error"},
           Row{"karpenter.k8s.aws/instance-family", "g6e", "none"},
           Row{"karpenter.k8s.aws/instance-size", "metal-24xl", "none"},
           Row{"node.kubernetes.io/instance-type", "p4d", "error"},
           Row{"node.kubernetes.io/instance-type", "p4d.24xlarge", "none"},
           Row{"karpenter.sh/capacity-type", "onDemand", "error"},
           Row{"karpenter.sh/capacity-type", "on-demand, spot, reserved", "none"},
           Row{"kubernetes.io/arch", "x86_64", "error"},
           Row{"kubernetes.io/arch", "amd64", "none"},
           Row{"example.com/size", "c7", "none"},
           Row{"example.com/size", "", "error"},
       }) {
    const std::string requirement = std::string("key: ") + row.key + ", operator: In, values: [" + row.values + "]";
    EXPECT_EQ(found(pool_with(requirement), "requirement-never-matches"), row.severity) << row.key << row.values;
  }
  EXPECT_EQ(found(pool_with("key: a, operator: Gt, values: ['1.25']"), "requirement-never-matches"), "error");
  EXPECT_EQ(found(pool_with("key: a, operator: Gt, values: ['1']"), "requirement-never-matches"), "none");
  EXPECT_EQ(found(pool_with("key: karpenter.k8s.aws/instance-category, operator: NotIn, values: [c7]"),
                  "requirement-never-matches"),
            "none");
}

TEST(PoolCases, ARequirementNamesLabelsThatKarpenterAllows) {
  const auto label = [](const std::string& key, const std::string& api) {
    return found(pool_with("key: " + key + ", operator: Exists", "", api), "pool-label-restricted");
  };
  EXPECT_EQ(label("kubernetes.io/version", "v1beta1"), "error");
  EXPECT_EQ(label("kubernetes.io/version", "v1"), "none") << "later versions of Karpenter accept it";
  EXPECT_EQ(label("k8s.io/a", "v1beta1"), "error");
  EXPECT_EQ(label("kubernetes.io/arch", "v1beta1"), "none");
  EXPECT_EQ(label("node.kubernetes.io/instance-type", "v1beta1"), "none");
  EXPECT_EQ(label("node-restriction.kubernetes.io/a", "v1beta1"), "none");
  EXPECT_EQ(label("kops.k8s.io/instancegroup", "v1beta1"), "none");
  EXPECT_EQ(label("karpenter.k8s.aws/instance-type", "v1"), "error");
  EXPECT_EQ(label("karpenter.k8s.aws/instance-familly", "v1"), "error");
  EXPECT_EQ(label("karpenter.k8s.aws/instance-gpu-name", "v1"), "none");
  EXPECT_EQ(label("karpenter.k8s.aws/something-new", "v1"), "none") << "a later version may have it";
}

TEST(PoolCases, ALimitHasRoomForOneNode) {
  const auto limit = [](const std::string& limits, const std::string& requirement) {
    return found(pool_with(requirement, limits), "pool-limit-below-node");
  };
  const std::string any = "key: kubernetes.io/arch, operator: In, values: [amd64]";
  EXPECT_EQ(limit("cpu: 500m", any), "error");
  EXPECT_EQ(limit("cpu: 1000m", any), "none") << "t2.micro has one CPU";
  EXPECT_EQ(limit("cpu: 0", any), "none") << "a pool that is turned off";
  EXPECT_EQ(limit("memory: 100Mi", any), "error");
  EXPECT_EQ(limit("cpu: 100, memory: 400Gi", any), "none");
  const std::string large =
      "key: karpenter.k8s.aws/instance-size, operator: NotIn, values: [nano, micro, small, medium]";
  EXPECT_EQ(limit("cpu: 1000m", large), "error");
  EXPECT_EQ(limit("memory: 1000Mi", large), "error");
  EXPECT_EQ(limit("cpu: 2, memory: 4Gi", large), "none");
  const std::string p4d = "key: karpenter.k8s.aws/instance-family, operator: In, values: [p4d]";
  EXPECT_EQ(limit("cpu: 95", p4d), "error");
  EXPECT_EQ(limit("nvidia.com/gpu: 4", p4d), "error");
  EXPECT_EQ(limit("cpu: 96, nvidia.com/gpu: 8", p4d), "none");
  EXPECT_EQ(limit("nvidia.com/gpu: 4", "key: karpenter.k8s.aws/instance-family, operator: In, values: [p4d, g5]"),
            "none");
  const std::string type = "key: node.kubernetes.io/instance-type, operator: In, values: [g5.12xlarge]";
  EXPECT_EQ(limit("cpu: 40", type), "error");
  EXPECT_EQ(limit("cpu: 48", type), "none");
}

TEST(PoolCases, AnEmptyNodeStaysTenMinutes) {
  const auto pool = [](const std::string& policy, const std::string& after) {
    return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: gpu}\nspec: {limits: {nvidia.com/gpu: 8}, "
           "disruption: {consolidationPolicy: " +
           policy + (after.empty() ? "" : ", consolidateAfter: " + after) + "}}\n";
  };
  struct Row {
    const char* after;
    std::string_view severity;
  };
  for (const Row& row : {Row{"30s", "info"}, Row{"5m", "info"}, Row{"9m59s", "info"}, Row{"10m", "none"},
                         Row{"30m", "none"}, Row{"1h", "none"}, Row{"Never", "none"}, Row{"", "info"}}) {
    EXPECT_EQ(found(pool("WhenEmpty", row.after), "gpu-consolidate-after-short"), row.severity) << row.after;
  }
  const auto message = [&](const std::string& after) {
    Options options;
    options.advice = true;
    const Report report = lint_texts({{"a.yaml", pool("WhenEmpty", after)}}, options);
    const auto first = std::ranges::find_if(
        report.findings, [](const Finding& finding) { return finding.rule->id == "gpu-consolidate-after-short"; });
    return first == report.findings.end() ? "" : first->message + ": " + std::string(first->fix_text());
  };
  EXPECT_EQ(message("300s"), "an empty GPU node is terminated after 5 min: set consolidateAfter to 1h");
  EXPECT_EQ(message(""), "an empty GPU node is terminated at once: add consolidateAfter: 1h");
}

}  // namespace
}  // namespace capstan::lint::pool_cases_test
