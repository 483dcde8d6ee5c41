#pragma once

#include <optional>
#include <string_view>

namespace capstan::lint {

/// The API version that an object most likely means, because its own does not exist.
struct IntendedApi {
  std::string_view api_version;  ///< "apps/v1"
  std::string_view group;        ///< "apps"; empty for the core
  std::string_view version;      ///< "v1"
  std::string_view product;      ///< "Kubernetes"
  bool is_group_wrong = false;   ///< false if only the version does not exist
};

/// Returns the API version that an object of this kind means, if data/lint/api_groups.csv shows that its own does not
/// exist. A group without a dot is always one of Kubernetes, because a CustomResourceDefinition needs a dot. Another
/// product may have a kind of the same name, so a group with a dot is wrong only within two edits of a known one. A
/// version is judged only for Kubernetes, KEDA and Karpenter, whose versions the table lists completely.
std::optional<IntendedApi> intended_api(std::string_view kind, std::string_view api_version);

}  // namespace capstan::lint
