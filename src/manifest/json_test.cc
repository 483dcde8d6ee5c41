#include "manifest/json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

namespace capstan::manifest {
namespace {

constexpr std::string_view kJsonLists[] = {"rows"};

Result<Node> read_root_of(std::string_view text, const Limits& limits = {}) {
  Result<JsonFile> file = read_json(text, "f.json", limits, {});
  if (!file) return std::unexpected(file.error());
  return std::move(file->root);
}

/// Writes a value with its places, so that a test can compare whole trees.
std::string describe_json(const Node& node) {
  std::string out = std::to_string(node.place.line) + ":" + std::to_string(node.place.column);
  if (node.kind == Node::Kind::scalar) return out + (node.quoted ? " text " : " word ") + node.text;
  out += node.kind == Node::Kind::sequence ? " [" : " {";
  for (const Node& item : node.items) out += describe_json(item) + ", ";
  for (const Node::Entry& entry : node.entries) {
    out += std::to_string(entry.place.line) + ":" + std::to_string(entry.place.column) + " " + entry.key + " = " +
           describe_json(entry.value) + ", ";
  }
  return out + "]";
}

/// Returns what differs between the value that this reader makes and the one that the YAML reader makes.
std::string json_difference(std::string_view text) {
  const Result<Node> json = read_root_of(text);
  const Result<Node> yaml = parse(text, "f.json");
  if (!json || !yaml) return "one reader refuses it: " + (json ? yaml.error().text() : json.error().text());
  const std::string ours = describe_json(*json), theirs = describe_json(*yaml);
  return ours == theirs ? "" : "JSON: " + ours + "\nYAML: " + theirs;
}

TEST(Json, ReadsTheSameValuesAsYaml) {
  for (const char* text : {
           "{}",
           "{ }\n",
           R"({"a":1,"b":-2.5e+3,"c":true,"d":false,"e":null,"f":""})",
           R"({"list":[],"nested":[[1,2],{"x":[{}]}], "last" : "y"})",
           "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {\"c\": \"d\"}\n}\n",
           R"({"text":"a b: c, {d} [e] # f","quoted":"say \"x\" \\ \/","lines":"a\nb\tc"})",
           R"({"word":"null","number":"12","blank":" "})",
           R"({"latin":"é","kanji":"漢字","emoji":"😀 after","key é":1})",
           R"({"escaped":"\u00e9\u6f22","pair":"\ud83d\ude00"})",
       }) {
    EXPECT_EQ(json_difference(text), "") << text;
  }
}

rc::Gen<nlohmann::json> any_json(int depth) {
  const auto scalar = rc::gen::oneOf(
      rc::gen::map(rc::gen::inRange(-100'000, 100'000), [](int n) { return nlohmann::json(n); }),
      rc::gen::element<nlohmann::json>(nullptr, true, false, 1.5, "", "x", "a: b", "é", "\"", "\\", "-", "[", "#"));
  if (depth == 0) return scalar;
  const auto list = rc::gen::map(rc::gen::container<std::vector<nlohmann::json>>(any_json(depth - 1)),
                                 [](const std::vector<nlohmann::json>& items) { return nlohmann::json(items); });
  const auto mapping =
      rc::gen::map(rc::gen::container<std::map<std::string, nlohmann::json>>(
                       rc::gen::element<std::string>("a", "b", "key", "long_key", "é"), any_json(depth - 1)),
                   [](const std::map<std::string, nlohmann::json>& entries) { return nlohmann::json(entries); });
  return rc::gen::oneOf(scalar, list, mapping);
}

RC_GTEST_PROP(Json, ReadsAnyJsonAsYamlDoes, ()) {
  const auto texts = *rc::gen::map(any_json(3), [](const nlohmann::json& value) {
    const nlohmann::json root = {{"value", value}};
    return std::pair(root.dump(), root.dump(1));
  });
  RC_ASSERT(json_difference(texts.first) == "");
  RC_ASSERT(json_difference(texts.second) == "");
}

TEST(Json, LeavesTheRowsOfListsAsText) {
  const std::string text = "{\"other\": [1],\n\"rows\": [\n  {\"id\":7,\"name\":\"é\",\"x\":[1,2]},\n  3\n]}";
  const Result<JsonFile> file = read_json(text, "f.json", {}, kJsonLists);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->root.find("other")->items.size(), 1u);
  EXPECT_EQ(file->root.find("rows")->kind, Node::Kind::sequence);
  EXPECT_TRUE(file->root.find("rows")->items.empty());
  const std::vector<JsonRow>& rows = file->rows.at("rows");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text, "{\"id\":7,\"name\":\"é\",\"x\":[1,2]}");
  EXPECT_EQ(rows[0].place.line, 3u);
  EXPECT_EQ(rows[0].place.column, 3u);

  const Result<Node> whole = parse(text, "f.json");
  ASSERT_TRUE(whole);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(describe_json(read_row(rows[i])), describe_json(whole->find("rows")->items[i]));
  }
  const Node only_x = read_row(rows[0], "x");
  EXPECT_EQ(only_x.find("x")->items.size(), 2u);
  EXPECT_TRUE(only_x.find("name")->text.empty()) << "the value is skipped";
  EXPECT_EQ(read_row(rows[1], "x").text, "3") << "a row that is not a mapping";
}

