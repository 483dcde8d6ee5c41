#include "plan/pools/cluster_autoscaler.h"

#include <gtest/gtest.h>

#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

TEST(PlanClusterAutoscaler, AGroupForEachZoneHoldsAPartOfTheMinimum) {
  const testing::SamplePlan plan = testing::batch_plan();  // 1 to 3 nodes, the two above the minimum as spot
  const std::vector<Manifest> files = node_groups(plan.spec, gpu_pools(plan.facts()));
  ASSERT_EQ(files.size(), 3U);
  const std::vector<Yaml>& groups = files[0].body.find("managedNodeGroups")->elements();
  struct Row {
    std::string name, minimum, maximum;
  };
  std::vector<Row> rows = {
      {"l40s-a", "1", "2"}, {"l40s-spot-a", "0", "2"}, {"l40s-b", "0", "2"}, {"l40s-spot-b", "0", "2"}};
  ASSERT_EQ(groups.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(groups[i].find("name")->text(), rows[i].name);
    EXPECT_EQ(groups[i].find("minSize")->text(), rows[i].minimum) << rows[i].name;
    EXPECT_EQ(groups[i].find("maxSize")->text(), rows[i].maximum) << rows[i].name;
  }
  const Yaml& tags = *groups[0].find("tags");
  EXPECT_EQ(tags.find("k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu")->text(), "8")
      << "two pods share each of the 4 GPUs";
  EXPECT_EQ(groups[0].find("volumeSize")->text(), "200");  // images and weights are on the NVMe disks of a g6e
  EXPECT_EQ(tags.find("k8s.io/cluster-autoscaler/node-template/label/capstan.dev/pool")->text(), "l40s");
}

/// Returns the value of a flag of the Cluster Autoscaler; empty if it is not set.
std::string flag_value(const std::vector<Manifest>& files, std::string_view flag) {
  const Yaml* found = files[1].body.find("extraArgs")->find(flag);
  return found == nullptr ? std::string() : found->text();
}

TEST(PlanClusterAutoscaler, AllZonesTogetherKeepTheLimit) {
  testing::SamplePlan plan =
      testing::chat_plan();  // 2 to 6 nodes with 8 GPUs, 2 of them as spot, and 1 to replace a node of a lost zone
  const std::vector<Manifest> files = node_groups(plan.spec, gpu_pools(plan.facts()));
  EXPECT_EQ(flag_value(files, "gpu-total_1"), "h100:0:40");
  EXPECT_EQ(flag_value(files, "gpu-total_2"), "h100-spot:0:16");
  for (const Yaml& group : files[0].body.find("managedNodeGroups")->elements()) {
    const std::string kind = group.find("spot") == nullptr ? "h100" : "h100-spot";
    EXPECT_EQ(group.find("labels")->find("k8s.amazonaws.com/accelerator")->text(), kind);
    EXPECT_EQ(
        group.find("tags")->find("k8s.io/cluster-autoscaler/node-template/label/k8s.amazonaws.com/accelerator")->text(),
        kind);
  }
}

TEST(PlanClusterAutoscaler, ZonesDivideNodesWhoseSlicesItCannotCount) {
  const testing::SamplePlan plan = testing::sliced_plan();
  const std::vector<GpuPool> pools = gpu_pools(plan.facts());
  const std::vector<Manifest> files = node_groups(plan.spec, pools);
  EXPECT_EQ(flag_value(files, "gpu-total_1"), "h100:0:7");
  EXPECT_EQ(flag_value(files, "gpu-total_2"), "");
  std::int64_t maximum = 0;
  for (const Yaml& group : files[0].body.find("managedNodeGroups")->elements()) {
    if (!group.find("name")->text().starts_with("h100-3g-40gb")) continue;
    EXPECT_EQ(group.find("labels")->find("k8s.amazonaws.com/accelerator"), nullptr);
    maximum += std::stoll(group.find("maxSize")->text());
  }
  EXPECT_EQ(maximum, pools[1].limit_nodes());
}

TEST(PlanClusterAutoscaler, TheExpanderAsksTheBaseFirst) {
  const testing::SamplePlan plan = testing::batch_plan();
  const std::vector<Manifest> files = node_groups(plan.spec, gpu_pools(plan.facts()));
  EXPECT_EQ(files[2].body.find("metadata")->find("name")->text(), "cluster-autoscaler-priority-expander");
  EXPECT_EQ(files[2].body.find("data")->find("priorities")->text(),
            "50:\n- ^eks-l40s-a-.*\n- ^eks-l40s-b-.*\n10:\n- ^eks-l40s-spot-a-.*\n- ^eks-l40s-spot-b-.*\n");
}

