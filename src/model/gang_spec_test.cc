#include "model/gang_spec.h"

#include <gtest/gtest.h>

namespace capstan::model {
namespace {

TEST(GangSpec, NeedsAllPodsUnlessFewerAreStated) {
  PodSet pods{.gpu = {0}, .count = 8, .gpus_per_pod = whole_gpus(1)};
  EXPECT_EQ(pods.needed(), 8);
  pods.minimum = 3;
  EXPECT_EQ(pods.needed(), 3);
}

}  // namespace
}  // namespace capstan::model
