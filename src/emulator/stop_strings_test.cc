#include "emulator/stop_strings.h"

#include <gtest/gtest.h>

#include "emulator/generated_text.h"

namespace capstan::emulator {
namespace {

/// The generated text is " the one two all and are for has how its may new not out see use the one ...": four
/// characters a token.
struct StopRow {
  const char* what;
  std::vector<std::string> strings;
  bool included;
  std::int64_t min_tokens;
  std::int64_t most_tokens;
  std::optional<StopMatch> match;
};

const StopRow kStopRows[] = {
    {"a whole word", {" two"}, false, 0, 16, StopMatch{0, 3, 8}},
    {"the word stays if the client wants it", {" two"}, true, 0, 16, StopMatch{0, 3, 12}},
    {"a part of a word is complete with its token", {"tw"}, false, 0, 16, StopMatch{0, 3, 9}},
    {"a string across words", {"e tw"}, false, 0, 16, StopMatch{0, 3, 7}},
    {"the answer ends before", {" two"}, false, 0, 2, std::nullopt},
    {"it completes the last token", {" two"}, false, 0, 3, StopMatch{0, 3, 8}},
    {"no word of the text", {"xyz", "\n"}, false, 0, 1000, std::nullopt},
    {"the earlier of two", {" all", " two"}, false, 0, 16, StopMatch{1, 3, 8}},
    {"of two in one token, the first of the list", {"two", " two"}, false, 0, 16, StopMatch{0, 3, 9}},
    {"not before min_tokens", {" the"}, false, 3, 100, StopMatch{0, 17, 64}},
    {"complete with the token after min_tokens", {" two"}, false, 2, 100, StopMatch{0, 3, 8}},
    {"begun before min_tokens, complete after", {"one two"}, false, 2, 100, StopMatch{0, 3, 5}},
    {"longer than the answer may be", {std::string(41, ' ')}, false, 0, 10, std::nullopt},
    {"the second time around", {"use the"}, false, 0, 100, StopMatch{0, 17, 61}},
    {"none", {}, false, 0, 100, std::nullopt},
};

TEST(StopStrings, EndTheAnswerWhereVllmEndsIt) {
  for (const StopRow& row : kStopRows) {
    EXPECT_EQ(find_stop({row.strings, row.included}, row.min_tokens, row.most_tokens), row.match) << row.what;
  }
}

TEST(StopStrings, AStreamHoldsBackWhatMayBeginOne) {
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
