#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "cli/commands.h"
#include "cli/conformance.h"
#include "cli/cost_options.h"
#include "cli/engine_options.h"
#include "cli/explain_signals.h"
#include "cli/lint_options.h"
#include "cli/offline.h"
#include "cli/options.h"
#include "cli/out_of_memory.h"
#include "cli/plan_options.h"
#include "cli/reason_options.h"
#include "cli/replay.h"
#include "cli/run.h"
#include "cli/serve.h"
#include "cli/top.h"
#include "cli/usage_error.h"
#include "manifest/fields.h"
#include "manifest/scalars.h"

namespace {

using namespace capstan::cli;

CLI::Option* add_snapshot(CLI::App& command, std::string& path, const char* name) {
  return command.add_option(name, path, "A file that `capstan snapshot` wrote")->option_text("SNAPSHOT.json");
}

void add_simulation(CLI::App& command, SimulateArguments& arguments) {
  command.add_option("scenario", arguments.scenario, "The scenario, a YAML file")
      ->required()
      ->option_text("SCENARIO.yaml");
  add_policy(command, arguments.overrides.policies, arguments.compare);
  add_changes(command, arguments.overrides);
  CLI::Option* from = add_snapshot(command, arguments.from_snapshot, "--from-snapshot");
  from->description("Start with the nodes and replicas of a cluster's state, which `capstan snapshot` wrote");
  command.add_option("--service", arguments.service, "Service of the snapshot; not needed if it has only one")
      ->option_text("NAME")
      ->needs(from);
  command.add_option("--fail-on", arguments.fail_on, "Exit with 2 if this is true for a policy, such as met<99%")
      ->option_text("figure<bound")
      ->allow_extra_args(false);
  command.add_option("--report", arguments.report, "Also write a page with charts of the result, one HTML file")
      ->option_text("FILE.html");
  add_output(command, arguments.output);
  command
      .add_flag("--details", arguments.details,
                "With -o json, also write what only a page shows: every change of the wanted replicas, the phases of "
                "latency, and the history of nodes and replicas")
      ->needs("--output");
  command.add_flag("-v,--verbose", arguments.verbose,
                   "Print all rows of every table; without it, a table of more than 25 rows shows only the worst ones");
}

CLI::App* add_sim(CLI::App& app, SimulateArguments& arguments) {
  CLI::App* command = app.add_subcommand("sim", "Simulate one policy of a scenario");
  add_simulation(*command, arguments);
  command->add_option("--record", arguments.record, "Write the inputs of every decision, for `capstan replay`")
      ->option_text("FILE");
  command->footer(
      "Examples:\n"
      "  capstan sim scenarios/azure-hour.yaml --policy \"queue · gang · group\"\n"
      "  capstan sim scenarios/azure-hour.yaml --trace conv.csv --seed 7 -o json");
  return command;
}

CLI::App* add_compare(CLI::App& app, SimulateArguments& arguments) {
  CLI::App* command = app.add_subcommand("compare", "Simulate every policy of a scenario and rank them");
  arguments.compare = true;
  add_simulation(*command, arguments);
  command->add_flag("--frontier", arguments.frontier,
                    "Also print the policies that meet more requests than every cheaper policy, the changes of "
                    "replicas per hour, and the first moment at which the first two policies differ");
  command->add_flag("--bound", arguments.bound,
                    "Also print the lowest cost that any policy can have, and the result of a policy that knows every "
                    "request in advance");
  command->add_flag("--no-advice", arguments.no_advice,
                    "Do not search for the best constant fleet or a higher minimum of replicas; the search takes "
                    "further runs");
  add_word(
      *command, "--sparklines", {"auto", "always", "never"},
      [&arguments](const std::string& word) {
        arguments.sparklines = word == "always"  ? SparklineMode::always
                               : word == "never" ? SparklineMode::never
                                                 : SparklineMode::automatic;
      },
      "Draw arrivals, ready replicas and missed requests over time; auto: on a terminal with UTF-8");
  command->add_option("--jobs", arguments.jobs, "Policies simulated at once; 0 = one per core")
      ->option_text("N")
      ->check(CLI::Range(0u, 1024u));
  command->footer(
      "Examples:\n"
      "  capstan compare scenarios/azure-hour.yaml --report azure.html\n"
      "  capstan compare scenarios/azure-hour.yaml --set service.slo.ttft=1s --fail-on \"met<99%\"");
  return command;
}

CLI::App& add_engine(CLI::App& app) {
  CLI::App& engine =
      *app.add_subcommand("engine", "Predict step times, emulate inference servers, or send load to them");
  engine.require_subcommand(1);
  engine.footer(
      "Examples:\n"
      "  capstan engine serve --bind 127.0.0.1:8000 --model Llama-3.1-8B --gpu H100\n"
      "  capstan engine load --endpoint http://127.0.0.1:8000 --limit 100");
  return engine;
}

CLI::App* add_predict(CLI::App& engine, PredictArguments& arguments) {
  CLI::App* command = engine.add_subcommand("predict", "Compare the step model with measured points");
  command->add_option("--engine", arguments.engine, "Compare the rows of this engine")->option_text("vllm");
  command->add_option("--points", arguments.points, "Measured points, a CSV file")->required()->option_text("FILE");
  command
      ->add_option("--step-times", arguments.step_times,
                   "Your own step times, in the format of data/engines.csv; they come before the bundled ones")
      ->option_text("FILE");
  add_output(*command, arguments.output);
  command->footer(
      "Examples:\n"
      "  capstan engine predict --points silicon_sample.csv\n"
      "  capstan engine predict --points silicon_sample.csv --step-times own.csv\n"
      "  capstan engine predict --engine vllm --points silicon_sample.csv -o json");
  return command;
}

CLI::App* add_decide(CLI::App& app, DecideArguments& arguments) {
  CLI::App* command = app.add_subcommand("decide", "Print the decision of one layer for a snapshot");
  const std::map<std::string, Layer> layers = {
      {"scale", Layer::scale}, {"place", Layer::place}, {"provision", Layer::provision}};
  const auto take = [&arguments, layers](const std::string& word) {
    if (const auto layer = layers.find(word); layer != layers.end()) arguments.layer = layer->second;
  };
  add_word(*command, "layer", {"scale", "place", "provision"}, take, "scale, place or provision")->required();
  add_snapshot(*command, arguments.snapshot, "snapshot")->required();
  add_output(*command, arguments.output);
  command->footer(
      "Example:\n  capstan decide scale incident.json\n\nExit code 2: the decision would change something.");
  return command;
}

/// Adds the options of a scenario that is simulated up to a moment.
void add_scenario_moment(CLI::App& command, std::string& scenario, std::string& at,
                         capstan::scenario::ScenarioOverrides& overrides, const std::string& description) {
  command.add_option("--scenario", scenario, description)->option_text("SCENARIO.yaml");
  command
      .add_option("--at", at, "Moment of the simulation: a duration since its start (29m), or HH:MM[:SS] (00:29:00)")
      ->option_text("MOMENT");
  add_policy(command, overrides.policies, false);
  add_changes(command, overrides);
  for (const char* option : {"--at", "--policy", "--trace", "--seed", "--set"}) {
    command.get_option(option)->needs("--scenario");
  }
}

CLI::App* add_explain(CLI::App& app, ExplainArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("explain", "Explain an object in three lines: what is wanted, what there is, what limits it");
  command->add_option("object", arguments.object, "Name of a service, pod, gang or node, or kind and id: \"gang 7\"")
      ->option_text("OBJECT");
  CLI::Option* snapshot = add_snapshot(*command, arguments.snapshot, "--snapshot");
  add_scenario_moment(*command, arguments.scenario, arguments.at, arguments.overrides,
                      "Simulate this scenario up to --at, instead of a snapshot");
  command->get_option("--scenario")->excludes(snapshot);
  command->add_flag("-v,--verbose", arguments.verbose, "Print the arithmetic of the decision after the three lines");
  add_output(*command, arguments.output);
  command->footer(
      "Examples:\n"
      "  capstan explain chat --snapshot incident.json\n"
      "  capstan explain \"gang 1\" --scenario scenarios/seven-of-eight.yaml --at 20m --verbose");
  return command;
}

CLI::App* add_explain_signals(CLI::App& explain, ExplainSignalsArguments& arguments) {
  capstan::op::SignalQuestion& question = arguments.question;
  CLI::App* command = explain.add_subcommand(
      "signals", "Find the stage at which the signals of a service are lost, and the bottleneck of a slow replica");
  command->add_option("service", question.service, "Name of an InferenceScaler, or NAMESPACE/NAME")
      ->option_text("SERVICE");
  CLI::Option* page = command->add_option("--page", question.page, "Read this page of metrics instead of a cluster");
  page->option_text("FILE");
  CLI::Option* url = command->add_option("--url", question.url, "Read the page at this address instead of a cluster");
  url->option_text("URL")->excludes(page);
  command->add_option("--model", question.model, "Model name that the metrics must have")->option_text("NAME");
  command
      ->add_option("--engine", question.engine, "Engine that wrote the page; default: detected from the metric names")
      ->option_text("NAME");
  command
      ->add_option("--max-num-seqs", question.max_sequences,
                   "Maximum number of requests in a batch of the engine; default: 256")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--prometheus", question.prometheus,
                   "Server to ask for GPU duty and the gateway's queue; default: the one that the service reads from")
      ->option_text("URL")
      ->excludes(page)
      ->excludes(url);
  add_cluster(*command, question.cluster, "Namespace of the service; default: all namespaces are searched");
  add_output(*command, arguments.output);
  command->footer(
      "Examples:\n"
      "  capstan explain signals chat --kubeconfig kubeconfig\n"
      "  capstan explain signals --url http://10.0.0.7:8000/metrics --model Llama-3.1-8B\n"
      "\nExit code 2: a signal is lost.");
  return command;
}

