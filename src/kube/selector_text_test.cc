#include "kube/selector_text.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

TEST(SelectorText, SelectsAsKubectlDoes) {
  const StringMap pod = {{"app", "chat"}, {"tier", "a"}};
  const struct {
    const char* text;
    bool matches;
  } rows[] = {
      {"app=chat", true},
      {"app==chat", true},
      {"app = chat , tier=a", true},
      {"app=chat,tier=b", false},
      {"app!=chat", false},
      {"app!=other", true},
      {"tier in (a,b)", true},
      {"tier in (b, c),app=chat", false},
      {"tier notin (b)", true},
      {"tier", true},
      {"missing", false},
      {"!missing", true},
      {"!tier", false},
      {"leaderworkerset.sigs.k8s.io/name=x", false},
  };
  for (const auto& row : rows) {
    const auto selector = read_selector_text(row.text);
    ASSERT_TRUE(selector.has_value()) << row.text;
    EXPECT_EQ(selector->matches(pod), row.matches) << row.text;
  }
}

TEST(SelectorText, RefusesInvalidSelectors) {
  for (const char* text : {"", "  ", ",", "app=chat,", "=chat", "a b", "tier within (a)", "tier in a", "tier in (a",
                           "a=b=c", "in (a)", "!"}) {
    EXPECT_FALSE(read_selector_text(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace capstan::kube
