#include "scenario/sweep.h"

#include <algorithm>
#include <utility>

#include "manifest/path.h"

namespace capstan::scenario {
namespace {

using manifest::ErrorList;
using manifest::Node;

constexpr std::size_t kMax = 1000;  ///< largest number of combinations
constexpr std::string_view kManifest = "manifest.";

/// Sets a value at a path of the policy, or adds it to the list of changes of its manifest.
void put(Node& policy, const std::string& path, const Node& value, ErrorList& errors) {
  Node* scale = policy.find("scale");
  if (!path.starts_with(kManifest) || scale == nullptr || scale->kind != Node::Kind::mapping) {
    if (const Result<void> done = manifest::apply_set(policy, path + "=" + value.text); !done) {
      errors.fail(done.error());
    }
    return;
  }
  Node* set = scale->find("set");
  if (set == nullptr) {
    Node list;
    list.kind = Node::Kind::sequence;
    list.place = value.place;
    scale->entries.push_back({"set", value.place, std::move(list)});
    set = scale->find("set");
  }
  Node assignment = value;
  assignment.text = path.substr(kManifest.size()) + "=" + value.text;
  assignment.quoted = true;
  set->items.push_back(std::move(assignment));
}

std::string last_part(const std::string& path) { return path.substr(path.find_last_of('.') + 1); }

/// Returns the name of a swept setting in a table: the last part of its path, or the path without "scale." if two paths
/// end alike.
std::string shown(const std::string& path, const Node& sweep) {
  const auto alike = [&](const Node::Entry& entry) { return last_part(entry.key) == last_part(path); };
  if (std::ranges::count_if(sweep.entries, alike) == 1) return last_part(path);
  return path.starts_with("scale.") ? path.substr(6) : path;
}

/// Checks that the sweep can be expanded; returns false after an error.
bool check(const Node& sweep, ErrorList& errors) {
  const manifest::Mark checked(errors);
  std::size_t combinations = 1;
  if (sweep.kind != Node::Kind::mapping) {
    errors.fail(sweep.place,
                "policies.sweep: found " + sweep.words() + ", expected a mapping of paths to lists of values");
  }
  if (sweep.kind == Node::Kind::mapping && sweep.entries.empty()) {
    errors.fail(sweep.place, "policies.sweep: found no settings, expected a list of values for at least one");
  }
  for (const Node::Entry& entry : sweep.entries) {
    const bool scalars =
        std::ranges::all_of(entry.value.items, [](const Node& n) { return n.kind == Node::Kind::scalar; });
    if (entry.value.items.empty() || !scalars) {
      const bool is_empty = entry.value.kind == Node::Kind::sequence && entry.value.items.empty();
      errors.fail(entry.value.place, "policies.sweep." + entry.key + ": found " +
                                         (is_empty ? "an empty list" : entry.value.words()) +
                                         ", expected a list of values");
    }
    combinations *= std::max<std::size_t>(entry.value.items.size(), 1);
    if (combinations > kMax) {
      errors.fail(entry.place, "policies.sweep: more than " + std::to_string(kMax) + " combinations");
      return false;
    }
  }
  return checked.ok();
}

}  // namespace

std::vector<SweptPolicy> expand(const Node& policy, ErrorList& errors) {
  const Node* sweep = policy.find("sweep");
  if (sweep == nullptr) return {{policy, ""}};
  Node plain = policy;
  std::erase_if(plain.entries, [](const Node::Entry& entry) { return entry.key == "sweep"; });
  if (sweep->is_null()) return {{plain, ""}};
  if (!check(*sweep, errors)) return {{plain, ""}};
  std::vector<SweptPolicy> all = {{plain, ""}};
  for (const Node::Entry& entry : sweep->entries) {
    std::vector<SweptPolicy> wider;
    for (const SweptPolicy& one : all) {
      for (const Node& value : entry.value.items) {
        SweptPolicy next = one;
        put(next.node, entry.key, value, errors);
        next.words += (next.words.empty() ? "" : ", ") + shown(entry.key, *sweep) + " " + value.text;
        wider.push_back(std::move(next));
      }
    }
    all = std::move(wider);
  }
  all.insert(all.begin(), {std::move(plain), ""});
  return all;
}

}  // namespace capstan::scenario
