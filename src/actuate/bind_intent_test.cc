#include "actuate/bind_intent.h"

#include <gtest/gtest.h>

namespace capstan::actuate {
namespace {

TEST(BindIntent, IsWrittenAndRead) {
  const BindIntent intent{"c1/7-3", "node-\"a\"", 8};
  EXPECT_EQ(write_bind_intent(intent), R"({"transaction":"c1/7-3","pods":8,"node":"node-\"a\""})");
  EXPECT_EQ(read_bind_intent(write_bind_intent(intent)), intent);
  for (const char* invalid : {"", "x", "[]", R"({"transaction":"t","pods":0,"node":"n"})",
                              R"({"transaction":"","pods":1,"node":"n"})", R"({"transaction":"t","pods":1})"}) {
    EXPECT_FALSE(read_bind_intent(invalid)) << invalid;
  }
}

struct TestPod {
  const char* name;
  const char* transaction;  // empty: no annotation
  std::int64_t count;
  bool bound = false;
  bool terminating = false;
};

TEST(BindIntent, FindsUnfinishedTransactions) {
  struct Row {
    const char* title;
    std::vector<TestPod> pods;
    std::string expected;  // transaction, complete or not, pods
  };
  const Row rows[] = {
      {"no pod", {}, ""},
      {"no pod has an annotation", {{"a", "", 0}, {"b", "", 0, true}}, ""},
      {"all annotated, none bound", {{"a", "t", 2}, {"b", "t", 2}}, "t complete a b"},
      {"half bound", {{"a", "t", 2, true}, {"b", "t", 2}}, "t complete a b"},
      {"all bound: finished", {{"a", "t", 2, true}, {"b", "t", 2, true}}, ""},
      {"all bound, and one lost since: finished", {{"a", "t", 2, true}}, ""},
      {"one of two pods is annotated", {{"a", "t", 2}}, "t incomplete a"},
      {"one of three pods is gone", {{"a", "t", 3, true}, {"b", "t", 3}}, "t incomplete a b"},
      {"a bound pod terminates", {{"a", "t", 2}, {"b", "t", 2, true, true}}, "t incomplete a b"},
      {"two transactions", {{"a", "t", 1}, {"b", "s", 2}, {"c", "s", 2}}, "s complete b c; t complete a"},
  };
  for (const Row& row : rows) {
    std::vector<kube::Pod> pods(row.pods.size());
    std::vector<const kube::Pod*> all;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      const TestPod& pod = row.pods[i];
      pods[i].meta.name = pod.name;
      pods[i].spec.node = pod.bound ? "n" : "";
      pods[i].meta.deletion_at.unix_us = pod.terminating ? 1 : 0;
      if (*pod.transaction != '\0') {
        pods[i].meta.annotations.set(kBindIntent, write_bind_intent({pod.transaction, "n", pod.count}));
      }
      all.push_back(&pods[i]);
    }
    std::string found;
    for (const UnfinishedBind& bind : unfinished_binds(all)) {
      found += (found.empty() ? "" : "; ") + bind.transaction + (bind.complete ? " complete" : " incomplete");
      for (const Binding& binding : bind.bindings) found += " " + binding.pod.object.name;
    }
    EXPECT_EQ(found, row.expected) << row.title;
  }
}

}  // namespace
}  // namespace capstan::actuate
