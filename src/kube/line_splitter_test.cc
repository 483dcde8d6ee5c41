#include "kube/line_splitter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace capstan::kube {
namespace {

std::vector<std::string> lines_of(LineSplitter& splitter, const std::vector<std::string>& pieces) {
  std::vector<std::string> lines;
  for (const std::string& piece : pieces) {
    splitter.take(piece, [&](std::string_view line) {
      lines.emplace_back(line);
      return true;
    });
  }
  return lines;
}

TEST(LineSplitter, JoinsThePiecesOfALine) {
  LineSplitter splitter(100);
  EXPECT_EQ(lines_of(splitter, {"{\"a\":1}\n{\"b", "\":", "2}", "\n\n", "\n{", "}"}),
            (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}"}));
  EXPECT_EQ(splitter.pending(), 2u);
}

TEST(LineSplitter, ALineAboveTheLimitEndsTheStream) {
  LineSplitter splitter(4);
  EXPECT_EQ(lines_of(splitter, {"1234\n12", "34\n1234", "5", "\nok\n"}), (std::vector<std::string>{"1234", "1234"}));
  EXPECT_FALSE(splitter.take("x\n", [](std::string_view) { return true; }));
}

TEST(LineSplitter, TheVisitorMayStop) {
  LineSplitter splitter(10);
  int lines = 0;
  EXPECT_TRUE(splitter.take("a\nb\nc\n", [&](std::string_view) { return ++lines < 2; }));
  EXPECT_EQ(lines, 2);
}

RC_GTEST_PROP(LineSplitter, GivesTheSameLinesForAnyPieces, (const std::vector<std::string>& pieces)) {
  std::string joined;
  for (const std::string& piece : pieces) joined += piece;
  LineSplitter one(1'000'000);
  LineSplitter many(1'000'000);
  RC_ASSERT(lines_of(one, {joined}) == lines_of(many, pieces));
  RC_ASSERT(one.pending() == many.pending());
}

}  // namespace
}  // namespace capstan::kube
