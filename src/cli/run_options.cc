#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/run.h"

namespace capstan::cli {

void add_cluster(CLI::App& command, kube::ClusterArguments& a, const std::string& namespace_help) {
  command
      .add_option("--kubeconfig", a.kubeconfig,
                  "Kubeconfig of the cluster; default: KUBECONFIG, the pod's service account, ~/.kube/config")
      ->option_text("FILE");
  command.add_option("--context", a.context, "Context of the kubeconfig; default: its current context")
      ->option_text("NAME");
  command.add_option("--namespace", a.ns, namespace_help)->option_text("NAME");
}

CLI::App* add_run(CLI::App& app, RunArguments& a) {
  CLI::App* run = app.add_subcommand(
      "run", "Watch a cluster and decide its replicas, gangs and nodes; act where an object's mode allows it");
  add_cluster(*run, a.cluster, "Namespace of the Lease and the checkpoint; default: that of the configuration");
  run->add_option("--listen", a.listen, "Address of /metrics, /healthz and /readyz; none: no address")
      ->option_text("0.0.0.0:8080");
  CLI::Option* ui = run->add_option(
      "--ui", a.ui, "Address of the page /ui, for tokens that may get the nonResourceURL /ui; none: no page");
  ui->option_text("ADDRESS:PORT");
  add_host(*run, "--ui-host", a.ui_hosts, "Further name under which browsers reach the page; may be repeated")
      ->needs(ui);
  CLI::Option* record = run->add_option(
      "--record", a.record, "Write the inputs of every decision, for `capstan replay`; at most 256 MiB and seven days");
  record->option_text("FILE");
  run->add_flag("--once", a.once,
                "Decide once, print the decision, write nothing; exit 2 if it would change something");
  run->get_option("--once")->excludes(record)->excludes(ui);
  add_output(*run, a.output, "With --once");
  run->footer(
      "Examples:\n"
      "  capstan run --kubeconfig kubeconfig --once\n"
      "  capstan run --namespace capstan-system\n"
      "  capstan run --namespace capstan-system --ui 127.0.0.1:8081");
  return run;
}

}  // namespace capstan::cli
