#include "lint/input/json_fault.h"

#include <gtest/gtest.h>

namespace capstan::lint::json_fault_test {
namespace {

TEST(JsonFault, NamesTheErrorAndItsPlace) {
  const struct {
    const char* text;
    std::uint32_t offset;
    const char* message;
  } rows[] = {
      {"{\"a\": }", 6, "is not JSON: found '}', expected '[', '{', or a literal"},
      {"{\"a\": 1,}", 8, "is not JSON: found '}', expected string literal"},
      {"{\"a\" 1}", 5, "is not JSON: found number literal, expected ':'"},
      {"{\"a\" 123}", 5, "is not JSON: found number literal, expected ':'"},
      {"{\"a\" \"bc\"}", 5, "is not JSON: found string literal, expected ':'"},
      {"{\"a\": 1 true}", 8, "is not JSON: found true literal, expected '}'"},
      {"[1, 2", 5, "is not JSON: found end of input, expected ']'"},
      {"", 0, "is not JSON: found end of input, expected '[', '{', or a literal"},
      {"{\"a\": 1}\n{\"b\" 2}\n", 14, "is not JSON: found number literal, expected ':'"},
      {"{\"a\": tru}", 9, "is not JSON: invalid literal"},
      {"{\"a\": 1} x", 9, "is not JSON: invalid literal"},
  };
  for (const auto& row : rows) {
    const auto fault = json_fault(row.text);
    ASSERT_TRUE(fault) << row.text;
    EXPECT_EQ(fault->offset, row.offset) << row.text;
    EXPECT_EQ(fault->message, row.message) << row.text;
  }
}

TEST(JsonFault, SeveralValuesInSequenceAreValid) {
  for (const char* text : {"{}", "[1, 2]\n", "{\"a\": 1}\n{\"b\": 2}\n", "{}{}", "1 2", " {} \n\n"}) {
    EXPECT_FALSE(json_fault(text)) << text;
  }
}

TEST(JsonFault, CommentsAndTrailingCommasBecomeSpaces) {
  const struct {
    const char* text;
    const char* without;
  } rows[] = {
      {"{\"a\": 1} // c\n", "{\"a\": 1}     \n"},
      {"{/* \"b\"\n */\"a\": 1}", "{      \n   \"a\": 1}"},
      {"{\"a\": \"// no /* comment\"}", "{\"a\": \"// no /* comment\"}"},
      {"{\"a\": \"\\\"//\", // c\n}", "{\"a\": \"\\\"//\"      \n}"},
      {"[1, 2,]", "[1, 2 ]"},
      {"[1,, 2]", "[1,, 2]"},
      {"/* open", "       "},
      {"\"open", "\"open"},
  };
  for (const auto& row : rows) EXPECT_EQ(without_comments(row.text), row.without) << row.text;
}

}  // namespace
}  // namespace capstan::lint::json_fault_test
