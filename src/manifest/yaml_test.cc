#include "manifest/yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan::manifest {
namespace {

std::string error_of(std::string_view text) {
  const Result<Node> node = parse(text, "s.yaml");
  return node ? "no error" : node.error().text();
}

TEST(Yaml, KeepsWhereThingsStand) {
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

TEST(Yaml, SaysWhatIsWrongAndWhere) {
  const Row rows[] = {
      {"a key twice", "a: 1\nb: 2\na: 3\n", "s.yaml:3:1: key \"a\" is given twice, first on line 1"},
      {"nothing at all", "", "s.yaml: is empty, expected a YAML mapping"},
      {"only a comment", "# a\n", "s.yaml: is empty, expected a YAML mapping"},
      {"a NUL byte", std::string("a: \0b", 5), "s.yaml:1:4: holds a NUL byte, expected a YAML text"},
      {"a control character", "a: b\n\x01", "s.yaml:2:1: holds a control character, expected a YAML text"},
      {"bytes that are no text", "a: \xff", "s.yaml:1:4: is not valid UTF-8, expected a YAML text"},
      {"an alias to nothing", "a: *b\n", "s.yaml:1:5: alias *b has no anchor before it"},
      {"a tag", "a: !!binary aGk=\n",
       "s.yaml:1:13: a tag, tag:yaml.org,2002:binary, is not supported, expected a plain value"},
      {"two documents", "a: 1\n---\nb: 1\n", "s.yaml:2:1: a second document begins here, expected one"},
      {"a list as a key", "[a, b]: 1\n", "s.yaml:1:1: a key is a list, expected a text"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.teaches);
    EXPECT_EQ(error_of(row.text), row.error);
  }
}

TEST(Yaml, SyntaxErrorsHaveAPlace) {
  const std::string error = error_of("a: [1, 2\nb: 3\n");
  EXPECT_TRUE(error.starts_with("s.yaml:3:")) << error;
  EXPECT_NE(error.find("not YAML"), std::string::npos) << error;
}

TEST(Yaml, AliasesAreExpandedAndBombsRefused) {
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
  EXPECT_NE(error_of(bomb).find("more than 500000 values, aliases expanded"), std::string::npos) << error_of(bomb);
}

TEST(Yaml, DepthIsBounded) {
  const std::string deep = "a: " + std::string(200, '[') + std::string(200, ']') + "\n";
  EXPECT_NE(error_of(deep), "no error");
  std::string block;
  for (int i = 0; i < 100; ++i) block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_NE(error_of(block).find("nested more than 64 deep"), std::string::npos) << error_of(block);
}

struct SetRow {
  const char* teaches;
  const char* assignment;
  const char* outcome;  ///< the value of load.scale afterwards, or the error
};

TEST(Set, Rows) {
  const SetRow rows[] = {
      {"replaces a value", "load.scale=2", "2"},
      {"makes what is missing", "other.new=3", "1"},
      {"reaches into lists", "list.0.name=b", "1"},
      {"needs an equals sign", "load.scale", "--set load.scale: expected path=value, such as load.scale=2"},
      {"needs a path", "=2", "--set =2: expected path=value, such as load.scale=2"},
      {"has no empty names", "load..scale=2", "--set load..scale=2: an empty name in the path"},
      {"knows a list's size", "list.4=2",
       "--set list.4=2: list is a list of 1, expected a position from 0 instead of \"4\""},
      {"cannot enter a number", "load.scale.x=2", "--set load.scale.x=2: load.scale is \"1\", it has no keys"},
      {"reads the value as YAML", "load.scale=[1", nullptr},
  };
  for (const SetRow& row : rows) {
    SCOPED_TRACE(row.teaches);
    Result<Node> root = parse("load: {scale: 1}\nlist: [{name: a}]\n", "s.yaml");
    ASSERT_TRUE(root);
    const Result<void> done = apply_set(*root, row.assignment);
    if (row.outcome == nullptr) {
      ASSERT_FALSE(done);
      EXPECT_TRUE(done.error().text().starts_with("--set load.scale=[1:")) << done.error().text();
    } else {
      EXPECT_EQ(done ? root->find("load")->find("scale")->text : done.error().text(), row.outcome);
    }
  }
}

RC_GTEST_PROP(Yaml, AnySyntaxGivesATreeOrAnError, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab:- \n[]{},&*!|>#'\"%@?\t0")));
  const Result<Node> node = parse(text, "s.yaml");
  RC_ASSERT(node || !node.error().message.empty());
}

RC_GTEST_PROP(Yaml, AnyBytesGiveATreeOrAnError, (const std::string& text)) {
  const Result<Node> node = parse(text, "s.yaml");
  RC_ASSERT(node || !node.error().message.empty());
}

}  // namespace
}  // namespace capstan::manifest
