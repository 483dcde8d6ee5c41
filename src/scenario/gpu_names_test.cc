// Goal: all spellings of a kind of GPU mean the same kind.
#include "scenario/gpu_names.h"

#include <gtest/gtest.h>

namespace capstan::scenario {
namespace {

TEST(GpuNames, EverySpellingIsOneKind) {
  const engine::EngineTable& engines = engine::EngineTable::bundled();
  model::Catalog catalog;
  catalog.gpu_kinds = {"P100"};
  EXPECT_EQ(gpu_name(engines, catalog, "H100"), "h100_sxm");
  EXPECT_EQ(gpu_name(engines, catalog, "NVIDIA-H100-80GB-HBM3"), "h100_sxm");
  EXPECT_EQ(gpu_name(engines, catalog, "T4"), "t4") << "the name of data/instances.csv";
  EXPECT_EQ(gpu_name(engines, catalog, "p100"), "P100") << "the name that the scenario used first";
  EXPECT_EQ(gpu_name(engines, catalog, "G2"), "G2");
  EXPECT_TRUE(is_known_gpu(engines, "t4"));
  EXPECT_FALSE(is_known_gpu(engines, "P100"));
}

}  // namespace
}  // namespace capstan::scenario
