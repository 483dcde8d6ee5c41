#pragma once

#include <string>

#include "archive/saved_state.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/session.h"

namespace CLI {
class App;
}

// Commands that talk to a Kubernetes cluster.
namespace capstan::cli {

struct RunArguments {
  ClusterArguments cluster;
  std::string listen = "0.0.0.0:8080";  ///< /metrics, /healthz, /readyz; "none": nowhere
  bool once = false;                    ///< decide once, print it and write nothing
  Output output = Output::text;
};
/// Watches a cluster and recommends, or acts where it is told to, until it is told to end. With `once`: exit 2 when it
/// would change something.
ExitCode run(const RunArguments& arguments);

/// What a controller sees now, and remembers; nothing is written.
Result<archive::SavedState> live_state(const ClusterArguments& arguments);

CLI::App* add_run(CLI::App& app, RunArguments& arguments);
void add_cluster(CLI::App& command, ClusterArguments& arguments);

}  // namespace capstan::cli
