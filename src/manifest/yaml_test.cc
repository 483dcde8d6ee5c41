#include "manifest/yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan::manifest {
namespace {

std::string error_of(std::string_view text) {
  const Result<Node> node = parse(text, "s.yaml");
  return node ? "no error" : node.error().text();
}

TEST(Yaml, ValuesHaveTheirPlace) {
  const Result<Node> root = parse("name: a\nslo:\n  ttft: 2s\nlist: [1, \"2\"]\n", "s.yaml");
  ASSERT_TRUE(root) << root.error().text();
  const Node* ttft = root->find("slo")->find("ttft");
  EXPECT_EQ(ttft->text, "2s");
  EXPECT_EQ(ttft->place.line, 3u);
  EXPECT_EQ(ttft->place.column, 9u);
  EXPECT_EQ(root->find("list")->items.size(), 2u);
  EXPECT_TRUE(root->find("list")->items[1].quoted);
}

struct Row {
  const char* teaches;
  std::string text;
  const char* error;
};

TEST(Yaml, ErrorsNameThePlaceAndTheProblem) {
  const Row rows[] = {
      {"a key twice", "a: 1\nb: 2\na: 3\n", "s.yaml:3:1: key \"a\" is given twice, first on line 1"},
      {"an empty text", "", "s.yaml: is empty, expected a YAML mapping"},
      {"only a comment", "# a\n", "s.yaml: is empty, expected a YAML mapping"},
      {"a NUL byte", std::string("a: \0b", 5), "s.yaml:1:4: contains a NUL byte, expected YAML"},
      {"a control character", "a: b\n\x01", "s.yaml:2:1: contains a control character, expected YAML"},
      {"bytes that are not UTF-8", "a: \xff", "s.yaml:1:4: is not valid UTF-8, expected YAML"},
      {"an alias without an anchor", "a: *b\n", "s.yaml:1:5: alias *b has no anchor above it"},
      {"a tag", "a: !!binary aGk=\n",
       "s.yaml:1:13: the tag tag:yaml.org,2002:binary is not supported, expected a value without a tag"},
      {"two documents", "a: 1\n---\nb: 1\n", "s.yaml:2:1: a second document starts here, expected only one"},
      {"a list as a key", "[a, b]: 1\n", "s.yaml:1:1: a key is a list, expected a string"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.teaches);
    EXPECT_EQ(error_of(row.text), row.error);
  }
}

TEST(Yaml, ParsingGoesOnAfterSomeErrors) {
  const struct {
    const char* teaches;
    const char* text;
    const char* faults;
    const char* value;  ///< value of "a"
  } rows[] = {
      {"the first value of a repeated key counts", "a: 1\nb: 2\na: {c: 3}\n",
       "s.yaml:3:1: key \"a\" is given twice, first on line 1\n", "1"},
      {"a tag is ignored", "a: !!str 1\n",
       "s.yaml:1:10: the tag tag:yaml.org,2002:str is not supported, expected a value without a tag\n", "1"},
      {"a valid document", "a: 1\n", "", "1"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.teaches);
    std::vector<Error> faults;
    const Result<Node> root = parse(row.text, "s.yaml", {}, &faults);
    ASSERT_TRUE(root) << root.error().text();
    std::string text;
    for (const Error& fault : faults) text += fault.text() + "\n";
    EXPECT_EQ(text, row.faults);
    ASSERT_NE(root->find("a"), nullptr);
    EXPECT_EQ(root->find("a")->text, row.value);
  }
}

TEST(Yaml, ReadsSeveralDocumentsIfTheyAreExpected) {
  const struct {
    const char* teaches;
    const char* text;
    std::vector<std::uint32_t> lines;  ///< first line of each document
  } rows[] = {
      {"one", "a: 1\n", {1}},
      {"two", "a: 1\n---\nb: 2\n", {1, 3}},
      {"empty ones are left out", "---\n# nothing\n---\na: 1\n---\n", {4}},
      {"only empty ones", "---\n---\n", {}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.teaches);
    const Result<std::vector<Node>> documents = parse_documents(row.text, "s.yaml");
    ASSERT_TRUE(documents) << documents.error().text();
    std::vector<std::uint32_t> lines;
    for (const Node& root : *documents) lines.push_back(root.place.line);
    EXPECT_EQ(lines, row.lines);
  }
  EXPECT_EQ(parse_documents("a: &x 1\n---\nb: *x\n", "s.yaml").error().text(),
            "s.yaml:3:5: alias *x has no anchor above it");
}

TEST(Yaml, SyntaxErrorsHaveAPlace) {
  const std::string error = error_of("a: [1, 2\nb: 3\n");
  EXPECT_TRUE(error.starts_with("s.yaml:3:")) << error;
  EXPECT_NE(error.find("not YAML"), std::string::npos) << error;
}

TEST(Yaml, ExpandsAliasesAndRefusesAliasBombs) {
  const Result<Node> root = parse("a: &x {b: 1}\nc: *x\n", "s.yaml");
  ASSERT_TRUE(root) << root.error().text();
  EXPECT_EQ(root->find("c")->find("b")->text, "1");

  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j > 0 ? ", " : "") + previous;
    bomb += "]\n";
  }
  EXPECT_NE(error_of(bomb).find("has more than 500000 values after aliases are expanded"), std::string::npos)
      << error_of(bomb);
}

TEST(Yaml, AnEmptyValueHasThePlaceOfTheTokenBeforeIt) {
  const Result<Node> root = parse("a:\n  b:\nlist:\n  - x\n  -\n", "s.yaml");
  ASSERT_TRUE(root);
  EXPECT_EQ(error_at(root->find("a")->find("b")->place, "no").text(), "s.yaml:2:3: no");
  EXPECT_EQ(error_at(root->find("list")->items.at(1).place, "no").text(), "s.yaml:4:5: no");
}

TEST(Yaml, DepthIsBounded) {
  const std::string deep = "a: " + std::string(200, '[') + std::string(200, ']') + "\n";
  EXPECT_NE(error_of(deep), "no error");
  std::string block;
  for (int i = 0; i < 100; ++i) block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_NE(error_of(block).find("nested more than 64 deep"), std::string::npos) << error_of(block);
}

RC_GTEST_PROP(Yaml, AnySyntaxGivesATreeOrAnError, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab:- \n[]{},&*!|>#'\"%@?\t0")));
  const Result<Node> node = parse(text, "s.yaml");
  RC_ASSERT((node || !node.error().message.empty()));
}

RC_GTEST_PROP(Yaml, AnyBytesGiveATreeOrAnError, (const std::string& text)) {
  const Result<Node> node = parse(text, "s.yaml");
  RC_ASSERT((node || !node.error().message.empty()));
}

}  // namespace
}  // namespace capstan::manifest
