#include "operator/snapshot/anti_affinity.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

using Values = std::set<std::string>;

struct AntiAffinityTest : ::testing::Test {
  AntiAffinityTest() {
    for (const auto& [name, zone] : {std::pair("n1", "a"), {"n2", "a"}, {"n3", "b"}}) {
      nodes[name].meta.labels.set("zone", zone);
      nodes[name].meta.labels.set("host", name);
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
  AntiAffinity::Domains domains_of(const std::string& rule) const {
    return rules.domains_of(rule, [&](const std::string& name) {
      const auto found = nodes.find(name);
      return found == nodes.end() ? nullptr : &found->second;
    });
  }

  std::map<std::string, kube::Node> nodes;
  AntiAffinity rules;
};

TEST_F(AntiAffinityTest, PodsWithEqualRulesShareOneAndKeepAllTheirDomains) {
  rules.add({1}, pod("team", "b", "zone", "work"), "n1");
  rules.add({2}, pod("team", "a", "zone", "work"), "n3");
  rules.add({3}, pod("team", "lost", "zone", "work"), "unknown");
  ASSERT_EQ(rules_for("team", "work").size(), 1u);
  EXPECT_TRUE(rules_for("team", "other").empty());
  const AntiAffinity::Domains domains = domains_of(*rules_for("team", "work").begin());
  EXPECT_EQ(domains.topology_key, "zone");
  EXPECT_EQ(domains.values, (Values{"a", "b"}));
  EXPECT_EQ(domains.first_pod, "team/a");
  rules.remove({2});
  EXPECT_EQ(domains_of(*rules_for("team", "work").begin()).values, (Values{"a"}));
  rules.remove({1});
  rules.remove({3});
  EXPECT_TRUE(rules_for("team", "work").empty());
}

TEST_F(AntiAffinityTest, ARuleCountsInTheNamespacesThatItNames) {
  kube::Pod stated = pod("team", "a", "host", "work");
  stated.spec.anti_affinity[0].namespaces = {"x", "y"};
  rules.add({1}, stated, "n1");
  EXPECT_TRUE(rules_for("team", "work").empty());
  EXPECT_EQ(rules_for("x", "work").size(), 1u);
  kube::Pod selected = pod("team", "b", "host", "work");
  selected.spec.anti_affinity[0].selects_namespaces = true;
  rules.add({2}, selected, "n2");
  EXPECT_EQ(rules_for("team", "work").size(), 1u);
  EXPECT_EQ(rules_for("x", "work").size(), 2u);
}

TEST_F(AntiAffinityTest, ATermWithoutASelectorSelectsNoPods) {
  kube::Pod none = pod("team", "a", "host", "work");
  none.spec.anti_affinity[0].pods = {};
  rules.add({1}, none, "n1");
  EXPECT_TRUE(rules_for("team", "work").empty());
}

TEST_F(AntiAffinityTest, OnlyTheFirstAndTheLastPodOfARuleChangeItsNamespaces) {
  rules.add({1}, pod("team", "a", "host", "work"), "n1");
  EXPECT_TRUE(rules.take_changed_namespaces().contains("team"));
  rules.add({2}, pod("team", "b", "host", "work"), "n2");
  rules.remove({1});
  EXPECT_TRUE(rules.take_changed_namespaces().empty());
  rules.remove({2});
  EXPECT_TRUE(rules.take_changed_namespaces().contains("team"));
}

}  // namespace
}  // namespace capstan::op
