#include "actuate/bind_intent.h"

#include <gtest/gtest.h>

namespace capstan::actuate {
namespace {

TEST(BindIntent, IsWrittenAndRead) {
  const BindIntent intent{"c1/7-3", "node-\"a\"", 8};
  EXPECT_EQ(write_bind_intent(intent), R"({"transaction":"c1/7-3","pods":8,"node":"node-\"a\""})");
  EXPECT_EQ(read_bind_intent(write_bind_intent(intent)), intent);
  for (const char* wrong : {"", "x", "[]", R"({"transaction":"t","pods":0,"node":"n"})",
                            R"({"transaction":"","pods":1,"node":"n"})", R"({"transaction":"t","pods":1})"}) {
    EXPECT_FALSE(read_bind_intent(wrong)) << wrong;
  }
}

struct Told {
  const char* name;
  const char* transaction;  // empty: none
  std::int64_t of;
  bool bound = false;
  bool terminating = false;
};

TEST(BindIntent, WhatIsUnfinished) {
  struct Row {
    const char* what;
    std::vector<Told> pods;
    std::string expected;  // transaction, whole or not, pods
  };
  const Row rows[] = {
      {"no pod", {}, ""},
      {"nobody was told anything", {{"a", "", 0}, {"b", "", 0, true}}, ""},
      {"all told, none bound", {{"a", "t", 2}, {"b", "t", 2}}, "t whole a b"},
      {"half bound", {{"a", "t", 2, true}, {"b", "t", 2}}, "t whole a b"},
      {"all bound: over", {{"a", "t", 2, true}, {"b", "t", 2, true}}, ""},
      {"all bound, and one lost since: over", {{"a", "t", 2, true}}, ""},
      {"not all were told", {{"a", "t", 2}}, "t broken a"},
      {"one is gone in the middle", {{"a", "t", 3, true}, {"b", "t", 3}}, "t broken a b"},
      {"one leaves in the middle", {{"a", "t", 2}, {"b", "t", 2, true, true}}, "t broken a b"},
      {"two of them", {{"a", "t", 1}, {"b", "s", 2}, {"c", "s", 2}}, "s whole b c; t whole a"},
  };
  for (const Row& row : rows) {
    std::vector<kube::Pod> pods(row.pods.size());
    std::vector<const kube::Pod*> all;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      const Told& told = row.pods[i];
      pods[i].meta.name = told.name;
      pods[i].spec.node = told.bound ? "n" : "";
      pods[i].meta.deletion_at.unix_us = told.terminating ? 1 : 0;
      if (*told.transaction != '\0') {
        pods[i].meta.annotations.set(kBindIntent, write_bind_intent({told.transaction, "n", told.of}));
      }
      all.push_back(&pods[i]);
    }
    std::string found;
    for (const UnfinishedBind& bind : unfinished_binds(all)) {
      found += (found.empty() ? "" : "; ") + bind.transaction + (bind.whole ? " whole" : " broken");
      for (const Binding& binding : bind.bindings) found += " " + binding.pod.object.name;
    }
    EXPECT_EQ(found, row.expected) << row.what;
  }
}

}  // namespace
}  // namespace capstan::actuate
