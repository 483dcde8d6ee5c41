#include "lint/mig_configs.h"

namespace capstan::lint {

void for_each_mig_file(const Subject& s, const std::function<void(const Value& root)>& visit) {
  for (const Embedded& file : embedded_with(*s.object.file, s.object["data"], "mig-configs")) {
    if (file.root()["mig-configs"].is_mapping()) visit(file.root());
  }
}

void for_each_mig_entry(const Subject& s, const std::function<void(const MigEntry&)>& visit) {
  for_each_mig_file(s, [&](const Value& root) {
    for (const Value& config : root["mig-configs"].children()) {
      for (const Value& entry : config.children()) visit({config, entry});
    }
  });
}

MigStrategy mig_strategy(const Subject& s) {
  for (const Object* policy : s.set.in_folder("ClusterPolicy", s.object)) {
    if (const Value& strategy = at(*policy, "spec.mig.strategy")) return {strategy.text, policy};
  }
  for (const Object* values : s.set.in_folder("GpuOperatorValues", s.object)) {
    if (const Value& strategy = at(*values, "mig.strategy")) return {strategy.text, values};
  }
  return {};
}

}  // namespace capstan::lint
