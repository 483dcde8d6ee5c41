#include "plan/spec/regions.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(Regions, AKnownRegionHasNoWarning) {
  EXPECT_EQ(unknown_region_words(Cloud::aws, "eu-central-1"), "");
  EXPECT_EQ(unknown_region_words(Cloud::gcp, "us-central1"), "");
  EXPECT_EQ(unknown_region_words(Cloud::azure, "eastus"), "");
  EXPECT_EQ(unknown_region_words(Cloud::on_premises, "basement"), "");
}

TEST(Regions, AnUnknownRegionIsAnsweredWithASimilarOne) {
  EXPECT_EQ(unknown_region_words(Cloud::aws, "us-west-9"),
            "us-west-9 is not one of the regions of AWS that Capstan knows (did you mean us-west-1?)");
  EXPECT_EQ(unknown_region_words(Cloud::azure, "atlantis"),
            "atlantis is not one of the regions of Azure that Capstan knows");
}

}  // namespace
}  // namespace capstan::plan
