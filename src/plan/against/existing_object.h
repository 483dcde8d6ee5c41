#pragma once

#include <string>
#include <string_view>

#include "manifest/yaml.h"
#include "plan/objects/yaml.h"

namespace capstan::plan {

/// A Kubernetes object that exists.
struct ExistingObject {
  std::string file{};
  manifest::Node body{};

  std::string kind() const;
  std::string name() const;
  std::string namespace_name() const;  ///< empty if the object does not state it
  std::string group() const;           ///< "karpenter.sh"; empty: the core group
};

/// Returns the text of a scalar below a key, or below a key of a key; empty if there is none.
std::string text_at(const manifest::Node& root, std::string_view first, std::string_view second = {});
std::string text_at(const Yaml& root, std::string_view first, std::string_view second = {});

/// Returns "karpenter.sh" for "karpenter.sh/v1", and an empty text for "v1". Kinds are compared by their group without
/// the version.
std::string api_group(const std::string& api_version);

/// Returns a value of an existing object as YAML of the plan.
Yaml yaml_of(const manifest::Node& node);

}  // namespace capstan::plan