CLI::App* add_snapshot_command(CLI::App& app, SnapshotArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "snapshot", "Print the state that a controller decides on (cluster, memory, policies) at one moment, as JSON");
  add_cluster(*command, arguments.cluster,
              "Namespace of the checkpoint of capstan run; default: that of the configuration");
  add_scenario_moment(*command, arguments.scenario, arguments.at, arguments.overrides,
                      "Simulate this scenario up to --at, instead of a cluster");
  for (const char* option : {"--kubeconfig", "--context", "--namespace"}) {
    command->get_option(option)->excludes("--scenario");
  }
  command->footer(
      "Examples:\n"
      "  capstan snapshot --kubeconfig kubeconfig > incident.json\n"
      "  capstan snapshot --scenario scenarios/azure-hour.yaml --at 33m > incident.json");
  return command;
}

CLI::App* add_conformance(CLI::App& app, ConformanceArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("conformance", "Test Capstan's re-implementations of other autoscalers with their own cases");
  command->add_option("suite", arguments.suite, "hpa, kpa, keda, wva, ray_serve or aibrix")
      ->required()
      ->option_text("SUITE");
  command->add_option("cases", arguments.cases, "Test cases, a JSON file")->required()->option_text("CASES.json");
  add_output(*command, arguments.output);
  command->footer("Example:\n  capstan conformance hpa hpa.dev.json\n\nExit code 2: a case fails.");
  return command;
}

