#pragma once

#include <cstdint>

namespace capstan::lint {

/// A version of Kubernetes, 1.`minor`.
struct KubeVersion {
  std::uint32_t minor = 36;
};

/// What rules may depend on beside the manifests. Never today's date.
struct Settings {
  KubeVersion kube;
  bool closed_world = false;  ///< all of the input is one cluster, and all of it
};

}  // namespace capstan::lint
