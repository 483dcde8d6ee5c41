#include "cli/plan_options.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <system_error>

#include "cli/options.h"

namespace capstan::cli {

namespace {

/// Refuses an empty path, such as that of an unset shell variable.
std::string refuse_empty_path(const std::string& path) {
  return path.empty() ? "found an empty text, expected a path" : "";
}

/// Returns true if both paths are stated and lead to the same place.
bool is_same_path(const std::string& a, const std::string& b) {
  std::error_code failed;
  const auto plain = [&](std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return std::filesystem::absolute(path, failed).lexically_normal();
  };
  return !a.empty() && !b.empty() && plain(a) == plain(b);
}

}  // namespace

CLI::App* add_plan(CLI::App& app, PlanArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("plan", "Plan what to deploy: one page and manifests, checked in the simulator");
  CLI::Option* spec = command->add_option("spec", arguments.spec, "Model, SLO, load and cluster, a YAML file");
  spec->option_text("SPEC.yaml");
  CLI::Option* example = command->add_flag("--example", arguments.example, "Print a spec with comments to start from");
  example->excludes(spec);
  command->add_option("--set", arguments.sets, "Change one value of the spec; may be repeated")
      ->option_text("PATH=VALUE")
      ->excludes(example);
  command->add_option("--out", arguments.out, "Write the manifests into this folder, which is new or empty")
      ->option_text("DIR")
      ->check(CLI::Validator(refuse_empty_path, ""))
      ->excludes(example);
  CLI::Option* against =
      command
          ->add_option("--against", arguments.against, "Say what to change in these manifests, why, and what it saves")
          ->option_text("PATH")
          ->check(CLI::Validator(refuse_empty_path, ""))
          ->excludes(example);
  command->add_option("--report", arguments.report, "Also write a page with charts of the simulations, one HTML file")
      ->option_text("FILE.html")
      ->check(CLI::Validator(refuse_empty_path, ""))
      ->excludes(example);
  command->add_flag("--details", arguments.details, "Also print the arithmetic, the reasons and sample manifests")
      ->excludes(example)
      ->excludes(against);
  add_word(
      *command, "-o,--output", {"text", "markdown", "json"},
      [&arguments](const std::string& word) {
        arguments.output = word == "json"       ? PlanOutput::json
                           : word == "markdown" ? PlanOutput::markdown
                                                : PlanOutput::text;
      },
      "How the page is written: text, markdown or json");
  command->add_option("--jobs", arguments.jobs, "Simulations at once; 0 = one per core")
      ->option_text("N")
      ->check(CLI::Range(0u, 1024u));
  command->footer(
      "Examples:\n"
      "  capstan plan --example > spec.yaml\n"
      "  capstan plan spec.yaml --set services.0.min_replicas=2 --out manifests\n"
      "  capstan plan spec.yaml --against deploy -o markdown\n\n"
      "Exit code 2: with --against, a manifest should change. 3: the plan is refused or impossible, or misses an SLO.");
  command->final_callback([&arguments] {
    if (!arguments.example && arguments.spec.empty()) throw CLI::RequiredError("SPEC.yaml");
    if (is_same_path(arguments.out, arguments.report)) {
      throw CLI::ValidationError("--report", "found the folder of --out, expected another path");
    }
  });
  return command;
}

}  // namespace capstan::cli
