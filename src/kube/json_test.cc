#include "kube/json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace capstan::kube {
namespace {

TEST(Json, AbsentValuesAndOtherTypesReadAsTheDefault) {
  JsonDocument document;
  const Result<Json> root =
      document.parse(R"({"a": {"b": "text", "n": -5, "t": true, "z": null}, "l": [1, "2", {"x": 3}]})");
  ASSERT_TRUE(root);
  EXPECT_EQ((*root)["a"]["b"].text(), "text");
  EXPECT_EQ((*root)["a"]["n"].integer(), -5);
  EXPECT_TRUE((*root)["a"]["t"].boolean());
  EXPECT_FALSE((*root)["a"]["z"].exists()) << "null counts as absent";
  EXPECT_EQ((*root)["no"]["such"]["path"].text(), "");
  EXPECT_EQ((*root)["a"]["b"].integer(7), 7) << "a string is not a number";
  EXPECT_EQ((*root)["a"]["b"]["deeper"].integer(7), 7);
  std::string visited;
  (*root)["l"].for_each([&](Json item) { visited += item.scalar() + ";"; });
  EXPECT_EQ(visited, "1;2;;");
  visited.clear();
  (*root)["a"].for_each_field(
      [&](std::string_view key, Json value) { visited += std::string(key) + "=" + value.scalar() + ";"; });
  EXPECT_EQ(visited, "b=text;n=-5;t=true;z=;");
}

TEST(Json, RefusesInvalidJson) {
  JsonDocument document;
  for (const std::string_view text : {"", "{", "{\"a\":}", "nul", "[1,]", "\"\xff\""}) {
    const Result<Json> root = document.parse(text);
    ASSERT_FALSE(root) << text;
    EXPECT_TRUE(root.error().message.starts_with("not JSON: "));
  }
  const std::string deep(5'000, '[');
  EXPECT_FALSE(document.parse(deep));
}

TEST(Json, QuotesControlCharactersAndInvalidUtf8) {
  EXPECT_EQ(json_quote("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
  EXPECT_EQ(json_quote("\xc3\xa9\xff\xe2\x82"), "\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

RC_GTEST_PROP(Json, QuotedTextIsJson, (const std::string& text)) {
  JsonDocument document;
  const Result<Json> root = document.parse("[" + json_quote(text) + "]");
  RC_ASSERT(root.has_value());
  const bool ascii = std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; });
  root->for_each([&](Json item) { RC_ASSERT((!ascii || item.text() == text)); });
}

}  // namespace
}  // namespace capstan::kube
