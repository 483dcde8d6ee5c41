#pragma once

#include <cstdint>

namespace capstan::lint {

/// A version of Kubernetes, 1.`minor`.
struct KubeVersion {
  std::uint32_t minor = 36;
  bool is_stated = false;  ///< true if the user states the version
};

/// The settings on which rules may depend. The present date is never one of them.
struct Settings {
  KubeVersion kube;
  bool is_complete_cluster = false;  ///< true if the input is one complete cluster
};

}  // namespace capstan::lint
