#include "conformance/suite.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "conformance/run.h"

namespace capstan::conformance {
namespace {

TEST(Suites, AreFoundByTheStemOfTheirFileName) {
  ASSERT_NE(find_suite("hpa"), nullptr);
  EXPECT_EQ(find_suite("hpa")->name, "hpa");
  EXPECT_EQ(find_suite("unknown"), nullptr);
  EXPECT_TRUE(suite_names().starts_with("hpa"));
}

/// Appends the names of all fields of a value, at any depth. The members of an object that counts something by name,
/// such as GPUs by type, are no fields.
void add_fields(const Value& value, std::vector<std::string>& fields) {
  constexpr std::string_view kByName[] = {"pools",         "nodes",   "used",  "limits",
                                          "limit_by_type", "targets", "costs", "triggers"};
  if (const Value::Array* items = value.array(); items != nullptr) {
    for (const Value& item : *items) add_fields(item, fields);
  }
  if (const Value::Object* members = value.object(); members != nullptr) {
    for (const Member& member : *members) {
      fields.push_back(member.key);
      if (std::ranges::find(kByName, member.key) == std::end(kByName)) add_fields(member.value, fields);
    }
  }
}

constexpr std::string_view kSuites[] = {"hpa", "kpa", "keda", "wva", "ray_serve", "aibrix"};

TEST(Suites, HaveAnExampleOfEachKindThatPasses) {
  for (const std::string_view name : kSuites) {
    SCOPED_TRACE(name);
    const Suite& suite = *find_suite(name);
    const auto text = read_file(CAPSTAN_SOURCE_DIR "/tests/conformance/" + std::string(name) + ".json", 1u << 20);
    ASSERT_TRUE(text);
    const Result<std::vector<Case>> cases = parse_cases(*text, std::string(name));
    ASSERT_TRUE(cases) << cases.error().text();
    EXPECT_EQ(to_text(run(suite, *cases)), std::to_string(cases->size()) + " passed, 0 failed\n");
    for (const Kind& kind : suite.kinds) {
      EXPECT_NE(std::ranges::find(*cases, kind.name, &Case::kind), cases->end()) << kind.name << " has no example";
    }
  }
}

TEST(Suites, AreDescribedInTheReferenceWithEachKindAndField) {
  const auto page = read_file(CAPSTAN_SOURCE_DIR "/docs/reference/conformance.md", 1u << 20);
  ASSERT_TRUE(page);
  for (const std::string_view name : kSuites) {
    const std::size_t from = page->find("### " + std::string(name) + "\n");
    ASSERT_NE(from, page->npos) << name;
    const std::string section = page->substr(from, page->find("\n### ", from + 1) - from);
    std::vector<std::string> words;
    for (const Kind& kind : find_suite(name)->kinds) words.emplace_back(kind.name);
    const auto text = read_file(CAPSTAN_SOURCE_DIR "/tests/conformance/" + std::string(name) + ".json", 1u << 20);
    ASSERT_TRUE(text);
    const Result<std::vector<Case>> cases = parse_cases(*text, std::string(name));
    ASSERT_TRUE(cases) << cases.error().text();
    for (const Case& row : *cases) {
      add_fields(row.given, words);
      for (const Member& field : *row.expect.object()) words.push_back(field.key);
    }
    for (const std::string& word : words) {
      EXPECT_NE(section.find('`' + word + '`'), section.npos) << name << " lacks " << word;
    }
  }
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
