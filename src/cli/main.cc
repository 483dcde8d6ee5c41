#include <CLI/CLI.hpp>

#include <csignal>
#include <exception>
#include <map>
#include <sstream>

#include "cli/commands.h"
#include "cli/offline.h"

namespace {

using namespace capstan::cli;

const std::map<std::string, Output> kOutputs = {{"text", Output::text}, {"json", Output::json}};

const std::map<std::string, Layer> kLayers = {
    {"scale", Layer::scale}, {"place", Layer::place}, {"provision", Layer::provision}};

CLI::Option* add_snapshot(CLI::App& command, std::string& path, const char* name) {
  return command.add_option(name, path, "A file that `capstan snapshot` wrote")->option_text("SNAPSHOT.json");
}

void add_output(CLI::App& command, Output& output) {
  command.add_option("-o,--output", output, "How the result is written: text or json")
      ->transform(CLI::CheckedTransformer(kOutputs, CLI::ignore_case))
      ->option_text("text|json");
}

void add_simulation(CLI::App& command, SimulateArguments& arguments) {
  command.add_option("scenario", arguments.scenario, "The scenario, a YAML file")
      ->required()
      ->option_text("SCENARIO.yaml");
  command.add_option("--trace", arguments.overrides.trace, "Replay this trace instead of the scenario's load")
      ->option_text("FILE");
  command.add_option("--policy", arguments.overrides.policies, "Only the policy of this name; may be repeated")
      ->option_text("NAME")
      ->allow_extra_args(false);
  command.add_option("--seed", arguments.overrides.seed, "Instead of the scenario's seed")
      ->option_text("N")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--set", arguments.overrides.sets, "Change one value of the scenario; may be repeated")
      ->option_text("path=value")
      ->allow_extra_args(false);
  command.add_option("--fail-on", arguments.fail_on, "Exit with 2 where a policy misses this, such as met<99%")
      ->option_text("figure<bound")
      ->allow_extra_args(false);
  add_output(command, arguments.output);
}

int run(int argc, char** argv) {
  CLI::App app("Capstan autoscales LLM inference on GPUs: replicas, gangs and nodes, decided together.", "capstan");
  app.require_subcommand(1);
  app.set_version_flag("--version", "capstan " CAPSTAN_VERSION);
  app.footer(
      "Examples:\n"
      "  capstan compare scenarios/azure-hour.yaml\n"
      "  capstan sim scenarios/azure-hour.yaml --set load.scale=2 -o json\n\n"
      "Exit codes: 0 ok, 1 error, 2 a threshold was missed, 3 infeasible or refused, 64 usage.");

  SimulateArguments sim_arguments;
  CLI::App* sim = app.add_subcommand("sim", "Simulate one policy of a scenario");
  add_simulation(*sim, sim_arguments);
  sim->footer(
      "Examples:\n"
      "  capstan sim scenarios/azure-hour.yaml --policy \"queue · gang · group\"\n"
      "  capstan sim scenarios/azure-hour.yaml --trace conv.csv --seed 7 -o json");

  SimulateArguments compare_arguments;
  compare_arguments.compare = true;
  CLI::App* compare = app.add_subcommand("compare", "Simulate every policy of a scenario and rank them");
  add_simulation(*compare, compare_arguments);
  compare->add_option("--jobs", compare_arguments.jobs, "Policies simulated at once; 0 = one a core")
      ->option_text("N")
      ->check(CLI::Range(0u, 1024u));
  compare->footer(
      "Examples:\n"
      "  capstan compare scenarios/azure-hour.yaml\n"
      "  capstan compare scenarios/azure-hour.yaml --set service.slo.ttft=1s --fail-on \"met<99%\"");

  PredictArguments predict_arguments;
  CLI::App* engine = app.add_subcommand("engine", "The engine's step model");
  engine->require_subcommand(1);
  CLI::App* predict_command = engine->add_subcommand("predict", "The step model beside measured points");
  predict_command->add_option("--engine", predict_arguments.engine, "Rows of this engine")->option_text("vllm");
  predict_command->add_option("--points", predict_arguments.points, "Measured points, a CSV file")
      ->required()
      ->option_text("FILE");
  add_output(*predict_command, predict_arguments.output);
  predict_command->footer(
      "Examples:\n"
      "  capstan engine predict --points silicon_sample.csv\n"
      "  capstan engine predict --engine vllm --points silicon_sample.csv -o json");

  DecideArguments decide_arguments;
  CLI::App* decide_command = app.add_subcommand("decide", "One decision of one layer, from a snapshot");
  decide_command->add_option("layer", decide_arguments.layer, "scale, place or provision")
      ->required()
      ->transform(CLI::CheckedTransformer(kLayers, CLI::ignore_case))
      ->option_text("scale|place|provision");
  add_snapshot(*decide_command, decide_arguments.snapshot, "snapshot")->required();
  add_output(*decide_command, decide_arguments.output);
  decide_command->footer("Example:\n  capstan decide scale incident.json\n\nExit code 2: it would change something.");

  ExplainArguments explain_arguments;
  CLI::App* explain_command = app.add_subcommand("explain", "Why something is as it is, and what is about to happen");
  explain_command->add_option("object", explain_arguments.object, "Its name, or its kind and id: \"gang 7\"")
      ->required()
      ->option_text("OBJECT");
  add_snapshot(*explain_command, explain_arguments.snapshot, "--snapshot")->required();
  add_output(*explain_command, explain_arguments.output);
  explain_command->footer("Example:\n  capstan explain chat --snapshot incident.json");

  SnapshotArguments snapshot_arguments;
  CLI::App* snapshot_command =
      app.add_subcommand("snapshot", "What a controller saw and remembered at a moment, as JSON");
  snapshot_command->add_option("--scenario", snapshot_arguments.scenario, "Simulate this one up to the moment")
      ->required()
      ->option_text("SCENARIO.yaml");
  snapshot_command->add_option("--at", snapshot_arguments.at, "Since the start of the simulation")
      ->option_text("DURATION");
  snapshot_command->add_option("--policy", snapshot_arguments.overrides.policies, "Of the scenario's; else the first")
      ->option_text("NAME")
      ->allow_extra_args(false);
  snapshot_command->add_option("--set", snapshot_arguments.overrides.sets, "Change one value of the scenario")
      ->option_text("path=value")
      ->allow_extra_args(false);
  snapshot_command->footer(
      "Example:\n  capstan snapshot --scenario scenarios/azure-hour.yaml --at 33m > incident.json");

  Output version_output = Output::text;
  CLI::App* version_command = app.add_subcommand("version", "Print the version");
  add_output(*version_command, version_output);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream asked;  // --help and --version: a result like any other
    const bool answered = app.exit(error, asked) == 0;
    return answered ? print(asked.str()) : kUsage;
  }
  if (*sim) return simulate(sim_arguments);
  if (*compare) return simulate(compare_arguments);
  if (*decide_command) return decide(decide_arguments);
  if (*explain_command) return explain(explain_arguments);
  if (*snapshot_command) return snapshot(snapshot_arguments);
  if (*predict_command) return predict(predict_arguments);
  return version(version_output);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error to report, not a death
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    // Nothing of ours throws: this is the system, out of memory.
    return report({capstan::ErrorKind::input, "", 0, 0, std::string("capstan: ") + error.what()});
  }
}
