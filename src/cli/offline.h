#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "cli/commands.h"

// Commands that work on a saved state instead of a cluster.
namespace capstan::cli {

enum class Layer : std::uint8_t { scale, place, provision };

struct DecideArguments {
  Layer layer = Layer::scale;
  std::string snapshot;
  Output output = Output::text;
};
/// One decision of one layer, from a snapshot file. Exit 2 when it would change something.
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
  experiment::ScenarioOverrides overrides;
  std::string at = "0s";
};
/// Simulates a scenario's first policy up to a moment and writes what its controller saw and remembered then.
ExitCode snapshot(const SnapshotArguments& arguments);

}  // namespace capstan::cli
