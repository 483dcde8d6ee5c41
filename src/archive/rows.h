#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/exclusion_lists.h"
#include "archive/words.h"
#include "base/ids.h"
#include "base/shared_table.h"
#include "base/time.h"
#include "manifest/fields.h"
#include "manifest/scalars.h"
#include "model/catalog.h"

// Shared parts of the readers of a snapshot file: names of enum values, times, and references that must exist.
namespace capstan::archive {

// Upper limits of the values in a file. They are far above real values. The sum of a limit and of real values does not
// overflow.
inline constexpr std::int64_t kMaxTime = std::int64_t{1} << 62;  ///< nanoseconds; 146 years
/// Longest time span, in nanoseconds; 73 years. It is so short that a time plus a span does not overflow.
inline constexpr std::int64_t kMaxSpan = kMaxTime / 2;
inline constexpr std::int64_t kMaxId =
    10'000'000;  ///< bounds the memory of a table, whose size follows from its largest id
inline constexpr std::int64_t kMaxGpus = 10'000'000;
inline constexpr std::int64_t kMaxReplicas = 1'000'000;
inline constexpr std::int64_t kMaxResource = std::int64_t{1} << 58;  ///< amount of a resource other than GPUs
inline constexpr std::int64_t kMaxWeight = 1'000'000'000;            ///< weight of a queue, thousandths
/// Largest priority of a gang; the lowest priority is its negative. It is above `kMaxPriority`, because the priority
/// classes of Kubernetes itself are above those of its users.
inline constexpr std::int64_t kMaxGangPriority = 2'147'483'647;
inline constexpr std::int64_t kMaxPriority = 1'000'000'000;  ///< largest priority that Kubernetes gives to users
inline constexpr std::int64_t kMaxDevice = 1'023;            ///< number of a device of a node
inline constexpr std::int64_t kMaxPodClasses = 10'000;
inline constexpr std::int64_t kMaxNodeClasses = 100'000;
inline constexpr std::int64_t kMaxGroupSize =
    100'000;  ///< nodes of one launch or group, pods of a gang, failures of a back-off

template <typename Enum>
void read_word(manifest::Fields& fields, manifest::ErrorList& errors, std::string_view key, Enum& out) {
  const manifest::Node* node = fields.take_required(key);
  if (node == nullptr) return;
  for (std::size_t i = 0; i < kWords<Enum>.size(); ++i) {
    if (node->kind != manifest::Node::Kind::scalar || node->text != kWords<Enum>[i]) continue;
    out = static_cast<Enum>(i);
    return;
  }
  errors.fail(node->place, fields.what() + "." + std::string(key) + ": " + node->words() + ", expected " +
                               manifest::one_of(kWords<Enum>));
}

/// Returns the keys of all levels, by their numbers.
inline std::vector<std::string> level_keys(std::span<const model::Topology> topologies) {
  std::vector<std::string> keys;
  for (std::uint8_t number = 0; number == 0 || model::position_of(topologies, model::Level(number)); ++number) {
    keys.push_back(model::level_key(topologies, model::Level(number)));
  }
  return keys;
}

/// Reads the key of a level of any topology.
inline void read_level(manifest::Fields& fields, manifest::ErrorList& errors, std::string_view key,
                       std::span<const model::Topology> topologies, model::Level& out) {
  const manifest::Node* node = fields.take_required(key);
  if (node == nullptr) return;
  const std::optional<model::Level> level =
      node->kind == manifest::Node::Kind::scalar ? model::level_of_key(topologies, node->text) : std::nullopt;
  if (level) {
    out = *level;
    return;
  }
  const std::vector<std::string> keys = level_keys(topologies);
  errors.fail(node->place, fields.what() + "." + std::string(key) + ": " + node->words() + ", expected " +
                               manifest::one_of(std::vector<std::string_view>(keys.begin(), keys.end())));
}

/// Reads the preferred level of a gang, which a file may leave out.
inline void read_preferred(manifest::Fields& fields, manifest::ErrorList& errors,
                           std::span<const model::Topology> topologies, std::optional<model::Level>& out) {
  if (fields.take("preferred") == nullptr) return;
  read_level(fields, errors, "preferred", topologies, out.emplace(model::TopologyLevel::node));
}

/// Reads a number that must be in every file.
template <typename Integer>
void need_integer(manifest::Fields& fields, std::string_view key, Integer& out, std::int64_t low, std::int64_t high) {
  if (fields.take_required(key) != nullptr) fields.integer(key, out, low, high);
}

/// Returns the elements of a list that must be in every file; the list may be empty.
inline std::span<const manifest::Node> need_list(manifest::Fields& fields, std::string_view key) {
  fields.take_required(key);
  return fields.list(key);
}

inline void need_text(manifest::Fields& fields, std::string_view key, std::string& out) {
  if (fields.take_required(key) != nullptr) fields.text(key, out);
}

/// Reads a time in nanoseconds; an absent key means never.
inline void read_instant(manifest::Fields& fields, std::string_view key, Instant& out) {
  std::int64_t ns = 0;
  const bool is_present = fields.take(key) != nullptr;
  fields.integer(key, ns, 0, kMaxTime);
  out = is_present ? Instant{Duration{ns}} : Instant::never();
}

/// Reads a time that must be in every file.
inline void need_instant(manifest::Fields& fields, std::string_view key, Instant& out) {
  if (fields.take_required(key) != nullptr) read_instant(fields, key, out);
}

inline void need_duration_ns(manifest::Fields& fields, std::string_view key, Duration& out,
                             Duration max = Duration{kMaxSpan}) {
  std::int64_t ns = 0;
  need_integer(fields, key, ns, 0, max.count());
  out = Duration{ns};
}

/// Reads an id from `node`; `exists(id)` must be true.
template <typename Tag, typename Exists>
void read_ref(const manifest::Node& node, const std::string& name, manifest::ErrorList& errors, Id<Tag>& out,
              Exists&& exists) {
  const std::optional<std::int64_t> value = manifest::read_integer(node.text);
  const bool is_id = node.kind == manifest::Node::Kind::scalar && value && *value >= 0 && *value <= kMaxId;
  if (!is_id) {
    return errors.fail(node.place,
                       name + ": found " + node.words() + ", expected an id of 0.." + std::to_string(kMaxId));
  }
  const Id<Tag> id{static_cast<std::uint32_t>(*value)};
  if (!exists(id)) {
    return errors.fail(node.place, name + ": found " + node.text + ", expected the id of a row in this file");
  }
  out = id;
}

/// Reads an id from the value of a key; an absent key means no id.
template <typename Tag, typename Exists>
void read_ref(manifest::Fields& fields, manifest::ErrorList& errors, std::string_view key, Id<Tag>& out,
              Exists&& exists) {
  const manifest::Node* node = fields.take(key);
  if (node != nullptr) read_ref(*node, fields.what() + "." + std::string(key), errors, out, exists);
}

/// Reads a list of ids.
template <typename Tag, typename Exists>
void read_refs(manifest::Fields& fields, manifest::ErrorList& errors, std::string_view key, std::vector<Id<Tag>>& out,
               Exists&& exists) {
  for (const manifest::Node& node : fields.list(key)) {
    read_ref(node, fields.what() + "." + std::string(key), errors, out.emplace_back(), exists);
  }
}

/// Reads an id from the value of a key that must be present.
template <typename Tag, typename Exists>
void need_ref(manifest::Fields& fields, manifest::ErrorList& errors, std::string_view key, Id<Tag>& out,
              Exists&& exists) {
  if (fields.take_required(key) != nullptr) read_ref(fields, errors, key, out, exists);
}

/// Reads an id without checking that its row exists; that is checked after all rows are read.
template <typename Tag>
void read_id(manifest::Fields& fields, manifest::ErrorList& errors, std::string_view key, Id<Tag>& out) {
  read_ref(fields, errors, key, out, [](Id<Tag>) { return true; });
}

/// Reads the position of a replica's variant in the list `variants` of its service. The list has exactly one entry, so
/// the position must be 0.
inline void check_variant(manifest::Fields& fields, manifest::ErrorList& errors) {
  const manifest::Node* node = fields.take_required("variant");
  if (node == nullptr || (node->kind == manifest::Node::Kind::scalar && node->text == "0")) return;
  errors.fail(node->place, fields.what() + ".variant: found " + node->words() + ", expected 0, the only one");
}

/// Returns a predicate that is true for the ids of `rows`.
template <typename Rows>
auto within(const Rows& rows) {
  return [&rows](auto id) { return id.value < rows.size(); };
}

template <typename IdType, typename T>
auto within(const SharedTable<IdType, T>& rows) {
  return [&rows](IdType id) { return rows.find(id) != nullptr; };
}

/// Refuses the last row, at `place`, unless it is greater than the row before it, because decisions search these lists
/// by bisection.
template <typename Rows>
void check_ascending(const Rows& rows, const manifest::Place& place, const std::string& name,
                     manifest::ErrorList& errors) {
  if (rows.size() < 2 || rows[rows.size() - 2] < rows.back()) return;
  errors.fail(
      place,
      name + ": found a row that is not greater than the previous one, expected each row once, in ascending order");
}

/// Reads amounts of extended resources, by their position in the catalog.
/// @param extended  number of the catalog's extended resources
inline void read_extended(manifest::Fields& fields, std::vector<std::int64_t>& out, std::size_t extended,
                          std::int64_t largest) {
  fields.check("extended", [&](const manifest::Node& node, manifest::ErrorList& errors) {
    const std::string name = fields.what() + ".extended";
    if (node.kind != manifest::Node::Kind::sequence || node.items.size() > extended) {
      return errors.fail(node.place, name + ": found " + node.words() +
                                         ", expected a list with at most one amount for each of " +
                                         std::to_string(extended) + " catalog.extended_resources");
    }
    for (const manifest::Node& item : node.items) {
      const std::optional<std::int64_t> amount = manifest::read_integer(item.text);
      if (item.kind != manifest::Node::Kind::scalar || !amount || *amount < 0 || *amount > largest) {
        return errors.fail(item.place,
                           name + ": found " + item.words() + ", expected an amount of 0.." + std::to_string(largest));
      }
      out.push_back(*amount);
    }
  });
}

/// Reads amounts of resources other than GPUs.
/// @param extended  number of the catalog's extended resources
inline void read_resources(manifest::Fields& fields, model::Resources& out, std::size_t extended) {
  need_integer(fields, "cpu_milli", out.cpu_milli, 0, kMaxResource);
  need_integer(fields, "memory_mib", out.memory_mib, 0, kMaxResource);
  need_integer(fields, "storage_mib", out.storage_mib, 0, kMaxResource);
  need_integer(fields, "pod_slots", out.pod_slots, 0, kMaxResource);
  read_extended(fields, out.extended, extended, kMaxResource);
}

/// Reads the class of pods. Format 1 has no classes: it lists the nodes and purchases that the pods may not use.
/// @param exclusions  null for later formats
inline void read_pod_class(manifest::Fields& fields, manifest::ErrorList& errors, model::PodClassId& out,
                           const model::Catalog& catalog, ExclusionLists* exclusions) {
  if (exclusions == nullptr) return read_ref(fields, errors, "pod_class", out, within(catalog.eligibility.pod_classes));
  ExclusionLists::Row row;
  const std::string nodes = fields.what() + ".closed_nodes", purchases = fields.what() + ".closed_purchases";
  for (const manifest::Node& item : fields.list("closed_nodes")) {
    read_ref(item, nodes, errors, row.nodes.emplace_back(),
             [](model::NodeId) { return true; });  // the node may have been deleted
    check_ascending(row.nodes, item.place, nodes, errors);
  }
  for (const manifest::Node& item : fields.list("closed_purchases")) {
    manifest::Fields purchase(item, purchases, errors);
    need_ref(purchase, errors, "pool", row.purchases.emplace_back().pool, within(catalog.pools));
    need_ref(purchase, errors, "offering", row.purchases.back().offering, within(catalog.offerings));
    purchase.finish();
    check_ascending(row.purchases, item.place, purchases, errors);
  }
  out = exclusions->add(std::move(row));
}

}  // namespace capstan::archive