CLI::App* add_version(CLI::App& app, Output& output) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  add_output(*command, output);
  command->footer("Example:\n  capstan version -o json");
  return command;
}

using Commands = std::vector<const CLI::App*>;

Commands commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

capstan::Error no_such_command(const CLI::App& level, const std::string& word) {
  std::vector<std::string_view> known;
  for (const CLI::App* command : commands_of(level)) known.push_back(command->get_name());
  const std::string_view meant = capstan::manifest::did_you_mean(word, known);
  const bool inner = level.get_parent() != nullptr;
  return {capstan::ErrorKind::usage, (inner ? "capstan " : "") + level.get_name(), 0, 0,
          "found '" + word + "', expected " + capstan::manifest::one_of(known) +
              (meant.empty() ? "" : " (did you mean " + std::string(meant) + "?)")};
}

/// Returns an error if there is an unknown word where a command is expected. CLI11 would only report that a command is
/// missing.
std::optional<capstan::Error> find_unknown_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* level = &app;
  for (int i = 1; i < argc && level->get_require_subcommand_min() > 0; ++i) {
    const std::string word = argv[i];
    if (word.starts_with('-') && level->get_option_no_throw(word) != nullptr) return std::nullopt;
    const Commands commands = commands_of(*level);
    const auto found = std::ranges::find(commands, word, [](const CLI::App* command) { return command->get_name(); });
    if (found == commands.end()) return no_such_command(*level, word);
    level = *found;
  }
  return std::nullopt;
}

/// Returns the facts of the command that could not be parsed: the innermost command that the command line names.
UsageFault fault_of(const CLI::App& app, const char* message) {
  const CLI::App* level = &app;
  UsageFault fault{.message = message, .command = app.get_name()};
  while (!level->get_subcommands().empty()) {
    level = level->get_subcommands().front();
    fault.command += " " + level->get_name();
  }
  for (const CLI::App* command : commands_of(*level)) fault.commands.push_back(command->get_name());
  for (const CLI::Option* option : level->get_options()) {
    for (const std::string& name : option->get_lnames()) fault.options.push_back("--" + name);
  }
  fault.footer = level->get_footer();
  return fault;
}

