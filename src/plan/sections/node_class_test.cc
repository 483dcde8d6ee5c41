#include "plan/sections/node_class.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace capstan::plan
