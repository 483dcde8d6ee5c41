#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lint/api_groups.h"
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
  /// True if the kind has the same name as a kind that rules check but belongs to another API. For example, both
  /// HyperShift and Karpenter have a NodePool.
  bool is_of_other_group = false;
  /// The API version that is meant, if the stated one does not exist; otherwise empty.
  IntendedApi intended_api = {};
  std::span<const PodShape> shapes = {};  ///< rows of its kind in the table of pod shapes
  bool carries_objects = false;           ///< true if it contains other objects, which are read as well
  bool has_unlisted_pods = false;         ///< true if it seems to contain pods although its kind has no pod shapes

  /// Returns "Deployment inference/vllm".
  std::string title() const;
  const Value& operator[](std::string_view key) const { return (*root)[key]; }
};

/// Returns the value at a path of keys separated by dots: `at(object, "spec.template.spec")`. Use `[]` for a key that
/// contains a dot.
const Value& at(const Value& value, std::string_view path);
const Value& at(const Object& object, std::string_view path);

/// Appends the objects of a document: the object itself with the objects that it contains, the items of a List, or the
/// values of a chart that rules check. Appends nothing for any other document.
void find_objects(const File& file, const Value& root, std::vector<Object>& out);

/// Returns an annotation of an object; a missing value if there is none.
const Value& annotation(const Object& object, std::string_view key);
const Value& label(const Object& object, std::string_view key);

}  // namespace capstan::lint
