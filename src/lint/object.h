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
  std::string_view space;  ///< its namespace; empty where it says none
  std::uint32_t index = 0;
  /// A kind that only shares its name with one that rules are about, as HyperShift's NodePool with Karpenter's.
  bool foreign = false;
  std::span<const PodShape> shapes = {};  ///< where it holds pods, of a kind that is known to
  bool carries_objects = false;           ///< holds objects that are read as such
  bool has_unlisted_pods = false;         ///< holds what looks like pods, and its kind is not in the table

  /// "Deployment inference/vllm"
  std::string title() const;
  const Value& operator[](std::string_view key) const { return (*root)[key]; }
};

/// The value below dots: `at(object, "spec.template.spec")`. Keys that hold dots themselves go through `[]`.
const Value& at(const Value& value, std::string_view path);
const Value& at(const Object& object, std::string_view path);

/// What a document holds: an object, or those of a List. None where it is something else.
void find_objects(const File& file, const Value& root, std::vector<Object>& out);

/// An annotation or label of an object.
const Value& annotation(const Object& object, std::string_view key);
const Value& label(const Object& object, std::string_view key);

}  // namespace capstan::lint
