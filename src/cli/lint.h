#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/session.h"

namespace capstan::cli {

struct LintArguments {
  std::vector<std::string> paths;
  bool live = false;         ///< a cluster, and no files
  ClusterArguments cluster;  ///< which
  std::vector<std::string> exclude;
  std::vector<std::string> rules;  ///< "rule=severity"
  std::string output = "text";
  std::string fail_on = "warning";
  std::string kube_version;
  std::string config;          ///< else .capstan-lint.yaml, where there is one
  std::string baseline;        ///< what is known already
  std::string write_baseline;  ///< make one
  std::string explain;         ///< a rule
  bool list = false;
  bool advice = false;
  bool closed_world = false;
  bool statistics = false;
  bool fix = false;           ///< make the fixes that keep the meaning
  bool unsafe_fixes = false;  ///< and all others
  bool diff = false;          ///< only show what they would change
  bool lsp = false;           ///< speak with an editor on standard input and output
  unsigned jobs = 0;
};
/// Looks for mistakes in manifests. Exit 2 when it found some.
ExitCode lint(const LintArguments& arguments);

}  // namespace capstan::cli
