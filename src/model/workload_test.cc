#include "model/workload.h"

#include <gtest/gtest.h>

namespace capstan::model {
namespace {

TEST(Workload, DividesTheGpusOfAReplicaAmongItsPods) {
  const struct {
    std::int32_t tensor_parallel;
    std::int32_t pods;
    std::int64_t milli_per_pod;
  } rows[] = {{8, 1, 8'000}, {16, 2, 8'000}, {1, 4, 250}, {1, 2'000, 1}};
  for (const auto& row : rows) {
    Workload workload;
    workload.gpu = {2};
    workload.pod_class = {5};
    workload.tensor_parallel = row.tensor_parallel;
    workload.pods = row.pods;
    workload.required_level = TopologyLevel::rack;
    const GangSpec expected{
        .pods = {.gpu = {2}, .count = row.pods, .gpus_per_pod = {row.milli_per_pod}, .pod_class = {5}, .minimum = 0},
        .required_level = TopologyLevel::rack};
    EXPECT_EQ(workload.gang(), expected) << row.tensor_parallel << " GPUs on " << row.pods << " pods";
  }
}

}  // namespace
}  // namespace capstan::model
