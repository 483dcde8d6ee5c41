#include "cli/lint_options.h"

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace capstan::cli {

CLI::App* add_lint(CLI::App& app, LintArguments& arguments) {
  CLI::App* command = app.add_subcommand("lint", "What is wrong with the manifests you have");
  CLI::Option* path =
      command->add_option("path", arguments.paths, "Files, folders, or - for standard input; else this folder");
  path->option_text("PATH...");
  command->add_option("--exclude", arguments.exclude, "Leave these files out, as a .gitignore would; may be repeated")
      ->option_text("GLOB")
      ->allow_extra_args(false);
  const auto take_live = [&arguments](const std::string& file) {
    arguments.live = true;
    arguments.cluster.kubeconfig = file;
  };
  CLI::Option* live = command->add_option_function<std::string>("--kubeconfig", take_live,
                                                                "The objects of this live cluster, and no files");
  live->option_text("FILE")->excludes(path);
  command->add_option("--context", arguments.cluster.context, "Instead of the file's current one")
      ->option_text("NAME")
      ->needs(live);
  command->add_option("--namespace", arguments.cluster.ns, "Only this one; else all")->option_text("NAME")->needs(live);
  const auto take_output = [&arguments](const std::string& word) { arguments.output = word; };
  add_word(*command, "-o,--output", {"text", "concise", "json", "sarif", "github", "junit"}, take_output,
           "How the findings are written");
  const auto take_bound = [&arguments](const std::string& word) { arguments.fail_on = word; };
  add_word(*command, "--fail-on", {"error", "warning", "info", "never"}, take_bound,
           "Exit with 2 at findings of this severity or above; else at warnings");
  command->add_option("--rule", arguments.rules, "Another severity for a rule: off, info, warning or error")
      ->option_text("RULE=SEVERITY")
      ->allow_extra_args(false);
  command->add_flag("--advice", arguments.advice, "Rules that are advice, too");
  command->add_flag("--closed-world", arguments.closed_world, "All of the input is one cluster, and all of it");
  command->add_option("--kube-version", arguments.kube_version, "The Kubernetes that the manifests are for")
      ->option_text("1.MINOR");
  CLI::Option* fix = command->add_flag("--fix", arguments.fix, "Edit the files where that keeps their meaning");
  CLI::Option* unsafe_fixes =
      command->add_flag("--unsafe-fixes", arguments.unsafe_fixes, "Edit them also where that changes what runs");
  command->add_flag("--diff", arguments.diff, "Only show what --fix, or --unsafe-fixes with it, would change");
  live->excludes(fix)->excludes(unsafe_fixes);
  command->add_option("--config", arguments.config, "Instead of .capstan-lint.yaml")->option_text("FILE");
  CLI::Option* known =
      command->add_option("--baseline", arguments.baseline, "Report only what this file does not hold");
  known->option_text("FILE");
  command->add_option("--write-baseline", arguments.write_baseline, "Make all that is found now the baseline")
      ->option_text("FILE")
      ->excludes(known)
      ->excludes(fix)
      ->excludes(unsafe_fixes);
  command->add_flag("--statistics", arguments.statistics, "Only how often each rule found something");
  command->add_option("--explain", arguments.explain, "What a rule is about")->option_text("RULE");
  command->add_flag("--lsp", arguments.lsp, "Be a language server for an editor, on standard input and output");
  command->add_flag("--list", arguments.list, "All rules, one a line");
  command->add_option("--jobs", arguments.jobs, "Threads; 0 = one a core")
      ->option_text("N")
      ->check(CLI::Range(0u, 64u));
  command->footer(
      "Examples:\n"
      "  capstan lint deploy/\n"
      "  capstan lint deploy/ --diff\n"
      "  kustomize build overlays/prod | capstan lint - -o sarif\n"
      "  capstan lint --kubeconfig ~/.kube/config --namespace inference\n"
      "  capstan lint --explain gpu-util-scaling-signal\n\n"
      "Exit code 2: it found something.");
  return command;
}

}  // namespace capstan::cli
