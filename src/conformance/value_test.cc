#include "conformance/value.h"

#include <gtest/gtest.h>

#include <limits>

namespace capstan::conformance {
namespace {

TEST(Value, ReadsAndWritesJson) {
  const char* text = R"({"a": [1, -2, 2.5, true, null], "b": {}, "c": "quote \" and ü", "d": []})";
  const Result<Value> value = parse_json(text, "x.json");
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_EQ(to_text(*value), text);
  EXPECT_EQ(*(*value)["a"].array()->at(1).integer(), -2);
  EXPECT_TRUE((*value)["nothing"].is_null());
  EXPECT_TRUE((*value)["a"]["nothing"].is_null()) << "a list has no members";
}

TEST(Value, WritesNumbersThatJsonLacksAsStrings) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_text(Value(Value::Array{infinity, -infinity, infinity - infinity})), R"(["+Inf", "-Inf", "NaN"])");
  EXPECT_EQ(to_text(object({{"n", 3}, {"s", "x"}})), R"({"n": 3, "s": "x"})");
}

TEST(Value, AnErrorNamesItsPlace) {
  const std::string deep(40, '[');
  std::string many = "{";
  for (int i = 0; i < 300; ++i) many += "\"k" + std::to_string(i) + "\": 0, ";
  const std::pair<std::string, const char*> rows[] = {
      {"", "x.json:1:1: is not JSON, expected a case file"},
      {"{\n \"a\": nope}", "x.json:2:8: is not JSON"},
      {"{} {}", "x.json:1:4: is not JSON"},
      {"[1e999]", "is not JSON"},
      {"[\"\xff\"]", "is not JSON"},
      {"{\"a\": 1, \"a\": 2}", "x.json: key \"a\" is repeated"},
      {deep, "x.json: nested more than 32 levels deep"},
      {many + "\"z\": 0}", "x.json: an object has more than 256 keys"},
  };
  for (const auto& [text, words] : rows) {
    const Result<Value> value = parse_json(text, "x.json");
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().text().find(words), std::string::npos) << value.error().text() << "\nfor " << text;
  }
}

}  // namespace
}  // namespace capstan::conformance
