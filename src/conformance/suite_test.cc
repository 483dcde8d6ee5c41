#include "conformance/suite.h"

#include <gtest/gtest.h>

namespace capstan::conformance {
namespace {

TEST(Suites, AreFoundByTheStemOfTheirFile) {
  ASSERT_NE(find_suite("hpa"), nullptr);
  EXPECT_EQ(find_suite("hpa")->name, "hpa");
  EXPECT_EQ(find_suite("nobody"), nullptr);
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

TEST(Cases, AreRefusedWithTheRow) {
  const std::pair<const char*, const char*> rows[] = {
      {"[]", "x.json: lacks the list \"cases\", expected {source, schema, cases}"},
      {R"({"cases": 3})", "x.json: lacks the list \"cases\", expected {source, schema, cases}"},
      {R"({"cases": [{"given": {}, "expect": {}}]})", "x.json: cases[0] lacks the text \"id\""},
      {R"({"cases": [{"id": "", "given": {}, "expect": {}}]})", "x.json: cases[0] lacks the text \"id\""},
      {R"({"cases": [{"id": "a", "kind": 3, "given": {}, "expect": {}}]})", "x.json: cases[0].kind is no text"},
      {R"({"cases": [{"id": "a", "given": 1, "expect": {}}]})", "x.json: cases[0] lacks the object \"given\""},
      {R"({"cases": [{"id": "a", "given": {}}]})", "x.json: cases[0] lacks the object \"expect\""},
  };
  for (const auto& [text, words] : rows) {
    const Result<std::vector<Case>> cases = parse_cases(text, "x.json");
    ASSERT_FALSE(cases) << text;
    EXPECT_EQ(cases.error().text(), words);
  }
}

}  // namespace
}  // namespace capstan::conformance
