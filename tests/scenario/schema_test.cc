// docs/reference/scenario.md against the reader itself. A strict reader names every key that it accepts when it meets
// one that it does not, and every bound when it meets a value beyond it: each mapping is asked for both, and the page
// must have a row of it. docs/reference/scenario-full.yaml must use every key there is.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiment/scenario.h"
#include "manifest/path.h"
#include "manifest/yaml.h"
#include "scenario/blocks.h"

namespace capstan::scenario {
namespace {

using Strings = std::vector<std::string>;

const std::string kReference = CAPSTAN_SOURCE_DIR "/docs/reference/";
const std::string kUnknownKey = "no_such_key";
const std::string kGarbage = "§";

/// A mapping of the schema: where the page describes it, where it stands in the full example, and what has to be set
/// for it to be there.
struct Mapping {
  std::string heading;
  std::string path;
  Strings sets;
  Strings only{};  ///< the keys whose rows are looked at here; empty: all
};

const Strings kClosedLoop = {
    "load.generator=~",
    "load.closed_loop={concurrency: 10, think_time: 1s, think_exponential: true, requests: 9, lengths_profile: "
    "azure-hour, input: 8, output: 8}"};

const std::string kDiurnal = "load.generator.rate={kind: diurnal, rate: 1, peak: 8, period: 24h, start: 14h}";
const std::string kSpike = "load.generator.rate={kind: spike, rate: 1, peak: 8, start: 5m, length: 10m}";

const Strings kRoles = {
    "service.roles.prefill={model: Llama-3.1-8B, gpu: H100, dtype: bfloat16, tensor_parallel: 1, pods_per_replica: 1, "
    "together: node, replicas: {min: 1, max: 4}, engine_settings: {prefix_cache: true}, start: {warm_up: 5s}}",
    "service.roles.decode={model: Llama-3.1-8B, gpu: H100, dtype: bfloat16, tensor_parallel: 1, pods_per_replica: 1, "
    "together: node, replicas: {min: 1, max: 4}, engine_settings: {prefix_cache: true}, start: {warm_up: 5s}}",
    "service.roles.decode_per_prefill={min: 0.5, max: 4}", "service.roles.conversion=3s..5s",
    "service.kv_transfer={bandwidth: 40GB/s, setup: 1ms}"};

const std::string kVariantKeys =
    "model: Llama-3.1-8B, gpu: H100, dtype: bfloat16, pods_per_replica: 1, together: node, replicas: {min: 1, max: 4}, "
    "engine_settings: {prefix_cache: true}, start: {warm_up: 5s}";
const Strings kVariants = {"service.variants=[{name: one, weight: 10, tensor_parallel: 1, " + kVariantKeys +
                           "}, {name: two, weight: 19, tensor_parallel: 2, " + kVariantKeys + "}]"};

const std::vector<Mapping> kMappings = {
    {"The file", "", {}},
    {"load", "load", {}},
    {"load", "load", {"load.generator=~", "load.trace=x.csv"}},
    {"load", "load", {"load.generator=~", "load.profile=azure-hour"}},
    {"load", "load", kClosedLoop},
    {"load.generator", "load.generator", {}},
    {"rate", "load.generator.rate", {}},
    {"rate", "load.generator.rate", {"load.generator.rate={kind: constant, rate: 1}"}},
    {"rate", "load.generator.rate", {kDiurnal}},
    {"rate", "load.generator.rate", {kSpike}},
    {"arrivals", "load.generator.arrivals", {}},
    {"input, output", "load.generator.input", {}},
    {"input, output", "load.generator.output", {}},
    {"sessions", "load.generator.sessions", {}},
    {"load.closed_loop", "load.closed_loop", kClosedLoop},
    {"service", "service", {}},
    {"service", "service", kRoles, {"roles", "kv_transfer"}},  // the others are each role's
    {"service.roles", "service.roles", kRoles},
    {"service.roles.prefill, service.roles.decode", "service.roles.prefill", kRoles},
    {"service.roles.prefill, service.roles.decode", "service.roles.decode", kRoles},
    {"decode_per_prefill", "service.roles.decode_per_prefill", kRoles},
    {"service.kv_transfer", "service.kv_transfer", kRoles},
    {"service", "service", kVariants, {"variants"}},
    {"service.variants", "service.variants.0", kVariants},
    {"service.slo", "service.slo", {}},
    {"service.replicas", "service.replicas", {}},
    {"service.replicas.windows", "service.replicas.windows.0", {}},
    {"service.engine_settings", "service.engine_settings", {}},
    {"service.router", "service.router", {}},
    {"service.client", "service.client", {}},
    {"service.start", "service.start", {}},
    {"A latency", "service.start.engine_init_cached", {}},
    {"cluster", "cluster", {}},
    {"cluster.pools", "cluster.pools.0", {}},
    {"offerings, existing", "cluster.pools.0.offerings.0", {}},
    {"offerings, existing", "cluster.existing.0", {}},
    {"cluster.provider", "cluster.provider", {}},
    {"cluster.outages", "cluster.outages.0", {}},
    {"cluster.bandwidth", "cluster.bandwidth", {}},
    {"cluster.scrape", "cluster.scrape", {}},
    {"cluster.actions", "cluster.actions", {}},
    {"policies", "policies.0", {}},
    {"sleep", "policies.0.sleep", {}},
    {"policies", "policies.5", {}, {"sweep"}},
    {"scale", "policies.0.scale", {}},
    {"scale", "policies.1.scale", {}},
    {"scale", "policies.2.scale", {}},
    {"scale", "policies.3.scale", {}},
    {"scale", "policies.4.scale", {}},
    {"scale", "policies.5.scale", {}},
    {"behavior", "policies.1.scale.behavior", {}},
    {"scale_up, scale_down", "policies.1.scale.behavior.scale_up", {}},
    {"scale_up, scale_down", "policies.1.scale.behavior.scale_down", {}},
    {"rate policies", "policies.1.scale.behavior.scale_up.policies.0", {}},
    {"place", "policies.0.place", {}},
    {"provision", "policies.0.provision", {}},
    {"provision", "policies.2.provision", {}},
    {"latency", "policies.0.provision.latency", {}},
    {"consolidation", "policies.0.provision.consolidation", {}},
};

std::string full() { return read_text(kReference + "scenario-full.yaml").value_or(""); }

/// What the reader says of the full example, changed: its errors one after the other.
std::string said(Strings sets, const std::string& more = "") {
  if (!more.empty()) sets.push_back(more);
  const auto read = experiment::parse_scenario(full(), "full.yaml",
                                               {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
  std::string text;
  if (read) return text;
  for (const Error& error : read.error().list) text += (text.empty() ? "" : "\n") + error.message;
  return text;
}

std::string under(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

/// What follows the last `before` in a text, or nothing.
std::string after(const std::string& text, const std::string& before) {
  const std::size_t at = text.rfind(before);
  return at == text.npos ? "" : text.substr(at + before.size());
}

/// "a, b or c" as a list.
Strings listed(std::string text) {
  if (const std::size_t or_at = text.rfind(" or "); or_at != text.npos) text.replace(or_at, 4, ", ");
  Strings all;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(", ", from), text.size());
    all.push_back(text.substr(from, to - from));
    from = to + 2;
  }
  return all;
}

/// The keys that a mapping accepts, from the refusal of one that it does not.
Strings keys_of(const Mapping& mapping) {
  const std::string message = said(mapping.sets, under(mapping.path, kUnknownKey) + "=1");
  const std::string list = after(message, fmt::format("found key \"{}\", expected one of ", kUnknownKey));
  return listed(list.substr(0, list.find(" (did you mean")));
}

struct Column {
  std::string type;
  std::string bounds;
};

/// The type of a key, from what the reader expected in the place of garbage, and its bounds, from what it expected in
/// the place of far too much.
Column column_of(const Mapping& mapping, const std::string& key) {
  struct Kind {
    const char* expected;
    const char* type;
    Strings beyond;
  };
  static const std::vector<Kind> kKinds = {
      {"a duration with", "duration", {"2000000h"}},
      {"a duration such", "latency", {}},
      {"bytes with", "bytes", {"9000000000GB"}},
      {"a bandwidth", "bandwidth", {"9000000000GB/s"}},
      {"an amount", "USD", {"9000000000000"}},
      {"a number of tokens or", "tokens, or mapping", {}},
      {"a number", "number", {"1e300"}},
      {"a whole", "integer", {"9000000000000000000", "-1"}},
      {"a share", "share", {"900000000000%"}},
      {"true or", "boolean", {}},
      {"a list", "list", {}},
      {"a mapping", "mapping", {}},
      {"requests per second or", "requests/s, or mapping", {}},
  };
  // Their values are names of the file that is read.
  static const std::set<std::string> kTexts = {"gpu", "instance", "pool", "zone"};
  if (kTexts.contains(key)) return {"text", ""};
  const std::string path = under(mapping.path, key) + "=";
  const std::string message = said(mapping.sets, path + kGarbage);
  const std::string found = fmt::format(": found \"{}\", expected ", kGarbage);
  if (message.find(".policy" + found) != message.npos && key != "policy") return {"name, or mapping", ""};
  if (message.ends_with(", expected a mapping")) return {"mapping", ""};
  const std::string expected = message.find(key + found) == message.npos ? "" : after(message, found);
  if (expected.empty()) return {"text", ""};
  const auto kind = std::ranges::find_if(kKinds, [&](const Kind& k) { return expected.starts_with(k.expected); });
  if (kind == kKinds.end()) return {"choice", expected.substr(0, expected.find(" (did you mean"))};
  for (const std::string& value : kind->beyond) {
    const std::string refused = said(mapping.sets, path + value);
    const std::string bounds = after(refused, ", expected ");
    if (refused.find(key + ": found") != refused.npos && bounds.find(" to ") != bounds.npos)
      return {kind->type, bounds};
  }
  return {kind->type, ""};
}

/// The part of the page under a heading.
std::string section(const std::string& page, const std::string& heading) {
  for (const char* level : {"\n## ", "\n### "}) {
    for (const std::string& name : {heading, "`" + heading + "`"}) {
      const std::size_t at = page.find(level + name + "\n");
      if (at != page.npos) return page.substr(at, page.find("\n#", at + 1) - at);
    }
  }
  return "";
}

const manifest::Node* at_path(const manifest::Node& root, const std::string& path) {
  const manifest::Node* node = &root;
  for (std::size_t from = 0; node != nullptr && from < path.size();) {
    const std::size_t to = std::min(path.find('.', from), path.size());
    const std::string part = path.substr(from, to - from);
    node = node->kind == manifest::Node::Kind::sequence ? &node->items.at(std::stoul(part)) : node->find(part);
    from = to + 1;
  }
  return node;
}

/// The keys that the full example uses in a mapping.
std::set<std::string> used_by(const Mapping& mapping) {
  auto root = manifest::parse(full(), "full.yaml");
  for (const std::string& set : mapping.sets) {
    if (root && !manifest::apply_set(*root, set)) ADD_FAILURE() << set;
  }
  const manifest::Node* node = root ? at_path(*root, mapping.path) : nullptr;
  std::set<std::string> used;
  if (node == nullptr) return used;
  for (const manifest::Node::Entry& entry : node->entries) {
    if (!entry.value.is_null()) used.insert(entry.key);
  }
  return used;
}

TEST(Schema, EveryKeyOfTheReaderIsDocumentedWithItsTypeAndBounds) {
  const std::string page = read_text(kReference + "scenario.md").value_or("");
  for (const Mapping& mapping : kMappings) {
    SCOPED_TRACE(mapping.heading + " at " + mapping.path);
    const std::string text = section(page, mapping.heading);
    // The others are asked for where the example has them (TheFullExampleIsPossibleAndUsesEveryKey).
    for (const std::string& key : used_by(mapping)) {
      if (!mapping.only.empty() && std::ranges::find(mapping.only, key) == mapping.only.end()) continue;
      const Column column = column_of(mapping, key);
      const std::string row =
          fmt::format("\n| `{}` | {} | {}|", key, column.type, column.bounds.empty() ? "" : column.bounds + " ");
      EXPECT_NE(text.find(row), text.npos) << "docs/reference/scenario.md lacks the row " << row.substr(1);
    }
  }
}

TEST(Schema, EveryDocumentedKeyIsOneOfTheReader) {
  const std::string page = read_text(kReference + "scenario.md").value_or("");
  std::map<std::string, std::set<std::string>> accepted;
  for (const Mapping& mapping : kMappings) {
    for (const std::string& key : keys_of(mapping)) accepted[mapping.heading].insert(key);
  }
  for (const auto& [heading, keys] : accepted) {
    SCOPED_TRACE(heading);
    const std::string text = section(page, heading);
    constexpr std::string_view kRow = "\n| `";
    for (std::size_t at = text.find(kRow); at != text.npos; at = text.find(kRow, at + 1)) {
      const std::size_t from = at + kRow.size();
      const std::string key = text.substr(from, text.find('`', from) - from);
      EXPECT_TRUE(keys.contains(key)) << key << " is documented, and refused by the reader";
    }
  }
}

TEST(Schema, TheFullExampleIsPossibleAndUsesEveryKey) {
  std::map<std::string, std::set<std::string>> accepted;
  std::map<std::string, std::set<std::string>> used;
  for (const Mapping& mapping : kMappings) {
    SCOPED_TRACE(mapping.heading + " at " + mapping.path);
    EXPECT_EQ(said(mapping.sets), "");
    const Strings keys = keys_of(mapping);
    EXPECT_FALSE(keys.empty());
    accepted[mapping.heading].insert(keys.begin(), keys.end());
    used[mapping.heading].merge(used_by(mapping));
  }
  EXPECT_EQ(used, accepted);
}

}  // namespace
}  // namespace capstan::scenario
