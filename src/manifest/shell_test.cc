#include "manifest/shell.h"

#include <gtest/gtest.h>

namespace capstan::manifest::shell_test {
namespace {

std::string shown(std::string_view script) {
  std::string out;
  for (const auto& command : shell_commands(script)) {
    for (const ShellWord& word : command) out += "[" + word.text + "]";
    out += ";";
  }
  return out;
}

TEST(Shell, SplitsAScriptIntoCommandsAndWords) {
  EXPECT_EQ(shown("vllm serve m --tp 4"), "[vllm][serve][m][--tp][4];");
  EXPECT_EQ(shown("a && b || c; d | e\nf &"), "[a];[b];[c];[d];[e];[f];");
  EXPECT_EQ(shown("a \\\n  --b \\\n  c"), "[a][--b][c];");
  EXPECT_EQ(shown("a \"b c\"'d e'f $X \"\\\"\""), "[a][b cd ef][$X][\"];");
  EXPECT_EQ(shown("# no\na # yes\nb#c"), "[a];[b#c];");
  EXPECT_EQ(shown("\"never closed"), "[never closed];");
  EXPECT_EQ(shown("vllm serve $(MODEL) -tp ${TP:-2}"), "[vllm][serve][$(MODEL)][-tp][${TP:-2}];");
  EXPECT_EQ(shown("x --n=$(a | (b)); y"), "[x][--n=$(a | (b))];[y];");
  EXPECT_EQ(shown("a $(b"), "[a][$];[b];");
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown("\\"), "");
}

TEST(Shell, WordsKnowTheirPlace) {
  const auto commands = shell_commands("ab  'c d' e");
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0][1].offset, 4u);
  EXPECT_EQ(commands[0][1].size, 5u);
  EXPECT_EQ(commands[0][2].offset, 10u);
}

}  // namespace
}  // namespace capstan::manifest::shell_test
