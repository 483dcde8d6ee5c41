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

TEST(GangSpec, SumsItsPodSets) {
  GangSpec spec;
  spec.pods = {.gpu = {0}, .count = 4, .gpus_per_pod = whole_gpus(8)};
  EXPECT_EQ(spec.sets(), 1u);
  spec.other_pods = {{.gpu = {0}, .count = 1, .gpus_per_pod = {}, .minimum = 1},
                     {.gpu = {0}, .count = 3, .gpus_per_pod = whole_gpus(1), .minimum = 2}};
  EXPECT_EQ(spec.sets(), 3u);
  EXPECT_EQ(spec.count(), 8);
  EXPECT_EQ(spec.needed(), 4 + 1 + 2);
  EXPECT_EQ(spec.gpus(), whole_gpus(35));
  EXPECT_EQ(spec.set(2).count, 3);
  EXPECT_EQ(spec.set(7).count, 4) << "an unknown number stands for the first set";
}

}  // namespace
}  // namespace capstan::model