TEST(Json, AListThatStaysTextMayBeAnotherValue) {
  const Result<JsonFile> file = read_json(R"({"rows":{"a":1}})", "f.json", {}, kJsonLists);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->rows.empty());
  EXPECT_EQ(file->root.find("rows")->kind, Node::Kind::mapping);
}

struct RefusedJson {
  std::string text;
  const char* error;
};

TEST(Json, RefusesEverythingElseWithItsPlace) {
  const std::string deep = "{\"a\":" + std::string(70, '[') + std::string(70, ']') + "}";
  for (const RefusedJson& row : std::vector<RefusedJson>{
           {"", "f.json:1:1: not JSON: expected a mapping"},
           {"[1]", "f.json:1:1: not JSON: expected a mapping"},
           {"a: 1", "f.json:1:1: not JSON: expected a mapping"},
           {"{\"a\":1", "f.json:1:7: not JSON: expected a comma or the end of the mapping"},
           {"{\"a\":1}\n{", "f.json:2:1: not JSON: expected the end of the file"},
           {"{\"a\" 1}", "f.json:1:6: not JSON: expected a colon"},
           {"{a:1}", "f.json:1:2: not JSON: expected a key in double quotes"},
           {"{\"a\":1,}", "f.json:1:8: not JSON: expected a key in double quotes"},
           {"{\"a\":[1,]}", "f.json:1:9: not JSON: expected a value"},
           {"{\"a\":[1 2]}", "f.json:1:9: not JSON: expected a comma or the end of the list"},
           {"{\"a\":", "f.json:1:6: not JSON: expected a value, found the end of the file"},
           {"{\"a\":word}", "f.json:1:6: not JSON: expected a value"},
           {"{\"a\":01}", "f.json:1:6: not JSON: expected a value"},
           {"{\"a\":1.}", "f.json:1:6: not JSON: expected a value"},
           {"{\"a\":1e}", "f.json:1:6: not JSON: expected a value"},
           {"{\"a\":-}", "f.json:1:6: not JSON: expected a value"},
           {"{\"a\":\"b", "f.json:1:8: not JSON: expected the end of a string, found the end of the file"},
           {"{\"a\":\"\\x\"}", "f.json:1:8: not JSON: expected an escape of JSON for a character"},
           {"{\"a\":\"\\u00g0\"}", "f.json:1:8: not JSON: expected an escape of JSON for a character"},
           {"{\"a\":\"\\ud83d\"}", "f.json:1:13: not JSON: expected an escape of JSON for a character"},
           {"{\"a\":\"\\u0000\"}", "f.json:1:13: not JSON: expected an escape of JSON for a character"},
           {"{\"a\":\"\t\"}", "f.json:1:7: not JSON: contains a control character"},
           {"{\"a\":\"\xff\"}", "f.json:1:7: not JSON: is not valid UTF-8"},
           {"{\"a\\n\":1}", "f.json:1:7: not JSON: expected a key without escapes"},
           {"{\"a\":1,\"a\":2}", "f.json:1:11: not JSON: key \"a\" is given twice"},
           {"{\"rows\":[{\"b\":1,\"b\":2}]}", "f.json:1:20: not JSON: key \"b\" is given twice"},
           {"{\"rows\":[1,2", "f.json:1:13: not JSON: expected a comma or the end of the list"},
           {deep, "f.json:1:70: not JSON: values are nested more than 64 deep"},
       }) {
    const Result<JsonFile> file = read_json(row.text, "f.json", {}, kJsonLists);
    ASSERT_FALSE(file) << row.text;
    EXPECT_EQ(file.error().text(), row.error) << row.text;
  }
}

TEST(Json, TheLimitOfValuesHoldsForTheRootAndForEachRow) {
  const Limits three{.bytes = 1'000, .nodes = 3};
  EXPECT_TRUE(read_json(R"({"rows":[[1,2],[3,4],[5,6]],"a":[1,2]})", "f.json", three, kJsonLists));
  EXPECT_FALSE(read_json(R"({"rows":[[1,2],[3,4,5]]})", "f.json", three, kJsonLists)) << "four values in a row";
  EXPECT_FALSE(read_json(R"({"a":[1,2,3]})", "f.json", three, kJsonLists)) << "four values outside";
  EXPECT_FALSE(read_json(R"({"rows":[1,2,3,4]})", "f.json", three, kJsonLists)) << "four rows";
  EXPECT_FALSE(read_json(std::string(1'001, ' '), "f.json", three, kJsonLists)) << "more than a thousand bytes";
}

RC_GTEST_PROP(Json, AnyTextIsReadOrRefusedWithAPlace, (const std::string& text)) {
  const Result<JsonFile> file = read_json(text, "f.json", {}, kJsonLists);
  RC_ASSERT((file || file.error().line > 0));
}

}  // namespace
}  // namespace capstan::manifest
