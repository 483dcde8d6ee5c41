#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/words.h"
#include "base/ids.h"
#include "base/shared_table.h"
#include "base/time.h"
#include "manifest/fields.h"
#include "manifest/scalars.h"
#include "model/catalog.h"

// What the readers of a snapshot file share: words of closed sets, moments, and references that must lead somewhere.
namespace capstan::archive {

// Bounds of what is read, far above what is and far below what sums of it would overflow.
inline constexpr std::int64_t kMaxTime = std::int64_t{1} << 62;  ///< nanoseconds: 146 years
inline constexpr std::int64_t kMaxId = 10'000'000;               ///< tables are as long as their largest id
inline constexpr std::int64_t kMaxGpus = 10'000'000;
inline constexpr std::int64_t kMaxReplicas = 1'000'000;
inline constexpr std::int64_t kMostAtOnce = 100'000;  ///< nodes of one launch, failures in a row

template <typename Enum>
void read_word(manifest::Fields& fields, manifest::Verdict& verdict, std::string_view key, Enum& out) {
  const manifest::Node* node = fields.need(key);
  if (node == nullptr) return;
  for (std::size_t i = 0; i < kWords<Enum>.size(); ++i) {
    if (node->kind != manifest::Node::Kind::scalar || node->text != kWords<Enum>[i]) continue;
    out = static_cast<Enum>(i);
    return;
  }
  verdict.fail(node->place, fields.what() + "." + std::string(key) + ": " + node->words() + ", expected " +
                                manifest::one_of(kWords<Enum>));
}

/// Reads a number that every file states.
template <typename Integer>
void need_integer(manifest::Fields& fields, std::string_view key, Integer& out, std::int64_t low, std::int64_t high) {
  if (fields.need(key) != nullptr) fields.integer(key, out, low, high);
}

/// Returns the elements of a list that every file states, if only as an empty one.
inline std::span<const manifest::Node> need_list(manifest::Fields& fields, std::string_view key) {
  fields.need(key);
  return fields.list(key);
}

inline void need_text(manifest::Fields& fields, std::string_view key, std::string& out) {
  if (fields.need(key) != nullptr) fields.text(key, out);
}

/// Nanoseconds; an absent key is never.
inline void read_instant(manifest::Fields& fields, std::string_view key, Instant& out) {
  std::int64_t ns = 0;
  const bool there = fields.take(key) != nullptr;
  fields.integer(key, ns, 0, kMaxTime);
  out = there ? Instant{Duration{ns}} : Instant::never();
}

/// Reads a moment that cannot be never.
inline void need_instant(manifest::Fields& fields, std::string_view key, Instant& out) {
  if (fields.need(key) != nullptr) read_instant(fields, key, out);
}

inline void need_duration_ns(manifest::Fields& fields, std::string_view key, Duration& out,
                             Duration most = Duration{kMaxTime}) {
  std::int64_t ns = 0;
  need_integer(fields, key, ns, 0, most.count());
  out = Duration{ns};
}

/// The id that `node` says, which must be one of `exists`.
template <typename Tag, typename Exists>
void read_ref(const manifest::Node& node, const std::string& what, manifest::Verdict& verdict, Id<Tag>& out,
              Exists&& exists) {
  const std::optional<std::int64_t> value = manifest::read_integer(node.text);
  const bool is_id = node.kind == manifest::Node::Kind::scalar && value && *value >= 0 && *value <= kMaxId;
  if (!is_id) {
    return verdict.fail(node.place, what + ": " + node.words() + ", expected an id of 0.." + std::to_string(kMaxId));
  }
  const Id<Tag> id{static_cast<std::uint32_t>(*value)};
  if (!exists(id)) {
    return verdict.fail(node.place, what + ": there is no " + node.text + ", expected the id of one in this file");
  }
  out = id;
}

/// The same for the value of a key; an absent key is none.
template <typename Tag, typename Exists>
void read_ref(manifest::Fields& fields, manifest::Verdict& verdict, std::string_view key, Id<Tag>& out,
              Exists&& exists) {
  const manifest::Node* node = fields.take(key);
  if (node != nullptr) read_ref(*node, fields.what() + "." + std::string(key), verdict, out, exists);
}

/// The same for a list of them.
template <typename Tag, typename Exists>
void read_refs(manifest::Fields& fields, manifest::Verdict& verdict, std::string_view key, std::vector<Id<Tag>>& out,
               Exists&& exists) {
  for (const manifest::Node& node : fields.list(key)) {
    read_ref(node, fields.what() + "." + std::string(key), verdict, out.emplace_back(), exists);
  }
}

/// The same for a key that must be there.
template <typename Tag, typename Exists>
void need_ref(manifest::Fields& fields, manifest::Verdict& verdict, std::string_view key, Id<Tag>& out,
              Exists&& exists) {
  if (fields.need(key) != nullptr) read_ref(fields, verdict, key, out, exists);
}

/// Reads an id whose row is looked up later, once all rows are there.
template <typename Tag>
void read_id(manifest::Fields& fields, manifest::Verdict& verdict, std::string_view key, Id<Tag>& out) {
  read_ref(fields, verdict, key, out, [](Id<Tag>) { return true; });
}

/// An index into a vector of the catalog.
template <typename Rows>
auto within(const Rows& rows) {
  return [&rows](auto id) { return id.value < rows.size(); };
}

template <typename IdType, typename T>
auto within(const SharedTable<IdType, T>& rows) {
  return [&rows](IdType id) { return rows.find(id) != nullptr; };
}

/// Refuses the row at `place` unless it comes after the rows before it: decisions search these lists by bisection.
template <typename Rows>
void check_ascending(const Rows& rows, const manifest::Place& place, const std::string& what,
                     manifest::Verdict& verdict) {
  if (rows.size() < 2 || rows[rows.size() - 2] < rows.back()) return;
  verdict.fail(place, what + ": found a row that is not above the one before it, expected ascending rows, each once");
}

inline void read_closed(manifest::Fields& fields, manifest::Verdict& verdict, model::Closed& out,
                        const model::Catalog& catalog) {
  const std::string nodes = fields.what() + ".closed_nodes", purchases = fields.what() + ".closed_purchases";
  for (const manifest::Node& item : fields.list("closed_nodes")) {
    read_ref(item, nodes, verdict, out.nodes.emplace_back(), [](model::NodeId) { return true; });  // it may have gone
    check_ascending(out.nodes, item.place, nodes, verdict);
  }
  for (const manifest::Node& item : fields.list("closed_purchases")) {
    manifest::Fields purchase(item, purchases, verdict);
    need_ref(purchase, verdict, "pool", out.purchases.emplace_back().pool, within(catalog.pools));
    need_ref(purchase, verdict, "offering", out.purchases.back().offering, within(catalog.offerings));
    purchase.finish();
    check_ascending(out.purchases, item.place, purchases, verdict);
  }
}

}  // namespace capstan::archive
