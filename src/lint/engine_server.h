#pragma once

#include <cstdint>
#include <optional>

#include "lint/container_start.h"
#include "lint/pods.h"

namespace capstan::lint {

/// The HTTP server of vLLM or SGLang, as the command line of its container starts it.
struct EngineServer {
  EngineKind kind = EngineKind::vllm;
  std::int64_t port = 0;
  bool is_on_localhost = false;  ///< true if only processes of the pod can connect
  bool is_only_server = false;   ///< true if the container listens on no other port
};

/// Returns the server of a container. Returns none for other engines, and if a file, a variable or another command of
/// the container may change where the engine listens.
std::optional<EngineServer> engine_server(const Value& container);

/// Returns the server of a pod that has one container and no sidecar, if this container listens on one port only.
std::optional<EngineServer> only_server(const Pod& pod);

/// Returns the number of a container's port that a probe or a Service states by number or by name; none if the
/// container has no port of this name.
std::optional<std::int64_t> port_number(const Value& container, const Value& port);

}  // namespace capstan::lint
