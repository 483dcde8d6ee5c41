#include "scenario/sweep.h"

#include <gtest/gtest.h>

#include "manifest/yaml.h"

namespace capstan::scenario {
namespace {

std::string texts_of(const std::string& sweep) {
  const auto policy = manifest::parse("name: a\nscale: {policy: fixed, replicas: 1}\nsweep: " + sweep + "\n", "s.yaml");
  manifest::ErrorList errors;
  std::string text;
  for (const SweptPolicy& swept : expand(*policy, errors)) {
    const manifest::Node& scale = *swept.node.find("scale");
    text += (text.empty() ? "" : "; ") + swept.words + "=" + scale.find("replicas")->text;
    EXPECT_EQ(swept.node.find("sweep"), nullptr);
  }
  return errors.ok() ? text : errors.error->text();
}

TEST(Sweep, GivesThePolicyItselfAndEachCombination) {
  struct Row {
    std::string sweep, expected;
  };
  const Row rows[] = {
      {"null", "=1"},
      {"{scale.replicas: [2, 3]}", "=1; replicas 2=2; replicas 3=3"},
      {"{scale.replicas: [2], scale.period: [5s, 9s]}", "=1; replicas 2, period 5s=2; replicas 2, period 9s=2"},
      {"{scale.replicas: [2], place.replicas: [4]}", "=1; replicas 2, place.replicas 4=2"},
      {"[2]", "s.yaml:3:8: policies.sweep: found a list, expected a mapping of paths to lists of values"},
      {"{}", "s.yaml:3:8: policies.sweep: found no settings, expected a list of values for at least one"},
      {"{scale.replicas: 2}", "s.yaml:3:25: policies.sweep.scale.replicas: found \"2\", expected a list of values"},
      {"{scale.replicas: []}",
       "s.yaml:3:25: policies.sweep.scale.replicas: found an empty list, expected a list of values"},
  };
  for (const Row& row : rows) EXPECT_EQ(texts_of(row.sweep), row.expected) << row.sweep;
}

TEST(Sweep, RefusesMoreThanAThousandCombinations) {
  std::string values = "[1";
  for (int i = 2; i <= 40; ++i) values += ", " + std::to_string(i);
  values += "]";
  const std::string text = texts_of("{scale.replicas: " + values + ", scale.period: " + values + "}");
  EXPECT_NE(text.find("more than 1000 combinations"), std::string::npos) << text;
}

TEST(Sweep, ChangesTheManifestThroughItsListOfChanges) {
  const auto policy =
      manifest::parse("scale: {manifest: hpa.yaml}\nsweep: {manifest.spec.maxReplicas: [8]}\n", "s.yaml");
  manifest::ErrorList errors;
  const std::vector<SweptPolicy> swept = expand(*policy, errors);
  ASSERT_EQ(swept.size(), 2u);
  EXPECT_EQ(swept[1].node.find("scale")->find("set")->items.at(0).text, "spec.maxReplicas=8");
}

}  // namespace
}  // namespace capstan::scenario
