#include "plan/pods/pause_container.h"

#include "plan/objects/names.h"

namespace capstan::plan {

Yaml equal_resources(std::initializer_list<Yaml::Entry> values) {
  return Yaml::map({{"requests", Yaml::map(values)}, {"limits", Yaml::map(values)}});
}

Yaml pause_container() {
  Yaml container = Yaml::map({{"name", "pause"}, {"image", "registry.k8s.io/pause:3.10"}});
  container["resources"] = equal_resources({{"cpu", "10m"}, {"memory", "16Mi"}});
  return container;
}

Yaml node_affinity(const std::vector<std::string>& pools) {
  Yaml expression = Yaml::map({{"key", kPoolLabel}, {"operator", "In"}, {"values", Yaml::list(pools)}});
  Yaml term;
  term.set("matchExpressions", Yaml::list({std::move(expression)}));
  Yaml terms;
  terms.set("nodeSelectorTerms", Yaml::list({std::move(term)}));
  return terms;
}

}  // namespace capstan::plan
