#include "emulator/stop_strings.h"

#include <gtest/gtest.h>

#include "emulator/generated_text.h"

namespace capstan::emulator {
namespace {

/// The generated text is " the one two all and are for has how its may new not out see use the one ..." with four
/// characters per token.
struct StopRow {
  const char* teaches;
  std::vector<std::string> strings;
  bool included;
  std::int64_t min_tokens;
  std::int64_t max_tokens;
  std::optional<StopMatch> match;
};

const StopRow kStopRows[] = {
    {"a whole word", {" two"}, false, 0, 16, StopMatch{0, 3, 8}},
    {"the word is included if the client asks for it", {" two"}, true, 0, 16, StopMatch{0, 3, 12}},
    {"the token that contains it completes a part of a word", {"tw"}, false, 0, 16, StopMatch{0, 3, 9}},
    {"a string across words", {"e tw"}, false, 0, 16, StopMatch{0, 3, 7}},
    {"the answer ends before the string", {" two"}, false, 0, 2, std::nullopt},
    {"the last token completes the string", {" two"}, false, 0, 3, StopMatch{0, 3, 8}},
    {"strings that are not in the text", {"xyz", "\n"}, false, 0, 1000, std::nullopt},
    {"the earlier of two strings counts", {" all", " two"}, false, 0, 16, StopMatch{1, 3, 8}},
    {"of two strings in one token the first of the list counts", {"two", " two"}, false, 0, 16, StopMatch{0, 3, 9}},
    {"a string before min_tokens does not count", {" the"}, false, 3, 100, StopMatch{0, 17, 64}},
    {"the token after min_tokens completes the string", {" two"}, false, 2, 100, StopMatch{0, 3, 8}},
    {"a string that begins before min_tokens and ends after them", {"one two"}, false, 2, 100, StopMatch{0, 3, 5}},
    {"a string longer than the answer", {std::string(41, ' ')}, false, 0, 10, std::nullopt},
    {"a string across the repetition of the text", {"use the"}, false, 0, 100, StopMatch{0, 17, 61}},
    {"no stop strings", {}, false, 0, 100, std::nullopt},
};

TEST(StopStrings, EndTheAnswerWhereVllmEndsIt) {
  for (const StopRow& row : kStopRows) {
    EXPECT_EQ(find_stop({row.strings, row.included}, row.min_tokens, row.max_tokens), row.match) << row.teaches;
  }
}

TEST(StopStrings, AStreamHoldsBackCharactersThatMayBeginAStopString) {
  EXPECT_EQ(held_back_characters({{"two", "seven"}, false}), 4);
  EXPECT_EQ(held_back_characters({{"two", "seven"}, true}), 0);
  EXPECT_EQ(held_back_characters({}), 0);
}

TEST(GeneratedText, RepeatsAfterItsPeriod) {
  EXPECT_EQ(generated_text(0, 12), " the one two");
  EXPECT_EQ(generated_text(60, 68), " use the");
  EXPECT_EQ(generated_text(5, 5), "");
}

}  // namespace
}  // namespace capstan::emulator
