#include "cli/screen.h"

#include <gtest/gtest.h>

namespace capstan::cli {
namespace {

TEST(Screen, KeysMayArriveInParts) {
  std::string input = "xs\x1b[";
  EXPECT_EQ(take_keys(input), std::vector<Key>{Key::sort});
  EXPECT_EQ(input, "\x1b[");
  input += "A\x1bOB\x1b[6~pq";
  EXPECT_EQ(take_keys(input), (std::vector<Key>{Key::up, Key::down, Key::page_down, Key::pause, Key::quit}));
  EXPECT_EQ(input, "");
}

TEST(Screen, OtherSequencesAreDroppedWhole) {
  // A mouse report and an unknown function key hold letters that are keys of their own.
  std::string input = "\x1b[<0;10;5s\x1b[15~\x1bq";
  EXPECT_EQ(take_keys(input), std::vector<Key>{Key::quit});
  EXPECT_EQ(input, "");
  input = "\x1b[0000000000000000000000";
  EXPECT_TRUE(take_keys(input).empty());
  EXPECT_EQ(input, "");
}

TEST(Screen, DrawsOverTheLinesBefore) {
  EXPECT_EQ(drawing("one\ntwo\n"), "\x1b[?2026h\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J\x1b[?2026l");
}

}  // namespace
}  // namespace capstan::cli
