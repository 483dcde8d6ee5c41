#include <fmt/format.h>

#include "lint/mig_configs.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace mig_single_heterogeneous {
namespace {

void check(const Subject& s) {
  const MigStrategy configured = mig_strategy(s);
  const std::string_view strategy = configured.text;
  if (strategy == "mixed" || strategy == "none") return;
  const Value* last = nullptr;
  for_each_mig_entry(s, [&](const MigEntry& found) {
    if (found.entry["mig-devices"].count < 2 || last == &found.config) return;
    last = &found.config;
    Finding& finding = s.report_key(
        found.config, fmt::format("{} has slices of different profiles, but strategy {} does not offer these",
                                  found.config.key, strategy.empty() ? "single (the chart's default)" : strategy));
    if (strategy.empty()) finding.set_severity(Severity::info);  // another values file may state "mixed"
    if (configured.from != nullptr) s.require_object(finding, *configured.from);
  });
}

}  // namespace
}  // namespace mig_single_heterogeneous

extern const Rule rule_mig_single_heterogeneous;
const Rule rule_mig_single_heterogeneous = {
    .id = "mig-single-heterogeneous",
    .severity = Severity::error,
    .kinds = "ConfigMap",
    .title = "a node has slices of different profiles, but the MIG strategy is single",
    .why =
        "Strategy single requires one profile on all GPUs of a node. With several profiles the device plugin offers no "
        "GPU at all.",
    .fix = "set mig.strategy to mixed",
    .source = "NVIDIA k8s-device-plugin documentation; the chart of the GPU operator has single as its default",
    .bad = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: mig}
data:
  config.yaml: |
    version: v1
    mig-configs:
      mixed:
        - devices: all
          mig-enabled: true
          mig-devices: {"2g.20gb": 2, "1g.10gb": 3}
---
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: p}
spec: {mig: {strategy: single}}
)",
    .good = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: mig}
data:
  config.yaml: |
    version: v1
    mig-configs:
      mixed:
        - devices: all
          mig-enabled: true
          mig-devices: {"2g.20gb": 2, "1g.10gb": 3}
---
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: p}
spec: {mig: {strategy: mixed}}
)",
    .check = mig_single_heterogeneous::check,
};

}  // namespace capstan::lint
