// Compares schema/scenario.schema.json, which editors use, with the scenario reader: the file is generated from the
// reader, every scenario of the tree fits the schema, and the schema refuses what the reader refuses.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "manifest/path.h"
#include "scenario/blocks.h"
#include "scenario/json_schema.h"
#include "scenario/reader_table.h"

namespace capstan::scenario {
namespace {

const std::string kSchemaFile = CAPSTAN_SOURCE_DIR "/schema/scenario.schema.json";

const nlohmann::ordered_json& shipped_schema() {
  static const auto schema = nlohmann::ordered_json::parse(read_text(kSchemaFile).value_or("{}"));
  return schema;
}

/// Keys that depend on the value of another key than the policy. The schema always accepts them.
const std::set<std::string> kConditionalKeys = {"engine_rps", "kalman_q_level", "kalman_q_trend", "kalman_r",
                                                "throughput_adjustment_interval"};

/// Validates the full example with these changes against the schema.
std::string fault_of(const Strings& sets, const std::string& extra_set = "") {
  manifest::Node root = full_example_with(sets);
  if (!extra_set.empty() && !manifest::apply_set(root, extra_set)) return "the change cannot be applied";
  return schema_fault(shipped_schema(), as_json(root));
}

TEST(JsonSchema, IsGeneratedFromTheReader) {
  const std::string text = scenario_schema().dump(2) + "\n";
  if (std::getenv("CAPSTAN_WRITE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_text(kSchemaFile, text));
    return;
  }
  EXPECT_EQ(read_text(kSchemaFile).value_or("no such file"), text) << "if this is meant: scripts/generate";
}

TEST(JsonSchema, EveryScenarioFits) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CAPSTAN_SOURCE_DIR "/scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    const auto root = manifest::parse_file(entry.path());
    ASSERT_TRUE(root) << root.error().text();
    EXPECT_EQ(schema_fault(shipped_schema(), as_json(*root)), "") << entry.path();
    ++count;
  }
  EXPECT_GE(count, 20u);
  for (const Mapping& mapping : mappings())
    EXPECT_EQ(fault_of(mapping.sets), "") << testing::PrintToString(mapping.sets);
}

TEST(JsonSchema, RefusesUnknownKeysAndMissingRequiredKeys) {
  for (const Mapping& mapping : mappings()) {
    SCOPED_TRACE(mapping.name() + " at " + mapping.path + testing::PrintToString(mapping.sets));
    EXPECT_NE(fault_of(mapping.sets, child_path(mapping.path, "no_such_key") + "=1"), "");
    for (const std::string& key : keys_of(mapping)) {
      if (is_required(mapping, key) && !kConditionalKeys.contains(key)) {
        EXPECT_NE(fault_of(mapping.sets, child_path(mapping.path, key) + "=~"), "") << key;
      }
    }
  }
}

TEST(JsonSchema, RefusesAKeyOfAnotherKindOfMapping) {
  std::size_t tried = 0;
  for (const Mapping& mapping : mappings()) {
    const Strings& keys = keys_of(mapping);
    for (const Mapping& other : mappings()) {
      if (other.name() != mapping.name() || &other == &mapping) continue;
      for (const std::string& key : used_by(other)) {
        const std::string value = value_of(other, key);
        if (value.empty() || kConditionalKeys.contains(key) || std::ranges::count(keys, key) > 0) continue;
        const std::string set = child_path(mapping.path, key) + "=" + value;
        EXPECT_NE(fault_of(mapping.sets, set), "") << testing::PrintToString(mapping.sets) << " and " << set;
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 100u);
}

TEST(JsonSchema, RefusesAValueOfAnotherTypeOrOutsideItsBounds) {
  for (const Mapping& mapping : mappings()) {
    SCOPED_TRACE(mapping.name() + " at " + mapping.path);
    for (const std::string& key : keys_of(mapping)) {
      const std::string path = child_path(mapping.path, key);
      const Column& column = column_of(mapping, key);
      if (column.type != "text") {
        EXPECT_NE(fault_of(mapping.sets, path + "=§"), "") << key;
      }
      if (column.type != "list") {
        EXPECT_NE(fault_of(mapping.sets, path + "=[[1]]"), "") << key;
      }
      if (column.type != "integer" && column.type != "number") continue;
      if (!column.bounds.empty() && key != "seed") {  // a seed may be any integer
        EXPECT_NE(fault_of(mapping.sets, path + "=100000000000000000"), "") << key;
      }
      if (column.bounds.starts_with("0")) {
        EXPECT_NE(fault_of(mapping.sets, path + "=-1"), "") << key;
      }
    }
  }
}

TEST(JsonSchema, ValidatesEveryRule) {
  using Json = nlohmann::ordered_json;
  const struct {
    const char* teaches;
    const char* schema;
    const char* value;
    const char* fault;
  } rows[] = {
      {"a value of one of the types", R"({"type": ["string", "integer"]})", "3", ""},
      {"a value of another type", R"({"type": ["string", "boolean"]})", "3", ": type"},
      {"a whole number is a number", R"({"type": "number"})", "3", ""},
      {"a fraction is not an integer", R"({"type": "integer"})", "3.5", ": type"},
      {"a pattern applies to strings", R"({"pattern": "^a$"})", "\"b\"", ": pattern"},
      {"a pattern does not apply to numbers", R"({"pattern": "^a$"})", "1", ""},
      {"a value above the maximum", R"({"minimum": 1, "maximum": 2})", "3", ": maximum"},
      {"an additional key", R"({"properties": {"a": {}}, "additionalProperties": false})", R"({"b": 1})",
       ".b: additionalProperties"},
      {"a missing key", R"({"required": ["a"]})", R"({"b": 1})", ": required a"},
      {"a key with another name", R"({"propertyNames": {"enum": ["a"]}})", R"({"b": 1})", ".b: propertyNames"},
      {"an element of another type", R"({"items": {"type": "string"}})", R"(["a", 1])", "[]: type"},
      {"a value that fits no alternative", R"({"anyOf": [{"const": 1}, {"const": 2}]})", "3", ": anyOf"},
      {"a condition that holds", R"({"if": {"required": ["a"]}, "then": {"required": ["b"]}})", R"({"a": 1})",
       ": required b"},
      {"a condition that does not hold", R"({"if": {"required": ["a"]}, "then": {"required": ["b"]}})", R"({"c": 1})",
       ""},
      {"a reference to a definition", R"({"items": {"$ref": "#/definitions/x"}, "definitions": {"x": {"const": 1}}})",
       "[1, 2]", "[]: const"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(schema_fault(Json::parse(row.schema), nlohmann::json::parse(row.value)), row.fault) << row.teaches;
  }
}

}  // namespace
}  // namespace capstan::scenario
