#include "lint/consequences.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace capstan::lint {
namespace {

/// A name, and a rule that finds a defect where the name is missing.
struct Consequence {
  std::string_view name, rule;
};
constexpr Consequence kConsequences[] = {{"resources", "engine-without-gpu"},
                                         {"resources", "hpa-cpu-request-missing"},
                                         {"limits", "engine-without-gpu"},
                                         {"limits", "gpu-request-without-limit"},
                                         {"requests", "hpa-cpu-request-missing"},
                                         {"readinessProbe", "missing-readiness-probe"},
                                         {"startupProbe", "missing-startup-probe"},
                                         {"terminationGracePeriodSeconds", "grace-period-too-short"},
                                         {"terminationGracePeriodSeconds", "prestop-too-short"},
                                         {"tolerations", "missing-gpu-toleration"},
                                         {"tolerations", "taint-toleration-mismatch"},
                                         {"behavior", "hpa-missing-scaledown-behavior"},
                                         {"scaleDown", "hpa-missing-scaledown-behavior"},
                                         {"minReplicas", "single-replica-floor"},
                                         {"--tensor-parallel-size", "tp-gpu-mismatch"},
                                         {"--tensor-parallel-size", "model-exceeds-gpu-memory"},
                                         {"--pipeline-parallel-size", "tp-gpu-mismatch"},
                                         {"--pipeline-parallel-size", "model-exceeds-gpu-memory"},
                                         {"--data-parallel-size", "tp-gpu-mismatch"},
                                         {"--shutdown-timeout", "vllm-no-drain-flag"}};

}  // namespace

void remove_consequences(std::vector<Finding>& findings) {
  std::vector<std::string> meant;
  for (const Finding& finding : findings) {
    if (!finding.meant_name.empty()) meant.push_back(finding.meant_name);
  }
  if (meant.empty()) return;
  std::erase_if(findings, [&](const Finding& finding) {
    return std::ranges::any_of(kConsequences, [&](const Consequence& row) {
      return row.rule == finding.rule->id && std::ranges::find(meant, row.name) != meant.end();
    });
  });
}

}  // namespace capstan::lint
