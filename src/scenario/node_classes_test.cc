// Goal: nodes form classes by the labels that pods ask for, and pods run only where all their labels are.
#include "scenario/node_classes.h"

#include <gtest/gtest.h>

namespace capstan::scenario {
namespace {

TEST(NodeClasses, OnlyLabelsThatPodsAskForDivideNodes) {
  const std::vector<PodNeeds> needs = {{.selector = {{"tier", "serving"}}}, {.requests = {.cpu_milli = 1000}}};
  const std::vector<NodeLabels> nodes = {{.labels = {{"tier", "serving"}, {"rack", "1"}}, .purchases = {{{0}, {0}}}},
                                         {.labels = {{"tier", "serving"}, {"rack", "2"}}},
                                         {.labels = {{"rack", "2"}}}};
  model::Eligibility out;
  const std::vector<model::NodeClassId> classes = classify_nodes(needs, nodes, out);
  EXPECT_EQ(classes, (std::vector<model::NodeClassId>{{0}, {0}, {1}}));
  EXPECT_EQ(out.pod_classes[0].node_classes, (std::vector<bool>{true, false}));
  EXPECT_EQ(out.pod_classes[1].node_classes, (std::vector<bool>{true, true}));
  EXPECT_EQ(out.purchases.at({{0}, {0}}), model::NodeClassId{0});
}

TEST(NodeClasses, WithoutAskedLabelsThereAreNoClasses) {
  const std::vector<PodNeeds> needs = {{.requests = {.cpu_milli = 1000}}};
  const std::vector<NodeLabels> nodes = {{.labels = {{"rack", "1"}}, .purchases = {{{0}, {0}}}}};
  model::Eligibility out;
  EXPECT_FALSE(classify_nodes(needs, nodes, out)[0].valid());
  EXPECT_TRUE(out.purchases.empty());
  EXPECT_TRUE(out.pod_classes[0].node_classes.empty());
}

}  // namespace
}  // namespace capstan::scenario
