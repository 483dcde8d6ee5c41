#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/run.h"

namespace capstan::cli {

void add_cluster(CLI::App& command, ClusterArguments& a) {
  command
      .add_option("--kubeconfig", a.kubeconfig,
                  "Where the cluster is; else KUBECONFIG, the pod's service account, ~/.kube/config")
      ->option_text("FILE");
  command.add_option("--context", a.context, "Instead of the file's current one")->option_text("NAME");
  command.add_option("--namespace", a.ns, "Instead of the configuration's; run keeps Lease and checkpoint there")
      ->option_text("NAME");
}

CLI::App* add_run(CLI::App& app, RunArguments& a) {
  CLI::App* run =
      app.add_subcommand("run", "Watch a cluster: replicas, gangs and nodes, shown, or carried out where you let it");
  add_cluster(*run, a.cluster);
  run->add_option("--listen", a.listen, "Where /metrics, /healthz and /readyz answer; none: nowhere")
      ->option_text("0.0.0.0:8080");
  run->add_flag("--once", a.once, "Decide once, print it, write nothing; exit 2 if it would change something");
  add_output(*run, a.output, "With --once");
  run->footer(
      "Examples:\n"
      "  capstan run --kubeconfig kubeconfig --once\n"
      "  capstan run --namespace capstan-system");
  return run;
}

}  // namespace capstan::cli
