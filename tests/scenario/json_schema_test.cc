// schema/scenario.schema.json, for editors, against the reader of scenarios: it is what the reader's own answers come
// to, everything that the tree ships fits it, and it refuses what the reader refuses.

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

const nlohmann::ordered_json& shipped() {
  static const auto schema = nlohmann::ordered_json::parse(read_text(kSchemaFile).value_or("{}"));
  return schema;
}

/// Keys that go with a value of another key than the one that says the policy: the schema always takes them.
const std::set<std::string> kAtTimes = {"engine_rps", "kalman_q_level", "kalman_q_trend", "kalman_r",
                                        "throughput_adjustment_interval"};

/// Holds the full example, changed, against the schema.
std::string fault_of(const Strings& sets, const std::string& more = "") {
  manifest::Node root = full_example_with(sets);
  if (!more.empty() && !manifest::apply_set(root, more)) return "cannot be set";
  return schema_fault(shipped(), as_json(root));
}

TEST(JsonSchema, IsWhatTheReaderTakes) {
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
    EXPECT_EQ(schema_fault(shipped(), as_json(*root)), "") << entry.path();
    ++count;
  }
  EXPECT_GE(count, 20u);
  for (const Mapping& mapping : mappings())
    EXPECT_EQ(fault_of(mapping.sets), "") << testing::PrintToString(mapping.sets);
}

TEST(JsonSchema, RefusesAKeyThatTheReaderDoesNotKnowAndMissesOneThatItNeeds) {
  for (const Mapping& mapping : mappings()) {
    SCOPED_TRACE(mapping.name() + " at " + mapping.path + testing::PrintToString(mapping.sets));
    EXPECT_NE(fault_of(mapping.sets, under(mapping.path, "no_such_key") + "=1"), "");
    for (const std::string& key : keys_of(mapping)) {
      if (is_needed(mapping, key) && !kAtTimes.contains(key)) {
        EXPECT_NE(fault_of(mapping.sets, under(mapping.path, key) + "=~"), "") << key;
      }
    }
  }
}

TEST(JsonSchema, RefusesAKeyOfAnotherKind) {
  std::size_t tried = 0;
  for (const Mapping& mapping : mappings()) {
    const Strings& own = keys_of(mapping);
    for (const Mapping& other : mappings()) {
      if (other.name() != mapping.name() || &other == &mapping) continue;
      for (const std::string& key : used_by(other)) {
        const std::string value = value_of(other, key);
        if (value.empty() || kAtTimes.contains(key) || std::ranges::count(own, key) > 0) continue;
        const std::string set = under(mapping.path, key) + "=" + value;
        EXPECT_NE(fault_of(mapping.sets, set), "") << testing::PrintToString(mapping.sets) << " and " << set;
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 100u);
}

TEST(JsonSchema, RefusesAValueOfAnotherTypeOrBeyondItsBounds) {
  for (const Mapping& mapping : mappings()) {
    SCOPED_TRACE(mapping.name() + " at " + mapping.path);
    for (const std::string& key : keys_of(mapping)) {
      const std::string path = under(mapping.path, key);
      const Column& column = column_of(mapping, key);
      if (column.type != "text") {
        EXPECT_NE(fault_of(mapping.sets, path + "=§"), "") << key;
      }
      if (column.type != "list") {
        EXPECT_NE(fault_of(mapping.sets, path + "=[[1]]"), "") << key;
      }
      if (column.type != "integer" && column.type != "number") continue;
      if (!column.bounds.empty() && key != "seed") {  // which may be as large as an integer is
        EXPECT_NE(fault_of(mapping.sets, path + "=100000000000000000"), "") << key;
      }
      if (column.bounds.starts_with("0")) {
        EXPECT_NE(fault_of(mapping.sets, path + "=-1"), "") << key;
      }
    }
  }
}

TEST(JsonSchema, ChecksByRulesThatAreChecked) {
  using Json = nlohmann::ordered_json;
  const struct {
    const char* teaches;
    const char* schema;
    const char* value;
    const char* fault;
  } rows[] = {
      {"a type", R"({"type": ["string", "integer"]})", "3", ""},
      {"another", R"({"type": ["string", "boolean"]})", "3", ": type"},
      {"a whole number is a number", R"({"type": "number"})", "3", ""},
      {"half a one is not whole", R"({"type": "integer"})", "3.5", ": type"},
      {"a pattern is of texts", R"({"pattern": "^a$"})", "\"b\"", ": pattern"},
      {"of nothing else", R"({"pattern": "^a$"})", "1", ""},
      {"bounds", R"({"minimum": 1, "maximum": 2})", "3", ": maximum"},
      {"a key too many", R"({"properties": {"a": {}}, "additionalProperties": false})", R"({"b": 1})",
       ".b: additionalProperties"},
      {"a key too few", R"({"required": ["a"]})", R"({"b": 1})", ": required a"},
      {"names of keys", R"({"propertyNames": {"enum": ["a"]}})", R"({"b": 1})", ".b: propertyNames"},
      {"an element", R"({"items": {"type": "string"}})", R"(["a", 1])", "[]: type"},
      {"one of two", R"({"anyOf": [{"const": 1}, {"const": 2}]})", "3", ": anyOf"},
      {"a condition that holds", R"({"if": {"required": ["a"]}, "then": {"required": ["b"]}})", R"({"a": 1})",
       ": required b"},
      {"a condition that does not", R"({"if": {"required": ["a"]}, "then": {"required": ["b"]}})", R"({"c": 1})", ""},
      {"elsewhere", R"({"items": {"$ref": "#/definitions/x"}, "definitions": {"x": {"const": 1}}})", "[1, 2]",
       "[]: const"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(schema_fault(Json::parse(row.schema), nlohmann::json::parse(row.value)), row.fault) << row.teaches;
  }
}

}  // namespace
}  // namespace capstan::scenario
