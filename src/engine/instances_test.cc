#include "engine/instances.h"

#include <gtest/gtest.h>

namespace capstan::engine {
namespace {

TEST(Instances, EveryRowIsComplete) {
  EXPECT_GT(instances().size(), 50u);
  for (const Instance& row : instances()) {
    EXPECT_GT(row.gpus, 0) << row.name;
    EXPECT_FALSE(row.gpu.empty()) << row.name;
  }
}

TEST(Instances, AreFoundByTheirNames) {
  const Instance* found = find_instance("p5.48xlarge");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gpus, 8);
  EXPECT_EQ(found->vcpus, 192);
  EXPECT_EQ(find_instance("nothing"), nullptr);
}

}  // namespace
}  // namespace capstan::engine
