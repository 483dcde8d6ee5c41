#include "lint/rule.h"

namespace capstan::lint {

extern const Rule rule_mig_profile_id_wrong;
const Rule rule_mig_profile_id_wrong = {
    .id = "mig-profile-id-wrong",
    .severity = Severity::error,
    .kinds = "",
    .title = "MIG instances are created with the number of a wrong profile",
    .why =
        "Each number stands for a profile and differs between products. For example, 9 is 3g, and a GPU has room for "
        "only two of them. The command fails after the first instances, and the GPU stays partly divided.",
    .fix = "use names instead of numbers: nvidia-smi mig -cgi 1g.5gb,1g.5gb -C",
    .source = "nvidia-smi mig -lgip",
    .bad = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: scripts}
data:
  mig.sh: |
    nvidia-smi mig -cgi 9,9,9,9,9,9,9 -C
)",
    .good = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: scripts}
data:
  mig.sh: |
    nvidia-smi mig -cgi 1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb -C
)",
    .check = nullptr,
};

}  // namespace capstan::lint