TEST(PlanClusterAutoscaler, GkeHasNodePoolsByCommand) {
  const testing::SamplePlan plan = testing::gke_plan();
  const std::vector<std::string> commands = gke_node_pools(plan.spec, gpu_pools(plan.facts()));
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(
      commands[0],
      "gcloud container node-pools create h100 --cluster gpu-cluster --region us-central1 --node-locations "
      "us-central1-a,us-central1-b --machine-type a3-highgpu-8g --accelerator "
      "type=nvidia-h100-80gb,count=8,gpu-driver-version=latest --disk-size 1000 --num-nodes 0 --enable-autoscaling "
      "--total-min-nodes 1 "
      "--total-max-nodes 3 --location-policy BALANCED --node-labels capstan.dev/pool=h100 --node-taints "
      "nvidia.com/gpu=present:NoSchedule");
  EXPECT_TRUE(commands[1].ends_with(" --spot")) << commands[1];
  EXPECT_NE(commands[1].find(" --num-nodes 0 "), std::string::npos) << commands[1];
}

TEST(PlanClusterAutoscaler, GkeStartsWithTheNodesOfTheMinimum) {
  testing::SamplePlan plan = testing::gke_plan();
  plan.services[0].roles[0].minimum = 10;  // 5 nodes in two zones
  plan.services[0].roles[0].maximum = 12;
  const std::string command = gke_node_pools(plan.spec, gpu_pools(plan.facts())).front();
  EXPECT_NE(command.find(" --num-nodes 2 "), std::string::npos) << "gcloud counts for each zone: " << command;
}

TEST(PlanClusterAutoscaler, GkeSharesGpusByMps) {
  testing::SamplePlan plan = testing::batch_plan();
  plan.spec.cluster.cloud = Cloud::gcp;
  plan.services[0].roles[0].machine.gpu = "l4";
  const std::string command = gke_node_pools(plan.spec, gpu_pools(plan.facts())).front();
  EXPECT_NE(command.find(",gpu-sharing-strategy=mps,max-shared-clients-per-gpu=2 "), std::string::npos) << command;
}

TEST(PlanClusterAutoscaler, AksHasNodePoolsByCommand) {
  const testing::SamplePlan plan = testing::azure_plan();
  EXPECT_EQ(aks_node_pools(plan.spec, gpu_pools(plan.facts())),
            std::vector<std::string>{
                "az aks nodepool add --resource-group \"$RESOURCE_GROUP\" --cluster-name gpu-cluster --name h100 "
                "--node-vm-size Standard_ND96isr_H100_v5 --node-osdisk-size 1000 --zones 1 2 "
                "--node-count 1 --enable-cluster-autoscaler --min-count 1 "
                "--max-count 5 --labels capstan.dev/pool=h100 --node-taints nvidia.com/gpu=present:NoSchedule"});
}

TEST(PlanClusterAutoscaler, NodesThatShareGpusHaveTheLabelOfTheDevicePlugin) {
  const testing::SamplePlan plan = testing::batch_plan();
  const std::vector<GpuPool> pools = gpu_pools(plan.facts());
  const std::string label = "nvidia.com/device-plugin.config=l40s-mps";
  EXPECT_NE(aks_node_pools(plan.spec, pools).front().find(" " + label + " "), std::string::npos);
  EXPECT_TRUE(label_nodes(plan.spec, pools)[1].ends_with(label)) << label_nodes(plan.spec, pools)[1];
  const std::vector<Manifest> files = node_groups(plan.spec, pools);
  const Yaml& group = files[0].body.find("managedNodeGroups")->elements().front();
  EXPECT_EQ(group.find("labels")->find("nvidia.com/device-plugin.config")->text(), "l40s-mps");
}

TEST(PlanClusterAutoscaler, NodesThatExistAreLabelled) {
  const testing::SamplePlan plan = testing::chat_plan();
  EXPECT_EQ(label_nodes(plan.spec, gpu_pools(plan.facts())),
            (std::vector<std::string>{
                "kubectl label nodes --overwrite --selector node.kubernetes.io/instance-type=p5.48xlarge "
                "capstan.dev/pool=h100",
                "kubectl taint nodes --overwrite --selector node.kubernetes.io/instance-type=p5.48xlarge "
                "nvidia.com/gpu=present:NoSchedule"}));
}

TEST(PlanClusterAutoscaler, GkeNamesTheGpuOfAMachine) {
  EXPECT_EQ(gke_accelerator({.name = "a3-megagpu-8g", .gpu = "h100_sxm"}), "nvidia-h100-mega-80gb");
  EXPECT_EQ(gke_accelerator({.name = "a2-highgpu-1g", .gpu = "a100_sxm_40g"}), "nvidia-tesla-a100");
  EXPECT_EQ(gke_accelerator({.name = "g2-standard-4", .gpu = "l4"}), "nvidia-l4");
  EXPECT_EQ(gke_accelerator({.name = "x", .gpu = "mi300x"}), "");
}

}  // namespace
}  // namespace capstan::plan