int run(int argc, char** argv) {
  CLI::App app("Capstan autoscales LLM inference on GPUs: replicas, gangs and nodes, decided together.", "capstan");
  app.require_subcommand(1);
  app.set_version_flag("--version", "capstan " CAPSTAN_VERSION);
  app.footer(
      "Examples:\n"
      "  capstan compare scenarios/azure-hour.yaml\n"
      "  capstan sim scenarios/azure-hour.yaml --set load.scale=2 -o json\n\n"
      "Exit codes: 0 ok, 1 error, 2 changes, findings, a failed case or a missed threshold, 3 infeasible or refused, "
      "64 usage.");

  SimulateArguments sim_arguments, compare_arguments;
  PredictArguments predict_arguments;
  EngineServeArguments engine_serve_arguments;
  EngineLoadArguments load_arguments;
  DecideArguments decide_arguments;
  ExplainArguments explain_arguments;
  ExplainSignalsArguments explain_signals_arguments;
  ReasonArguments reason_arguments;
  SnapshotArguments snapshot_arguments;
  RunArguments run_arguments;
  ConformanceArguments conformance_arguments;
  LintArguments lint_arguments;
  CostArguments cost_arguments;
  ReplayArguments replay_arguments;
  PlanArguments plan_arguments;
  ServeArguments serve_arguments;
  TopArguments top_arguments;
  Output version_output = Output::text;
  // A subcommand is listed before its parent command: both count as parsed, and the first parsed entry of the list
  // runs.
  std::vector<std::pair<const CLI::App*, std::function<ExitCode()>>> commands;
  const auto add = [&](const CLI::App* command, auto run) { commands.emplace_back(command, run); };
  add(add_sim(app, sim_arguments), [&] { return simulate(sim_arguments); });
  add(add_compare(app, compare_arguments), [&] { return simulate(compare_arguments); });
  CLI::App& engine = add_engine(app);
  add(add_predict(engine, predict_arguments), [&] { return predict(predict_arguments); });
  add(add_engine_serve(engine, engine_serve_arguments), [&] { return engine_serve(engine_serve_arguments); });
  add(add_engine_load(engine, load_arguments), [&] { return engine_load(load_arguments); });
  add(add_decide(app, decide_arguments), [&] { return decide(decide_arguments); });
  CLI::App* explain_command = add_explain(app, explain_arguments);
  add(add_explain_signals(*explain_command, explain_signals_arguments),
      [&] { return explain_signals(explain_signals_arguments); });
  add(add_explain_reason(*explain_command, reason_arguments), [&] { return explain_reason(reason_arguments); });
  add(explain_command, [&] { return explain(explain_arguments); });
  add(add_snapshot_command(app, snapshot_arguments), [&] { return snapshot(snapshot_arguments); });
  add(add_run(app, run_arguments), [&] { return capstan::cli::run(run_arguments); });
  add(add_replay(app, replay_arguments), [&] { return replay(replay_arguments); });
  add(add_serve(app, serve_arguments), [&] { return capstan::cli::serve(serve_arguments); });
  add(add_top(app, top_arguments), [&] { return capstan::cli::top(top_arguments); });
  add(add_conformance(app, conformance_arguments), [&] { return conformance(conformance_arguments); });
  add(add_lint(app, lint_arguments), [&] { return capstan::cli::lint(lint_arguments); });
  add(add_plan(app, plan_arguments), [&] { return make_plan(plan_arguments); });
  add(add_cost(app, cost_arguments), [&] { return cost(cost_arguments); });
  add(add_version(app, version_output), [&] { return version(version_output); });

  if (const auto error = find_unknown_command(app, argc, argv)) return report(*error);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return report(usage_error(fault_of(app, error.what())));
    std::ostringstream text;  // the text of --help or --version is a result
    app.exit(error, text);
    return print(text.str());
  }
  const auto chosen = std::ranges::find_if(commands, [](const auto& command) { return command.first->parsed(); });
  CAPSTAN_ASSERT(chosen != commands.end());
  return chosen->second();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a write to a closed pipe returns an error and does not kill the program
  end_when_out_of_memory();
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    // Capstan's own code throws nothing. The standard library throws if the system starts no further thread, or if the
    // size of a container is impossible.
    return report({capstan::ErrorKind::input, "", 0, 0, std::string("capstan: ") + error.what()});
  }
}
