#include "manifest/object_instead.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

namespace capstan::manifest {

std::optional<Error> object_instead_of(const Node& root, std::string_view expected) {
  const Node* kind = root.find("kind");
  if (root.find("apiVersion") == nullptr || kind == nullptr || kind->kind != Node::Kind::scalar) return std::nullopt;
  return error_at(root.place, fmt::format("found a Kubernetes object of kind {}, expected {}; `capstan lint` reads "
                                          "manifests",
                                          kind->words(), expected));
}

namespace {

/// Returns the first entry of a mapping with one of these keys; null if there is none.
const Node::Entry* entry_of(const Node& node, std::span<const std::string_view> keys) {
  const auto found = std::ranges::find_if(
      node.entries, [&](const Node::Entry& entry) { return std::ranges::find(keys, entry.key) != keys.end(); });
  return found == node.entries.end() ? nullptr : &*found;
}

/// Returns the key that shows that a file is a scenario: `policies`, or `load` in a file with the key `service`. Null
/// if there is none.
const Node::Entry* scenario_key(const Node& root) {
  static constexpr std::array<std::string_view, 1> kPolicies = {"policies"}, kLoad = {"load"};
  const Node::Entry* policies = entry_of(root, kPolicies);
  return policies != nullptr || root.find("service") == nullptr ? policies : entry_of(root, kLoad);
}

/// Returns the key that shows that a file is the spec of a plan; null if there is none.
const Node::Entry* plan_key(const Node& root) {
  static constexpr std::array<std::string_view, 4> kOfCluster = {"cloud", "region", "instances", "gpus"};
  static constexpr std::array<std::string_view, 4> kOfSpec = {"tenants", "limits", "asked", "step_times"};
  const Node* services = root.find("services");
  if (services == nullptr || root.find("policies") != nullptr) return nullptr;
  const Node* cluster = root.find("cluster");
  const Node::Entry* found = cluster == nullptr ? nullptr : entry_of(*cluster, kOfCluster);
  return found != nullptr ? found : entry_of(root, kOfSpec);
}

/// Returns the key that shows that a file is a result of `sim` or `compare`; null if there is none.
const Node::Entry* result_key(const Node& root) {
  static constexpr std::array<std::string_view, 1> kVersion = {"format_version"};
  const Node* scenario = root.find("scenario");
  const bool names_scenario = scenario != nullptr && scenario->kind == Node::Kind::scalar;
  return names_scenario ? entry_of(root, kVersion) : nullptr;
}

/// Returns true if a file is a table with columns, such as a trace. YAML reads it as one text.
bool is_table(const Node& root) {
  const std::string_view text = root.text;
  return root.kind == Node::Kind::scalar && !root.quoted && std::ranges::count(text, ',') > 1 &&
         text.find(' ') > text.find(',');
}

std::string_view words_of(InputFile expected) {
  switch (expected) {
    case InputFile::scenario:
      return "a scenario";
    case InputFile::plan_spec:
      return "the spec of a plan";
    case InputFile::snapshot:
      return "a snapshot";
    case InputFile::manifests:
      break;
  }
  return "Kubernetes objects";
}

}  // namespace

std::optional<Error> objects_instead_of(const std::string& path, std::string_view expected) {
  const Result<std::vector<Node>> documents = parse_documents_file(path);
  if (!documents || documents->size() < 2) return std::nullopt;
  return object_instead_of(documents->front(), expected);
}

std::optional<Error> other_input_instead_of(const Node& root, InputFile expected) {
  const std::string file = root.place.file ? *root.place.file : "FILE";
  const auto refuse = [&](const Place& place, const std::string& found, const std::string& advice) {
    return error_at(place, fmt::format("found {}, expected {}; {}", found, words_of(expected), advice));
  };
  if (is_table(root)) {
    return refuse(root.place, "a table", fmt::format("`capstan compare SCENARIO --trace {}` reads a trace", file));
  }
  if (const Node::Entry* key = result_key(root)) {
    return refuse(key->place, fmt::format("the key {} of a result", key->key),
                  fmt::format("`capstan serve {}` shows a result", file));
  }
  // A snapshot has policies, too.
  const bool is_snapshot = expected == InputFile::snapshot && root.find("format_version") != nullptr;
  if (const Node::Entry* key = scenario_key(root); key != nullptr && expected != InputFile::scenario && !is_snapshot) {
    return refuse(
        key->place, fmt::format("the key {} of a scenario", key->key),
        expected == InputFile::snapshot
            ? fmt::format("`capstan snapshot --scenario {} --at 10m` writes a snapshot of its simulation", file)
            : fmt::format("`capstan compare {}` simulates a scenario", file));
  }
  if (const Node::Entry* key = plan_key(root); key != nullptr && expected != InputFile::plan_spec) {
    return refuse(key->place, fmt::format("the key {} of the spec of a plan", key->key),
                  fmt::format("`capstan plan {}` reads such a spec", file));
  }
  return std::nullopt;
}

}  // namespace capstan::manifest
