// Compares schema/scenario.schema.json and schema/plan.schema.json, which editors use, with the readers. A schema must
// be the one generated from its reader, must accept every file of the tree, and must refuse what the reader refuses.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "manifest/path.h"
#include "plan/feasibility/refusal.h"
#include "plan/read/read_spec.h"
#include "scenario/blocks.h"
#include "scenario/json_schema.h"
#include "scenario/reader_table.h"

namespace capstan::golden {
namespace {

std::string schema_file(Format format) {
  return std::string(CAPSTAN_SOURCE_DIR "/schema/") + (format == Format::plan ? "plan" : "scenario") + ".schema.json";
}

const nlohmann::ordered_json& shipped_schema(Format format) {
  static const auto scenario = nlohmann::ordered_json::parse(read_text(schema_file(Format::scenario)).value_or("{}"));
  static const auto plan = nlohmann::ordered_json::parse(read_text(schema_file(Format::plan)).value_or("{}"));
  return format == Format::plan ? plan : scenario;
}

/// Checks that every YAML file of a folder fits the schema, and returns their number.
std::size_t check_folder(Format format, const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CAPSTAN_SOURCE_DIR + folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const auto root = manifest::parse_file(entry.path());
    EXPECT_TRUE(root) << root.error().text();
    EXPECT_EQ(root ? schema_fault(shipped_schema(format), as_json(*root)) : "", "") << entry.path();
    ++count;
  }
  return count;
}

/// Keys that depend on the value of a key that is not `policy`. The schema always accepts them.
const std::set<std::string> kConditionalKeys = {"engine_rps", "kalman_q_level", "kalman_q_trend", "kalman_r",
                                                "throughput_adjustment_interval"};

/// Returns true for a key that is required only by the value of another key, which the schema does not express. A
/// machine of a plan needs its shape if the catalogue does not have it. A service needs a name and a load if it is one
/// of several. A file with jobs needs no service, and then its policies have no scaler.
bool is_conditional(const Mapping& mapping, const std::string& key) {
  const bool is_shape = mapping.format == Format::plan && mapping.heading == "cluster.instances" && key != "instance";
  const bool is_one_of_several = mapping.path == "services.0" && mapping.format == Format::scenario;
  const bool is_absent_with_jobs =
      mapping.format == Format::scenario &&
      ((mapping.path.empty() && key == "service") || (mapping.heading == "policies" && key == "scale"));
  return is_shape || is_absent_with_jobs || (is_one_of_several && (key == "name" || key == "load")) ||
         kConditionalKeys.contains(key);
}

/// Validates the full example with these changes against the schema.
std::string fault_of(const Mapping& mapping, const std::string& extra_set = "") {
  manifest::Node root = full_example_with(mapping.format, mapping.sets);
  if (!extra_set.empty() && !manifest::apply_set(root, extra_set)) return "the change cannot be applied";
  return schema_fault(shipped_schema(mapping.format), as_json(root));
}

TEST(JsonSchema, IsGeneratedFromTheReader) {
  for (const Format format : {Format::scenario, Format::plan}) {
    const std::string text = schema_of(format).dump(2) + "\n";
    if (std::getenv("CAPSTAN_WRITE_GOLDEN") != nullptr) {
      ASSERT_TRUE(write_text(schema_file(format), text));
      continue;
    }
    EXPECT_EQ(read_text(schema_file(format)).value_or("no such file"), text)
        << "if the change is intended, run scripts/generate";
  }
}

TEST(JsonSchema, EveryScenarioAndPlanFits) {
  EXPECT_GE(check_folder(Format::scenario, "/scenarios"), 20u);
  EXPECT_GE(check_folder(Format::plan, "/docs/guides/plan"), 3u);
  for (const Mapping& mapping : mappings()) EXPECT_EQ(fault_of(mapping), "") << testing::PrintToString(mapping.sets);
}

TEST(JsonSchema, EveryPlanOfTheGuidesCanBeRead) {
  for (const auto& entry : std::filesystem::directory_iterator(CAPSTAN_SOURCE_DIR "/docs/guides/plan")) {
    if (entry.path().extension() != ".yaml") continue;
    const plan::SpecResult spec = plan::read_plan_spec(entry.path());
    EXPECT_EQ(spec ? "" : spec.error().text(), "");
    EXPECT_TRUE(spec && plan::refusals(*spec).empty()) << entry.path();
  }
}

TEST(JsonSchema, RefusesUnknownKeysAndMissingRequiredKeys) {
  for (const Mapping& mapping : mappings()) {
    SCOPED_TRACE(mapping.name() + " at " + mapping.path + testing::PrintToString(mapping.sets));
    EXPECT_NE(fault_of(mapping, child_path(mapping.path, "no_such_key") + "=1"), "");
    for (const std::string& key : keys_of(mapping)) {
      if (is_required(mapping, key) && !is_conditional(mapping, key)) {
        EXPECT_NE(fault_of(mapping, child_path(mapping.path, key) + "=~"), "") << key;
      }
    }
  }
}

TEST(JsonSchema, AFileNeedsAServiceOrJobs) {
  const struct {
    const char* keys;
    bool fits;
  } rows[] = {
      {"jobs: [{name: a, gpu: H100, work: 1h, arrivals: {count: 1}}]", true},
      {"service: {model: a, gpu: H100, slo: {ttft: 1s}, replicas: {max: 1}}", false},
      {"seed: 1", false},
  };
  for (const auto& row : rows) {
    const auto root = manifest::parse(
        std::string("name: a\ncluster: {}\npolicies: [{name: a, place: gang, provision: group}]\n") + row.keys, "a");
    ASSERT_TRUE(root);
    EXPECT_EQ(schema_fault(shipped_schema(Format::scenario), as_json(*root)).empty(), row.fits) << row.keys;
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
        EXPECT_NE(fault_of(mapping, set), "") << testing::PrintToString(mapping.sets) << " and " << set;
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
      if (column.type != "text" && column.type != "name, or list") {
        EXPECT_NE(fault_of(mapping, path + "=§"), "") << key;
      }
      if (column.type != "list") {
        EXPECT_NE(fault_of(mapping, path + "=[[1]]"), "") << key;
      }
      if (column.type != "integer" && column.type != "number") continue;
      if (!column.bounds.empty() && key != "seed") {  // a seed may be as large as this value
        EXPECT_NE(fault_of(mapping, path + "=100000000000000000"), "") << key;
      }
      if (column.bounds.starts_with("0")) {
        EXPECT_NE(fault_of(mapping, path + "=-1"), "") << key;
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
}  // namespace capstan::golden
