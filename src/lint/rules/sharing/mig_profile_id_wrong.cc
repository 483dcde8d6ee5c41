#include "lint/rule.h"

namespace capstan::lint {

extern const Rule rule_mig_profile_id_wrong;
const Rule rule_mig_profile_id_wrong = {
    .id = "mig-profile-id-wrong",
    .severity = Severity::error,
    .kinds = "",
    .title = "MIG instances are created by numbers of other profiles",
    .why =
        "The numbers stand for profiles and differ between products: 9 is 3g, of which a GPU takes two. The command "
        "fails after the first instances, and the GPU stays partly divided.",
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
