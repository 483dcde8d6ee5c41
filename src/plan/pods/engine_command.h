#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/result/plan.h"

namespace capstan::plan {

/// The command with which a container starts an engine, and the parts of the container that depend on it.
struct EngineCommand {
  std::vector<std::string> command{};  ///< command; empty: the entry point of the image
  std::vector<std::string> args{};
  std::vector<Yaml> environment{};
  std::vector<Yaml> ports{};
  std::string health_path{};
  std::string config{};  ///< content of the engine's configuration file; empty: it needs none
};

/// Paths of the engine's configuration file, if it has one.
inline constexpr std::string_view kConfigMount = "/config";
inline constexpr std::string_view kConfigFile = "engine.yaml";

/// Returns true if the plan can write the command of a replica of several pods, or of a prefill or decode role.
bool supports_gang(Engine engine);
bool supports_disaggregation(Engine engine);
/// Returns true if a flag of the engine bounds its part of the memory of a GPU that it shares.
bool bounds_gpu_memory(Engine engine);
/// The reason why the plan cannot write the workload of a role, and an alternative for the user.
struct MissingCommand {
  std::string why{};
  std::string instead{};
};
/// Returns nothing if the plan can write the workload of the role.
std::optional<MissingCommand> missing_command(const ServiceSpec& service, const RoleFleet& role);

/// Returns true if the engine itself completes its running requests after SIGTERM, within a time that a flag states.
/// Pods of the other engines sleep before SIGTERM for the same time.
bool drains_itself(Engine engine);

/// Returns the command of a replica of one pod, or of the leader of a replica of several pods.
/// @param drain_s  time that running requests have after SIGTERM
EngineCommand engine_command(const ServiceSpec& service, const RoleFleet& role, std::int64_t drain_s);

/// Returns the command of the other pods of a replica of several pods.
EngineCommand worker_command(const ServiceSpec& service, const RoleFleet& role);

}  // namespace capstan::plan
