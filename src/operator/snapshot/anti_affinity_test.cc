#include "operator/snapshot/anti_affinity.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

using Values = std::set<std::string>;

struct AntiAffinityTest : ::testing::Test {
  AntiAffinityTest() {
    for (const auto& [name, zone] : {std::pair("n1", "a"), {"n2", "a"}, {"n3", "b"}}) {
      nodes[name].set("zone", zone);
      nodes[name].set("host", name);
    }
  }
  static kube::Pod pod(const char* ns, const char* name, const char* key, const char* app) {
    kube::Pod pod;
    pod.meta.ns = ns;
    pod.meta.name = name;
    kube::AntiAffinityTerm term{.topology_key = key};
    term.pods.present = true;
    term.pods.labels.set("app", app);
    pod.spec.anti_affinity = {term};
    return pod;
  }
  std::set<std::string> rules_for(const char* ns, const char* app) const {
    kube::StringMap labels;
    labels.set("app", app);
    return rules.rules_for(ns, labels);
  }
  void add(kube::RowId row, const kube::Pod& pod, const std::string& node) {
    const auto found = nodes.find(node);
    rules.add(row, pod, node, found == nodes.end() ? nullptr : &found->second);
  }
  const AntiAffinity::Domains& domains() const { return rules.domains_of(*rules_for("team", "work").begin()); }
  Values values() const {
    Values all;
    for (const auto& [value, pods] : domains().pods_by_value) all.insert(value);
    return all;
  }
  /// Returns the values that have changed since the last call, for all rules together.
  Values take_values() {
    Values all;
    for (const auto& [rule, change] : rules.take_changes()) all.insert(change.values.begin(), change.values.end());
    return all;
  }

  std::map<std::string, kube::StringMap> nodes;  ///< labels by name
  AntiAffinity rules;
};

TEST_F(AntiAffinityTest, PodsWithEqualRulesShareOneAndKeepAllTheirDomains) {
  add({1}, pod("team", "b", "zone", "work"), "n1");
  add({2}, pod("team", "a", "zone", "work"), "n3");
  add({3}, pod("team", "lost", "zone", "work"), "unknown");
  ASSERT_EQ(rules_for("team", "work").size(), 1u);
  EXPECT_TRUE(rules_for("team", "other").empty());
  EXPECT_EQ(domains().topology_key, "zone");
  EXPECT_EQ(values(), (Values{"a", "b"}));
  EXPECT_EQ(domains().pods.begin()->first, "team/a");
  rules.remove({2});
  EXPECT_EQ(values(), (Values{"a"}));
  rules.remove({1});
  rules.remove({3});
  EXPECT_TRUE(rules_for("team", "work").empty());
}

TEST_F(AntiAffinityTest, ARuleCountsInTheNamespacesThatItNames) {
  kube::Pod stated = pod("team", "a", "host", "work");
  stated.spec.anti_affinity[0].namespaces = {"x", "y"};
  add({1}, stated, "n1");
  EXPECT_TRUE(rules_for("team", "work").empty());
  EXPECT_EQ(rules_for("x", "work").size(), 1u);
  kube::Pod selected = pod("team", "b", "host", "work");
  selected.spec.anti_affinity[0].selects_namespaces = true;
  add({2}, selected, "n2");
  EXPECT_EQ(rules_for("team", "work").size(), 1u);
  EXPECT_EQ(rules_for("x", "work").size(), 2u);
}

TEST_F(AntiAffinityTest, ATermWithoutASelectorSelectsNoPods) {
  kube::Pod none = pod("team", "a", "host", "work");
  none.spec.anti_affinity[0].pods = {};
  add({1}, none, "n1");
  EXPECT_TRUE(rules_for("team", "work").empty());
}

TEST_F(AntiAffinityTest, OnlyTheFirstAndTheLastPodOfARuleChangeItsNamespaces) {
  add({1}, pod("team", "a", "host", "work"), "n1");
  EXPECT_TRUE(rules.take_changed_namespaces().contains("team"));
  add({2}, pod("team", "b", "host", "work"), "n2");
  rules.remove({1});
  EXPECT_TRUE(rules.take_changed_namespaces().empty());
  rules.remove({2});
  EXPECT_TRUE(rules.take_changed_namespaces().contains("team"));
}

TEST_F(AntiAffinityTest, OnlyValuesThatGetTheirFirstPodOrLoseTheLastOneHaveChanged) {
  add({1}, pod("team", "a", "zone", "work"), "n1");
  EXPECT_EQ(take_values(), (Values{"a"}));
  add({2}, pod("team", "b", "zone", "work"), "n2");
  EXPECT_TRUE(take_values().empty()) << "zone a has a pod already";
  rules.remove({1});
  EXPECT_TRUE(take_values().empty()) << "zone a still has a pod";
  rules.remove({2});
  add({2}, pod("team", "b", "zone", "work"), "n2");
  EXPECT_TRUE(take_values().empty()) << "the pod is back where it was";
  rules.remove({2});
  add({2}, pod("team", "b", "zone", "work"), "n3");
  EXPECT_EQ(take_values(), (Values{"a", "b"}));
  rules.remove({2});
  EXPECT_EQ(take_values(), (Values{"b"})) << "the rule is gone";
}

TEST_F(AntiAffinityTest, ThePodsOfANodeFollowItsLabels) {
  add({1}, pod("team", "a", "zone", "work"), "late");
  EXPECT_TRUE(values().empty()) << "the node does not exist yet";
  rules.set_node("late", &nodes["n1"]);
  EXPECT_EQ(take_values(), (Values{"a"}));
  rules.set_node("late", nullptr);
  rules.set_node("late", &nodes["n1"]);
  EXPECT_TRUE(take_values().empty()) << "the node is made again with the same labels";
  rules.set_node("late", &nodes["n3"]);
  EXPECT_EQ(take_values(), (Values{"a", "b"}));
  rules.set_node("late", nullptr);
  EXPECT_TRUE(values().empty());
}

}  // namespace
}  // namespace capstan::op
