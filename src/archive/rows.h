#pragma once

#include <cstdint>
#include <optional>
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
inline constexpr std::int64_t kMaxGauge = 86'400'000'000;        ///< requests, shares, percent, microseconds of a day
inline constexpr std::int64_t kMaxCounter = 9'000'000'000'000'000;
inline constexpr std::int64_t kMaxId = 10'000'000;  ///< tables are as long as their largest id
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

/// Nanoseconds; an absent key is never.
inline void read_instant(manifest::Fields& fields, std::string_view key, Instant& out) {
  std::int64_t ns = 0;
  const bool there = fields.take(key) != nullptr;
  fields.integer(key, ns, 0, kMaxTime);
  out = there ? Instant{Duration{ns}} : Instant::never();
}

inline void read_duration_ns(manifest::Fields& fields, std::string_view key, Duration& out) {
  std::int64_t ns = 0;
  fields.integer(key, ns, 0, kMaxTime);
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

/// An id that need not lead anywhere: what it named may have gone.
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

inline void read_closed(manifest::Fields& fields, manifest::Verdict& verdict, model::Closed& out,
                        const model::Catalog& catalog) {
  read_refs(fields, verdict, "closed_nodes", out.nodes, [](model::NodeId) { return true; });  // it may have gone
  for (const manifest::Node& item : fields.list("closed_purchases")) {
    manifest::Fields purchase(item, fields.what() + ".closed_purchases", verdict);
    need_ref(purchase, verdict, "pool", out.purchases.emplace_back().pool, within(catalog.pools));
    need_ref(purchase, verdict, "offering", out.purchases.back().offering, within(catalog.offerings));
    purchase.finish();
  }
}

}  // namespace capstan::archive
