#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/run.h"
#include "cli/top.h"

namespace capstan::cli {

CLI::App* add_top(CLI::App& app, TopArguments& arguments) {
  using capstan::top::NodeOrder;
  CLI::App* command = app.add_subcommand("top", "Show nodes, replicas and services in the terminal as they are now");
  command
      ->add_option(
          "file", arguments.file,
          "A recording, which is followed while it grows, a snapshot, or a scenario to simulate; none: a cluster")
      ->option_text("[FILE]");
  command
      ->add_option(
          "--at", arguments.at,
          "Show the first state at or after this moment: a duration since the start, or a time of the recording in "
          "UTC; default: the last state")
      ->option_text("MOMENT");
  command->add_option("--speed", arguments.speed, "Simulated seconds per second of a scenario; 1 is real time")
      ->check(CLI::Range(0.01, 1'000'000.0))
      ->option_text("N");
  command->add_flag("--once", arguments.once, "Print one frame and end; the default without a terminal");
  add_word(
      *command, "--sort", {"id", "free", "price", "age"},
      [&arguments](const std::string& word) {
        arguments.sort = word == "free"    ? NodeOrder::free
                         : word == "price" ? NodeOrder::price
                         : word == "age"   ? NodeOrder::age
                                           : NodeOrder::id;
      },
      "Order of the nodes: as they joined, or by free GPUs, price or age");
  add_policy(*command, arguments.overrides.policies, false);
  add_changes(*command, arguments.overrides);
  add_cluster(*command, arguments.cluster,
              "Namespace of the checkpoint of capstan run; default: that of the configuration");
  command->footer(
      "Keys: q ends, p pauses, s changes the order of the nodes, arrows and Page Up, Page Down, Home, End scroll.\n\n"
      "Examples:\n"
      "  capstan top scenarios/azure-hour.yaml --speed 60\n"
      "  capstan top /var/lib/capstan/flight.rec\n"
      "  capstan top hour.rec --at 33m --once\n"
      "  capstan top --kubeconfig kubeconfig");
  return command;
}

}  // namespace capstan::cli
