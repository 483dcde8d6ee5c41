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
/// What a layer says about a saved state, on standard output. Exit 2 when it would change something.
ExitCode print_decision(const archive::SavedState& state, Layer layer, Output output);
/// One decision of one layer, from a snapshot file.
ExitCode decide(const DecideArguments& arguments);

struct ExplainArguments {
  std::string object;  ///< a name from the snapshot, or its kind and id: "gang 7"
  std::string snapshot;
  Output output = Output::text;
};
/// Why an object is as it is, and what is about to happen to it.
ExitCode explain(const ExplainArguments& arguments);

struct SnapshotArguments {
  std::string scenario;
  ClusterArguments cluster;  ///< where no scenario is given
  experiment::ScenarioOverrides overrides;
  std::string at = "0s";
};
/// What a controller saw and remembered: of a cluster now; or of a scenario's first policy, simulated up to a moment.
ExitCode snapshot(const SnapshotArguments& arguments);

}  // namespace capstan::cli
