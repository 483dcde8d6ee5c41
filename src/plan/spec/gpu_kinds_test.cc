#include "plan/spec/gpu_kinds.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(KnownGpuKinds, NameTheNearestInMemory) {
  const engine::EngineTable& table = engine::EngineTable::bundled();
  for (const std::string_view name : {"T4", "t4", "nvidia-t4"}) {
    const std::string words = known_gpu_kinds(table, name);
    EXPECT_TRUE(words.starts_with("the engine table has A100 (80 GiB), L40S (48 GiB), ")) << words;
    EXPECT_TRUE(words.ends_with("; the nearest to the 16 GiB of " + std::string(name) + " is L40S")) << words;
  }
}

TEST(KnownGpuKinds, NameNoNearestOfAKindThatNoInstanceHas) {
  const std::string words = known_gpu_kinds(engine::EngineTable::bundled(), "Z900");
  EXPECT_TRUE(words.starts_with("the engine table has A100 (80 GiB), ")) << words;
  EXPECT_EQ(words.find("nearest"), words.npos) << words;
}

}  // namespace
}  // namespace capstan::plan
