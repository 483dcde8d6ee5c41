#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "archive/saved_state.h"
#include "base/error.h"
#include "cli/commands.h"
#include "kube/session.h"

namespace CLI {
class App;
}

// Commands that talk to a Kubernetes cluster.
namespace capstan::cli {

struct RunArguments {
  kube::ClusterArguments cluster;
  std::string listen = "0.0.0.0:8080";  ///< address of /metrics, /healthz and /readyz; "none": no address
  std::string ui = "none";              ///< address of the page /ui; "none": no page
  std::vector<std::string> ui_hosts;    ///< further names under which browsers reach the page
  std::string record;                   ///< file to write with the inputs of every decision; empty: none
  bool once = false;                    ///< decide once, print it and write nothing
  Output output = Output::text;
};
/// Watches a cluster until SIGINT or SIGTERM. Recommends changes, and makes them where the mode of an object allows it.
/// With `once`: exit code 2 if the decision would change something.
ExitCode run(const RunArguments& arguments);

/// Returns what a controller sees and remembers now. Writes nothing to the cluster.
Result<archive::SavedState> live_state(const kube::ClusterArguments& arguments);
/// Calls `visit` with what a controller sees and remembers, every few seconds, until a stop is requested or a stop
/// signal arrives. Writes nothing to the cluster.
/// @return an error if the cluster can no longer be read
Result<void> watch_states(const kube::ClusterArguments& arguments, const std::stop_token& stop,
                          const std::function<void(const archive::SavedState&)>& visit);

/// Adds `capstan run`.
CLI::App* add_run(CLI::App& app, RunArguments& arguments);
/// Adds the options that name a cluster.
void add_cluster(CLI::App& command, kube::ClusterArguments& arguments, const std::string& namespace_help);

}  // namespace capstan::cli
