#include "plan/pools/node_class.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

GpuPool pool_with(const char* machine) {
  return {.name = "h100", .gpu = "h100_sxm", .machines = {{.name = machine, .gpus = 8}}};
}

TEST(PlanNodeClass, ImagesAndWeightsAreOnLocalDisksWhereTheMachineHasSome) {
  const PlanSpec spec = testing::chat_plan().spec;
  const Manifest with = ec2_node_class(spec, pool_with("p5.48xlarge"));
  EXPECT_EQ(with.body.find("spec")->find("instanceStorePolicy")->text(), "RAID0");
  EXPECT_TRUE(has_instance_store(pool_with("p3dn.24xlarge")));
  EXPECT_FALSE(has_instance_store(pool_with("g5g.xlarge"))) << "its weights lie on the root volume, in the same path";
  const Manifest without = ec2_node_class(spec, pool_with("p3.16xlarge"));
  EXPECT_EQ(without.body.find("spec")->find("instanceStorePolicy"), nullptr);
  const Yaml& disk = without.body.find("spec")->find("blockDeviceMappings")->elements().front();
  EXPECT_EQ(disk.find("ebs")->find("volumeSize")->text(), "1000Gi");
  EXPECT_EQ(disk.find("ebs")->find("throughput")->text(), "1000");
}

TEST(PlanNodeClass, ReservationsAreFoundByTheirTag) {
  const auto terms = [](const PlanSpec& spec) {
    return ec2_node_class(spec, pool_with("p5.48xlarge")).body.find("spec")->find("capacityReservationSelectorTerms") !=
           nullptr;
  };
  EXPECT_FALSE(terms(testing::chat_plan().spec));
  EXPECT_TRUE(terms(testing::disaggregated_plan().spec));
}

TEST(PlanNodeClass, AzureHasAClassOfItsOwn) {
  const Manifest made = aks_node_class(pool_with("Standard_ND96isr_H100_v5"));
  EXPECT_EQ(made.body.find("kind")->text(), "AKSNodeClass");
  EXPECT_EQ(made.body.find("spec")->find("osDiskSizeGB")->text(), "1000");
}

/// The API server of the end-to-end tests has no definition of AKSNodeClass, so its rules for the fields that the plan
/// writes stand here (karpenter.azure.com/v1beta1 of karpenter-provider-azure).
TEST(PlanNodeClass, TheFieldsOfAzureAreThoseOfItsDefinition) {
  const Manifest made = aks_node_class(pool_with("Standard_ND96isr_H100_v5"));
  EXPECT_EQ(made.body.find("apiVersion")->text(), "karpenter.azure.com/v1beta1");
  const Yaml& spec = *made.body.find("spec");
  std::set<std::string> fields;
  for (const auto& [key, value] : spec.entries()) fields.insert(key);
  EXPECT_EQ(fields, (std::set<std::string>{"imageFamily", "osDiskSizeGB", "tags"}));
  const std::set<std::string> families = {"Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"};
  EXPECT_TRUE(families.contains(std::string(spec.find("imageFamily")->text())));
  const int size = std::stoi(std::string(spec.find("osDiskSizeGB")->text()));
  EXPECT_TRUE(size >= 30 && size <= 2048) << size;
  for (const auto& [key, value] : spec.find("tags")->entries()) {
    EXPECT_EQ(key.find_first_of("<>%&?\\/"), key.npos) << key;
    EXPECT_LE(key.size(), 512U);
    EXPECT_LE(value.text().size(), 256U);
  }
}

}  // namespace
}  // namespace capstan::plan
