#include "manifest/object_instead.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

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

}  // namespace

std::optional<Error> other_input_instead_of(const Node& root, InputFile expected) {
  const bool wants_plan = expected == InputFile::plan_spec;
  const Node::Entry* key = wants_plan ? scenario_key(root) : plan_key(root);
  if (key == nullptr) return std::nullopt;
  const std::string file = root.place.file ? *root.place.file : "FILE";
  return error_at(key->place, wants_plan ? fmt::format("found the key {} of a scenario, expected the spec of a plan; "
                                                       "`capstan compare {}` simulates a scenario",
                                                       key->key, file)
                                         : fmt::format("found the key {} of the spec of a plan, expected a scenario; "
                                                       "`capstan plan {}` reads such a spec",
                                                       key->key, file));
}

}  // namespace capstan::manifest
