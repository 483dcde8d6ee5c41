#pragma once

#include <cstdint>

namespace capstan::lint {

/// A version of Kubernetes, 1.`minor`.
struct KubeVersion {
  std::uint32_t minor = 36;
};

/// The settings that rules may depend on in addition to the manifests. Today's date is never one of them.
struct Settings {
  KubeVersion kube;
  bool closed_world = false;  ///< true if the input is all of one cluster
};

}  // namespace capstan::lint
