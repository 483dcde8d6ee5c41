#include "conformance/suite.h"

#include <gtest/gtest.h>

namespace capstan::conformance {
namespace {

TEST(Suites, AreFoundByTheStemOfTheirFileName) {
  ASSERT_NE(find_suite("hpa"), nullptr);
  EXPECT_EQ(find_suite("hpa")->name, "hpa");
  EXPECT_EQ(find_suite("unknown"), nullptr);
  EXPECT_TRUE(suite_names().starts_with("hpa"));
}

TEST(Cases, AreRead) {
  const Result<std::vector<Case>> cases =
      parse_cases(R"({"cases": [{"id": "a", "kind": "k", "given": {"n": 1}, "expect": {"m": 2}, "note": "x"},
                                {"id": "b", "given": {}, "expect": {}}], "source": {}})",
                  "x.json");
  ASSERT_TRUE(cases) << cases.error().text();
  ASSERT_EQ(cases->size(), 2u);
  EXPECT_EQ((*cases)[0].kind, "k");
  EXPECT_EQ(to_text((*cases)[0].expect), R"({"m": 2})");
  EXPECT_EQ((*cases)[1].kind, "");
}

TEST(Cases, AnErrorNamesTheRow) {
  const std::pair<const char*, const char*> rows[] = {
      {"[]", "x.json: found no list \"cases\", expected {source, schema, cases}"},
      {R"({"cases": 3})", "x.json: found no list \"cases\", expected {source, schema, cases}"},
      {R"({"cases": [{"given": {}, "expect": {}}]})", "x.json: cases[0] has no string \"id\", expected one"},
      {R"({"cases": [{"id": "", "given": {}, "expect": {}}]})", "x.json: cases[0] has no string \"id\", expected one"},
      {R"({"cases": [{"id": "a", "kind": 3, "given": {}, "expect": {}}]})",
       "x.json: cases[0].kind is not a string, expected one"},
      {R"({"cases": [{"id": "a", "given": 1, "expect": {}}]})",
       "x.json: cases[0] has no object \"given\", expected one"},
      {R"({"cases": [{"id": "a", "given": {}}]})", "x.json: cases[0] has no object \"expect\", expected one"},
  };
  for (const auto& [text, words] : rows) {
    const Result<std::vector<Case>> cases = parse_cases(text, "x.json");
    ASSERT_FALSE(cases) << text;
    EXPECT_EQ(cases.error().text(), words);
  }
}

}  // namespace
}  // namespace capstan::conformance
