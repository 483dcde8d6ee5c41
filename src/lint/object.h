#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/file.h"
#include "lint/pod_shapes.h"

namespace capstan::lint {

/// One Kubernetes object of the input.
struct Object {
  const File* file = nullptr;
  const Value* root = nullptr;
  std::string_view api_version;  ///< "apps/v1"
  std::string_view group;        ///< "apps"; empty for the core
  std::string_view version;      ///< "v1"
  std::string_view kind;
  std::string_view name;
  std::string_view name_space;  ///< namespace; empty if not stated
  std::uint32_t index = 0;
  /// True for a kind that only shares its name with a kind that rules check: HyperShift has a NodePool too, not only
  /// Karpenter.
  bool foreign = false;
  std::span<const PodShape> shapes = {};  ///< places of its pods, if the kind is in the table
  bool carries_objects = false;           ///< true if it holds objects that are read as objects of the input
  bool has_unlisted_pods = false;         ///< true if it holds what looks like pods and its kind is not in the table

  /// Returns "Deployment inference/vllm".
  std::string title() const;
  const Value& operator[](std::string_view key) const { return (*root)[key]; }
};

/// Returns the value at a path of keys separated by dots: `at(object, "spec.template.spec")`. Use `[]` for a key that
/// contains a dot.
const Value& at(const Value& value, std::string_view path);
const Value& at(const Object& object, std::string_view path);

/// Appends the objects of a document: the object itself, or the items of a List. Appends nothing for any other
/// document.
void find_objects(const File& file, const Value& root, std::vector<Object>& out);

/// Returns an annotation of an object; a missing value if there is none.
const Value& annotation(const Object& object, std::string_view key);
const Value& label(const Object& object, std::string_view key);

}  // namespace capstan::lint
