#include "model/catalog_change.h"

namespace capstan::model {

CatalogChange changes_between(const Catalog& before, const Catalog& after) {
  if (&before == &after) return {};
  return {
      .gpu_kinds = before.gpu_kinds != after.gpu_kinds,
      .domains = before.domains != after.domains || before.topologies != after.topologies,
      .offerings = before.offerings != after.offerings || before.instance_types != after.instance_types,
      .pools = before.pools != after.pools || before.limits != after.limits,
      .queues = before.queues != after.queues,
      .services = before.services != after.services,
      .eligibility = before.eligibility != after.eligibility || before.extended_resources != after.extended_resources,
  };
}

}  // namespace capstan::model
