#include "emulator/prompt.h"

#include <gtest/gtest.h>

#include <string>

namespace capstan::emulator {
namespace {

std::int64_t count_tokens(std::string_view text) {
  PromptBuilder prompt;
  prompt.add_text(text);
  return prompt.tokens();
}

Prompt prompt_of_ids(std::uint64_t first, std::int64_t count) {
  PromptBuilder prompt;
  for (std::int64_t i = 0; i < count; ++i) prompt.add_token(first + static_cast<std::uint64_t>(i));
  return prompt.take();
}

TEST(Prompt, CountsFourCharactersOfAWordAsAToken) {
  struct Row {
    std::string_view text;
    std::int64_t tokens;
  };
  for (const Row& row : {Row{"", 0}, Row{" \t\r\n", 0}, Row{"a", 1}, Row{"abcd", 1}, Row{"abcde", 2}, Row{"a b  c", 3},
                         Row{"San Francisco is a", 6}, Row{"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 1},
                         Row{"\xe4\xb8\xad\xe6\x96\x87 x", 2}, Row{" lead and trail ", 4}}) {
    EXPECT_EQ(count_tokens(row.text), row.tokens) << row.text;
  }
}

TEST(Prompt, EqualBeginningsHaveEqualHashes) {
  const Prompt long_one = prompt_of_ids(0, 1600);
  const Prompt short_one = prompt_of_ids(0, 1100);
  const Prompt other = prompt_of_ids(1, 1600);
  EXPECT_EQ(long_one.tokens, 1600);
  ASSERT_EQ(long_one.prefix_hashes.size(), 3u);
  ASSERT_EQ(short_one.prefix_hashes.size(), 2u);
  EXPECT_EQ(long_one.prefix_hashes[0], short_one.prefix_hashes[0]);
  EXPECT_EQ(long_one.prefix_hashes[1], short_one.prefix_hashes[1]);
  EXPECT_NE(long_one.prefix_hashes[0], other.prefix_hashes[0]);
  EXPECT_NE(long_one.prefix_hashes[2], other.prefix_hashes[2]);
}

TEST(Prompt, WhiteSpaceOfAnyLengthSeparatesWords) {
  PromptBuilder a;
  a.add_text("one two");
  PromptBuilder b;
  b.add_text("  one\n two ");
  EXPECT_EQ(a.take(), b.take());
}

}  // namespace
}  // namespace capstan::emulator
