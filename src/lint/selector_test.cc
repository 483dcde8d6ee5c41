#include "lint/selector.h"

#include <gtest/gtest.h>

#include <string>

namespace capstan::lint::selector_test {
namespace {

std::string compared(const std::string& selector, const std::string& labels) {
  const std::string text = "s: " + selector + "\nl: " + labels + "\n";
  const manifest::Documents documents = manifest::Documents::parse(text);
  const manifest::Value& root = documents.all().front().root;
  const LabelDifference difference = compare_labels(root["s"], root["l"]);
  EXPECT_EQ(difference.wanted(), root["s"].count);
  return std::to_string(difference.equal) + std::to_string(difference.misspelt) + std::to_string(difference.other) +
         std::to_string(difference.absent) + " " +
         (difference.first == nullptr ? "none" : std::string(difference.first->key)) +
         (difference.is_only_misspelt() ? " misspelt" : "");
}

TEST(Selector, LabelsAreEqualMisspeltOtherOrAbsent) {
  EXPECT_EQ(compared("{app: chat}", "{app: chat, a: b}"), "1000 none");
  EXPECT_EQ(compared("{a: b, app: inference}", "{app: infernce, a: b}"), "1100 app misspelt");
  EXPECT_EQ(compared("{app: inference, role: x}", "{app: infernce}"), "0101 app");
  EXPECT_EQ(compared("{app: chat, role: decode}", "{app: chat, role: prefill}"), "1010 role");
  EXPECT_EQ(compared("{app: chat}", "{}"), "0001 app");
  EXPECT_EQ(compared("{app: chat}", ""), "0001 app");
  EXPECT_EQ(compared("{app: '${NAME}', role: x}", "{app: a, role: '<role>'}"), "2000 none");
  EXPECT_EQ(compared("{}", "{app: chat}"), "0000 none");
}

}  // namespace
}  // namespace capstan::lint::selector_test
