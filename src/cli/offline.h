#pragma once

#include <optional>
#include <string>

#include "archive/saved_state.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/run.h"

// Commands that work on a saved state.
namespace capstan::cli {

enum class Layer : std::uint8_t { scale, place, provision };

struct DecideArguments {
  Layer layer = Layer::scale;
  std::string snapshot;
  Output output = Output::text;
};
/// Prints what a layer decides about a saved state. Returns exit code 2 if the layer would change something.
ExitCode print_decision(const archive::SavedState& state, Layer layer, Output output);
/// Returns a usage error if the policy is a peer's autoscaler, because a snapshot does not contain the peer's memory.
/// @param option  option that needs the memory, for the error
Result<void> check_memory_is_known(const scenario::PolicySpec& policy, const std::string& option);

/// Returns the moment of `--at` in a simulation: a duration since its start, or a time of its clock such as "00:29:00".
/// Other texts are a usage error.
Result<Instant> read_moment(const std::string& text);
/// Simulates a scenario's first policy.
/// @param at  the result is the state at the first decision at or after this moment; none: at the last decision
std::expected<archive::SavedState, manifest::Errors> simulated_state(const std::string& file,
                                                                     const scenario::ScenarioOverrides& overrides,
                                                                     std::optional<Instant> at);

/// Prints the decisions of one layer about the state in a snapshot file. The scale layer decides about each service.
ExitCode decide(const DecideArguments& arguments);

struct ExplainArguments {
  std::string object;    ///< name from the snapshot, or kind and id: "gang 7"
  std::string snapshot;  ///< path of the snapshot; empty: `scenario` is simulated up to `at`
  std::string scenario;
  scenario::ScenarioOverrides overrides;
  std::string at = "0s";
  bool verbose = false;  ///< prints the arithmetic after the three lines
  Output output = Output::text;
};
/// Explains an object in three lines: its desired state, its present state, and what limits it.
ExitCode explain(const ExplainArguments& arguments);

struct SnapshotArguments {
  std::string scenario;
  kube::ClusterArguments cluster;  ///< cluster to read if no scenario is given
  scenario::ScenarioOverrides overrides;
  std::string at = "0s";
};
/// Prints what a controller sees and remembers: in a cluster now, or in a scenario at a moment under its first policy.
ExitCode snapshot(const SnapshotArguments& arguments);

}  // namespace capstan::cli
