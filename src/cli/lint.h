#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "kube/authored_objects.h"
#include "kube/session.h"
#include "lint/run.h"

namespace capstan::cli {

struct LintArguments {
  std::vector<std::string> paths;
  bool live = false;               ///< true: read a cluster instead of files
  kube::ClusterArguments cluster;  ///< the cluster to read if `live`
  std::vector<std::string> exclude;
  std::vector<std::string> rules;  ///< "rule=severity"
  std::string output = "text";
  /// Severity from which findings cause exit code 2; none: no finding does.
  std::optional<lint::Severity> fail_on = lint::Severity::warning;
  std::string kube_version;
  std::string config;          ///< path of the configuration; empty: .capstan-lint.yaml, if it exists
  std::string baseline;        ///< path of the findings to leave out; empty: none
  std::string write_baseline;  ///< path of the baseline to write; empty: none
  std::string explain;         ///< name of the rule to explain; empty: none
  bool allow_empty = false;    ///< input without any Kubernetes object is no error
  bool list = false;
  bool advice = false;
  bool is_complete_cluster = false;
  bool statistics = false;
  bool fix = false;           ///< make the fixes that keep the meaning of the files
  bool unsafe_fixes = false;  ///< also make the fixes that change what runs
  bool diff = false;          ///< only show the changes of the fixes
  bool lsp = false;           ///< serve an editor on standard input and output
  unsigned jobs = 0;          ///< threads; 0 = one per core
};
/// Returns the objects of a cluster as texts to lint. All of them count as one deployment.
std::vector<lint::Text> cluster_texts(std::vector<kube::AuthoredObject> objects);

/// Finds mistakes in manifests. Exit code 2 if a finding is at least as severe as `fail_on`, but 1 if an input cannot
/// be read.
ExitCode lint(const LintArguments& arguments);

}  // namespace capstan::cli
