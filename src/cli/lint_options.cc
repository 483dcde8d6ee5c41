#include "cli/lint_options.h"

#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "lint/config.h"

namespace capstan::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  capstan lint deploy/\n"
    "  capstan lint deploy/ --diff\n"
    "  kustomize build overlays/prod | capstan lint - -o sarif\n"
    "  capstan lint --kubeconfig ~/.kube/config --namespace inference\n"
    "  capstan lint --explain gpu-util-scaling-signal\n\n"
    "Exit code 2: there are findings.";

}  // namespace

CLI::App* add_lint(CLI::App& app, LintArguments& arguments) {
  CLI::App* command = app.add_subcommand("lint", "Find mistakes in Kubernetes manifests");
  CLI::Option* path = command->add_option("path", arguments.paths,
                                          "Files, folders, or - for standard input; default: the current folder");
  path->option_text("PATH...");
  command
      ->add_option("--exclude", arguments.exclude,
                   "Leave out these files, in the syntax of .gitignore; may be repeated")
      ->option_text("GLOB")
      ->allow_extra_args(false);
  const auto take_live = [&arguments](const std::string& file) {
    arguments.live = true;
    arguments.cluster.kubeconfig = file;
  };
  CLI::Option* live = command->add_option_function<std::string>(
      "--kubeconfig", take_live, "Check the objects of this live cluster instead of files");
  live->option_text("FILE")->excludes(path);
  command->add_option("--context", arguments.cluster.context, "Context of the kubeconfig; default: its current context")
      ->option_text("NAME")
      ->needs(live);
  command->add_option("--namespace", arguments.cluster.ns, "Check only this namespace; default: all")
      ->option_text("NAME")
      ->needs(live);
  const auto take_output = [&arguments](const std::string& word) { arguments.output = word; };
  add_word(*command, "-o,--output", {"text", "concise", "json", "sarif", "github", "junit"}, take_output,
           "Format of the findings");
  const auto take_bound = [&arguments](const std::string& word) {
    arguments.fail_on.reset();
    if (const auto severity = lint::severity_named(word)) arguments.fail_on = *severity;  // not for "never"
  };
  add_word(*command, "--fail-on", {"error", "warning", "info", "never"}, take_bound,
           "Exit with 2 at findings of this severity or above; default: warning");
  command->add_option("--rule", arguments.rules, "Change the severity of a rule: off, info, warning or error")
      ->option_text("RULE=SEVERITY")
      ->allow_extra_args(false);
  command->add_flag("--advice", arguments.advice, "Also report advice: findings of severity info");
  command->add_flag("--closed-world", arguments.is_complete_cluster,
                    "The input is complete: a missing object is a finding");
  command->add_flag("--allow-empty", arguments.allow_empty, "Input without any Kubernetes object is no error");
  command->add_option("--kube-version", arguments.kube_version, "Kubernetes version that the manifests are for")
      ->option_text("1.MINOR");
  CLI::Option* fix = command->add_flag("--fix", arguments.fix, "Make the fixes that keep the meaning of the files");
  CLI::Option* unsafe_fixes =
      command->add_flag("--unsafe-fixes", arguments.unsafe_fixes, "Also make the fixes that change what runs");
  command->add_flag("--diff", arguments.diff, "Only show the changes of --fix, or of --unsafe-fixes");
  live->excludes(fix)->excludes(unsafe_fixes);
  command->add_option("--config", arguments.config, "Configuration file; default: .capstan-lint.yaml")
      ->option_text("FILE");
  CLI::Option* known =
      command->add_option("--baseline", arguments.baseline, "Report only findings that are not in this file");
  known->option_text("FILE");
  command
      ->add_option("--write-baseline", arguments.write_baseline,
                   "Write all current findings to this file as the baseline")
      ->option_text("FILE")
      ->excludes(known)
      ->excludes(fix)
      ->excludes(unsafe_fixes);
  command->add_flag("--statistics", arguments.statistics, "Print only the number of findings per rule");
  command->add_option("--explain", arguments.explain, "Explain a rule")->option_text("RULE");
  command->add_flag("--lsp", arguments.lsp, "Serve an editor over standard input and output (LSP)");
  command->add_flag("--list", arguments.list, "List all rules, one per line");
  command->add_option("--jobs", arguments.jobs, "Threads; 0 = one per core")
      ->option_text("N")
      ->check(CLI::Range(0u, 64u));
  command->footer(kFooter);
  return command;
}

}  // namespace capstan::cli
