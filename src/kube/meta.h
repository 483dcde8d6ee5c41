#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/json.h"
#include "kube/wall_time.h"

namespace capstan::kube {

/// A sorted map of strings: labels, annotations, selectors.
class StringMap {
 public:
  StringMap() = default;
  StringMap(std::initializer_list<std::pair<std::string, std::string>> entries);

  void set(std::string_view key, std::string_view value);
  const std::string* find(std::string_view key) const;
  std::string_view get(std::string_view key) const;  ///< value of the key; empty if absent
  bool has(std::string_view key) const { return find(key) != nullptr; }
  bool contains_all(const StringMap& other) const;  ///< true if it has every pair of `other`

  const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  friend bool operator==(const StringMap&, const StringMap&) = default;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

StringMap read_string_map(Json object);

/// Returns "namespace/name", or "name" for an object without a namespace. It is unique within a resource at any time.
std::string key_of(std::string_view ns, std::string_view name);

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

/// Metadata of an object. Managed fields and annotations that Capstan does not read are dropped, because they are more
/// than half of an object.
struct Meta {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;  ///< opaque version, which is only compared for equality
  std::int64_t generation = 0;
  WallTime created_at;
  WallTime deletion_at;  ///< set while the object is being deleted
  StringMap labels;
  StringMap annotations;  ///< only annotations with `is_kept_annotation`
  std::vector<OwnerReference> owners;

  std::string key() const { return key_of(ns, name); }
  bool terminating() const { return deletion_at.is_set(); }
  const OwnerReference* controller() const;
  friend bool operator==(const Meta&, const Meta&) = default;
};

bool is_kept_annotation(std::string_view key);  ///< true if Capstan reads this annotation

/// Reads the metadata of an object; the argument is the whole object.
Meta read_meta(Json object);

/// Returns true while the object is being deleted, like Meta::terminating() but without reading the other metadata.
bool is_terminating(Json object);

}  // namespace capstan::kube
