#include "explain/words.h"

#include <fmt/format.h>

namespace capstan::explain {

std::string service_name(const model::Catalog& catalog, model::ServiceId id) {
  return id.value < catalog.services.size() ? catalog.services[id.value].name : fmt::format("service {}", id.value);
}

std::string offering_name(const model::Catalog& catalog, model::OfferingId id) {
  if (id.value >= catalog.offerings.size()) return fmt::format("offering {}", id.value);
  const model::Offering& offering = catalog.offerings[id.value];
  return fmt::format("{} in {}", offering.instance_type, domain_name(catalog, offering.zone));
}

std::string domain_name(const model::Catalog& catalog, model::DomainId id) {
  if (!id.valid()) return "anywhere";
  return id.value < catalog.domains.size() ? catalog.domains[id.value].name : fmt::format("domain {}", id.value);
}

std::string gpu_name(const model::Catalog& catalog, model::GpuKindId id) {
  return id.value < catalog.gpu_kinds.size() ? catalog.gpu_kinds[id.value] : fmt::format("GPU kind {}", id.value);
}

std::string subject_name(const model::Catalog& catalog, const model::Plan::Kept& kept) {
  switch (kept.subject) {
    case model::Plan::Kept::Subject::service:
      return service_name(catalog, {kept.id});
    case model::Plan::Kept::Subject::gang:
      return fmt::format("gang {}", kept.id);
    case model::Plan::Kept::Subject::node:
      return fmt::format("node {}", kept.id);
    case model::Plan::Kept::Subject::pool:
      return kept.id < catalog.pools.size() ? catalog.pools[kept.id].name : fmt::format("pool {}", kept.id);
  }
  return {};
}

std::string gpus_text(MilliGpu gpus) {
  if (gpus.count % 1000 == 0) return fmt::format("{}", gpus.count / 1000);
  std::string text = fmt::format("{}.{:03}", gpus.count / 1000, gpus.count % 1000);
  while (text.back() == '0') text.pop_back();
  return text;
}

}  // namespace capstan::explain
