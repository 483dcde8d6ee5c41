#include "plan/against/reasons.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

Difference with_reason(std::string_view kind, Difference change) {
  add_reason(kind, change);
  return change;
}

TEST(Reasons, EveryChangeHasOne) {
  EXPECT_EQ(with_reason("Deployment", {.path = "spec.unknown"}).why, "to match the plan");
  EXPECT_EQ(with_reason("Deployment", {.path = "spec.template.metadata.labels.a"}).why,
            "the plan's queries, selectors and budgets find the pods by this label");
  EXPECT_EQ(with_reason("Deployment", {.path = "spec.unknown", .saving = {.removed_risk = "a risk"}}).why, "");
  EXPECT_EQ(with_reason("Deployment", {.path = "spec.unknown", .why = "the plan says so"}).why, "the plan says so");
}

TEST(Reasons, CautionsNameWhatComesFirst) {
  EXPECT_EQ(with_reason("Deployment", {.path = "spec.template.spec.priorityClassName"}).caution,
            "first apply the PriorityClass; pods that name an absent one are refused");
  EXPECT_EQ(with_reason("Deployment", {.path = "spec.template.spec.volumes.models", .found = Yaml::map({{"a", "b"}})})
                .caution,
            "the pods lose the files of the volume that they have");
  EXPECT_EQ(with_reason("Deployment", {.path = "spec.unknown"}).caution, "");
}

}  // namespace
}  // namespace capstan::plan
