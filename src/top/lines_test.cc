#include "top/lines.h"

#include <gtest/gtest.h>

#include "experiment/text/layout.h"

namespace capstan::top {
namespace {

TEST(Lines, NamesCannotCommandTheTerminal) {
  EXPECT_EQ(plain("a\x1b[31mred\nnew line\ttab\x7f"), "a?[31mred?new line?tab?");
  EXPECT_EQ(plain("right\u202eleft\u200bjoined\u0085"), "right?left?joined?");
  EXPECT_EQ(plain("cut \xe2\x96 and \x9b"
                  "2J and \xff"),
            "cut ?? and ?2J and ?");
  EXPECT_EQ(plain("<script>München · 模型</script>"), "<script>München · 模型</script>");
  EXPECT_EQ(plain("\xed\xa0"), "??");
}

TEST(Lines, ALineIsCutAtItsWidth) {
  const Spans spans = {{"abc"}, {"def", TextStyle::bad}, {"ghi"}};
  EXPECT_EQ(line(spans, {.width = 9}), "abcdefghi");
  EXPECT_EQ(line(spans, {.width = 8}), "abcdefg…");
  EXPECT_EQ(line(spans, {.width = 6}), "abcde…");
  EXPECT_EQ(line(spans, {.width = 0}), "");
  EXPECT_EQ(line(spans, {.width = 8, .utf8 = false}), "abcdefg~");
  EXPECT_EQ(line({{"a · é"}}, {.utf8 = false}), "a - ?");
}

TEST(Lines, ColoursAddNothingThatIsSeen) {
  EXPECT_EQ(line({{"a"}, {"b", TextStyle::bad}, {"c", TextStyle::faint}}, {.color = true}),
            "a\x1b[31mb\x1b[0m\x1b[2mc\x1b[0m");
}

TEST(Lines, ATableLeavesOutItsLeastColumns) {
  Table table({{"name", false, 9}, {"n", true, 5}, {"empty", false, 6}, {"words", false, 1}});
  table.add({{{"one"}}, {{"1"}}, {}, {{"some words"}}});
  table.add({{{"twenty"}}, {{"2,000"}}, {}, {{"more", TextStyle::good}}});
  using Lines = std::vector<std::string>;
  EXPECT_EQ(table.lines({.width = 80}),
            (Lines{"name        n  words", "one         1  some words", "twenty  2,000  more"}));
  EXPECT_EQ(table.lines({.width = 20}), (Lines{"name        n", "one         1", "twenty  2,000"}));
  EXPECT_EQ(table.lines({.width = 5}), (Lines{"name", "one", "twen…"}));
}

}  // namespace
}  // namespace capstan::top
