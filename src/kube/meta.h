#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/json.h"
#include "kube/wall_time.h"

namespace capstan::kube {

/// Texts by text, sorted: labels, annotations, selectors.
class StringMap {
 public:
  StringMap() = default;
  StringMap(std::initializer_list<std::pair<std::string, std::string>> entries);

  void set(std::string_view key, std::string_view value);
  const std::string* find(std::string_view key) const;
  std::string_view get(std::string_view key) const;  ///< empty where absent
  bool has(std::string_view key) const { return find(key) != nullptr; }
  bool contains_all(const StringMap& other) const;  ///< every pair of `other`

  const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  friend bool operator==(const StringMap&, const StringMap&) = default;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

StringMap read_string_map(Json object);

/// "namespace/name", or "name" of what has no namespace: unique within a resource at any one time.
std::string key_of(std::string_view ns, std::string_view name);

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

/// What all objects have. Managed fields are dropped, and of the annotations those that nobody here reads: together
/// they are the larger half of an object.
struct Meta {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;  ///< opaque
  std::int64_t generation = 0;
  WallTime created_at;
  WallTime deletion_at;  ///< set: it is being deleted
  StringMap labels;
  StringMap annotations;  ///< the kept ones: `keeps_annotation`
  std::vector<OwnerReference> owners;

  std::string key() const { return key_of(ns, name); }
  bool terminating() const { return deletion_at.is_set(); }
  const OwnerReference* controller() const;
  friend bool operator==(const Meta&, const Meta&) = default;
};

bool keeps_annotation(std::string_view key);

/// Of a whole object (not of its `metadata`).
Meta read_meta(Json object);

}  // namespace capstan::kube
