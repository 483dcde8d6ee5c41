#include "plan/render/text_layout.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(TextLayout, FoldsAtAHundredColumns) {
  const std::string text = folded("name ", std::string(60, 'a') + " " + std::string(60, 'b'), 5);
  EXPECT_EQ(text, "name " + std::string(60, 'a') + "\n     " + std::string(60, 'b') + "\n");
}

TEST(TextLayout, EndsTheLinesOfACommandWithABackslash) {
  const std::string text = folded_command("1 ", std::string(60, 'a') + " " + std::string(60, 'b'), 4);
  EXPECT_EQ(text, "1 " + std::string(60, 'a') + " \\\n    " + std::string(60, 'b') + "\n");
}

TEST(TextLayout, IndentsLinesThatAreNotEmpty) { EXPECT_EQ(indented("a\n\nb\n", 2), "  a\n\n  b\n"); }

TEST(TextLayout, AlignsNumbersToTheRightAndLeavesEmptyColumnsOut) {
  EXPECT_EQ(aligned({"", ""}, {{"", "name", "USD/h"}, {"", "a", "1.00"}}), "name  USD/h\na      1.00\n");
}

}  // namespace
}  // namespace capstan::plan
