#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace mig_change_no_drain {
namespace {

void check_text(const Subject& s, const Value& value) {
  constexpr std::string_view kLabel = "nvidia.com/mig.config=";
  const std::size_t at = value.text.find(kLabel);
  if (at == value.text.npos || value.text.find("kubectl label") == value.text.npos) return;
  if (value.text.find("drain") != value.text.npos || value.text.find("cordon") != value.text.npos) return;
  Finding& finding = s.report_span(part_of(*s.object.file, value, at, kLabel.size() - 1),
                                   "the geometry changes without a drain, which ends running pods");
  // For a script in a ConfigMap the finding is advice: perhaps it runs on new nodes only, or by hand after a drain.
  if (s.object.kind == "ConfigMap") finding.set_severity(Severity::info);
}

void check(const Subject& s) {
  for (const Value& entry : s.object["data"].children()) check_text(s, entry);
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const std::string_view key : {"command", "args"}) {
        for (const Value& word : (*container)[key].children()) check_text(s, word);
      }
    }
  }
}

}  // namespace
}  // namespace mig_change_no_drain

extern const Rule rule_mig_change_no_drain;
const Rule rule_mig_change_no_drain = {
    .id = "mig-change-no-drain",
    .severity = Severity::warning,
    .kinds = "Job CronJob ConfigMap",
    .title = "the MIG geometry of a node changes while pods run",
    .why =
        "A new nvidia.com/mig.config ends every process on the GPU, and the requests of these processes fail. For a "
        "script in a ConfigMap the finding is advice, because it may run only on new nodes.",
    .fix = "run kubectl cordon and kubectl drain first",
    .source = "NVIDIA MIG manager documentation",
    .bad = R"(apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: a
          image: "kubectl:1"
          command: [sh, -c, "kubectl label node gpu-1 nvidia.com/mig.config=all-1g.10gb --overwrite"]
)",
    .good = R"(apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: a
          image: "kubectl:1"
          command:
            - sh
            - -c
            - kubectl drain gpu-1 && kubectl label node gpu-1 nvidia.com/mig.config=all-1g.10gb --overwrite
)",
    .check = mig_change_no_drain::check,
};

}  // namespace capstan::lint
