#include "schema/crd.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "schema/field.h"

namespace capstan::schema {
namespace {

const std::string kRoot = CAPSTAN_SOURCE_DIR;

std::string file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Removes the indentation of all lines.
std::string unindented(const std::string& yaml) {
  std::string out;
  bool margin = true;
  for (const char c : yaml) {
    if (!(margin && c == ' ')) out += c;
    margin = c == '\n' || (margin && c == ' ');
  }
  return out;
}

constexpr const char* kDescription = R"(
kind: Thing
plural: things
short: th
scope: Namespaced
about: A thing.
columns: [{name: Size, type: integer, path: .spec.size}, {name: Wait, type: string, path: .spec.wait, wide: true}]
required: [spec]
spec:
  required: [size]
  rules: [{check: self.size > 1, message: size must be above 1}]
  properties:
    size: {type: integer, minimum: 1, about: How large.}
    wait: {type: string, format: duration, default: 5m}
status:
  properties:
    conditions: {type: conditions}
)";

TEST(Crd, WritesAStructuralSchema) {
  const Result<std::string> yaml = crd_yaml(*manifest::parse(kDescription, "thing.yaml"));
  ASSERT_TRUE(yaml) << yaml.error().text();
  for (const char* part : {
           "name: things.capstan.dev\n",
           "shortNames: [th]\n",
           "- name: Size\ntype: integer\njsonPath: \".spec.size\"\n",
           "- name: Wait\ntype: string\npriority: 1\njsonPath: \".spec.wait\"\n",
           "required:\n- \"size\"\n",
           "- rule: \"self.size > 1\"\nmessage: \"size must be above 1\"\n",
           "size:\ndescription: \"How large.\"\ntype: integer\nformat: int64\nminimum: 1\n",
           "default: \"5m\"\n",
           "x-kubernetes-list-map-keys: [type]\n",
       }) {
    EXPECT_NE(unindented(*yaml).find(part), std::string::npos) << part << "\n" << *yaml;
  }
  EXPECT_TRUE(manifest::parse(*yaml, "generated.yaml"));
}

TEST(Crd, PageListsEveryFieldAndRule) {
  const Result<std::string> page = reference_page(*manifest::parse(kDescription, "thing.yaml"));
  ASSERT_TRUE(page);
  EXPECT_NE(page->find("| `size` | integer | required | minimum 1 | How large. |"), std::string::npos) << *page;
  EXPECT_NE(page->find("| `wait` | duration | `\"5m\"` |"), std::string::npos) << *page;
  EXPECT_NE(page->find("Columns of `kubectl get`: Size; with `--output wide` also Wait.\n"), std::string::npos)
      << *page;
  EXPECT_NE(page->find("- size must be above 1"), std::string::npos) << *page;
}

TEST(Crd, RejectsInvalidDescriptions) {
  struct Row {
    const char* from;
    const char* to;
    const char* message;
  };
  for (const Row& row :
       {Row{"type: integer, minimum", "type: int, minimum", "type \"int\", expected"},
        Row{"minimum: 1", "minimun: 1", "minimun"}, Row{"required: [size]", "required: [sise]", "sise is required"},
        Row{"message: size must", "massage: size must", "message"}}) {
    std::string text = kDescription;
    const std::size_t at = text.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    text.replace(at, std::string_view(row.from).size(), row.to);
    const Result<std::string> yaml = crd_yaml(*manifest::parse(text, "thing.yaml"));
    ASSERT_FALSE(yaml) << row.to;
    EXPECT_NE(yaml.error().text().find(row.message), std::string::npos) << yaml.error().text();
  }
}

TEST(Crd, CommittedFilesMatchTheDescriptions) {
  std::size_t kinds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot + "/schema/crds")) {
    const std::string name = entry.path().stem().string();
    const auto description = manifest::parse_file(entry.path().string());
    ASSERT_TRUE(description) << description.error().text();
    const auto yaml = crd_yaml(*description);
    const auto page = reference_page(*description);
    ASSERT_TRUE(yaml && page) << name << (yaml ? "" : yaml.error().text());
    EXPECT_EQ(*yaml, file(kRoot + "/deploy/crds/" + name + ".yaml")) << "run scripts/generate";
    EXPECT_EQ(*page, file(kRoot + "/docs/reference/" + name + ".md")) << "run scripts/generate";
    ++kinds;
  }
  EXPECT_GE(kinds, 2u);
}

}  // namespace
}  // namespace capstan::schema
