#include "base/error.h"

#include <gtest/gtest.h>

namespace capstan {
namespace {

struct Row {
  const char* teaches;
  Error error;
  const char* text;
};

const Row kRows[] = {
    {"file, line and column are known",
     {ErrorKind::input, "a.yaml", 3, 7, "unknown key, expected slo"},
     "a.yaml:3:7: unknown key, expected slo"},
    {"the column is not known",
     {ErrorKind::input, "trace.csv", 12, 0, "negative tokens"},
     "trace.csv:12: negative tokens"},
    {"without a line, the column is left out",
     {ErrorKind::input, "trace.csv", 0, 9, "truncated"},
     "trace.csv: truncated"},
    {"the file is not known", {ErrorKind::input, "", 4, 2, "bad number"}, "4:2: bad number"},
    {"control characters are escaped",
     {ErrorKind::input, "a.yaml", 1, 1, "found \"\x1b[2J\n\x7f é\""},
     "a.yaml:1:1: found \"\\x1b[2J\\x0a\\x7f é\""},
    {"no place is known", {ErrorKind::usage, "", 0, 0, "no such option"}, "no such option"},
};

TEST(Error, TextContainsTheKnownParts) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.teaches);
    EXPECT_EQ(row.error.text(), row.text);
  }
}

}  // namespace
}  // namespace capstan
