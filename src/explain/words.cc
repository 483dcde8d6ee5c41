#include "explain/words.h"

#include <fmt/format.h>

namespace capstan::explain {
namespace {

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

/// Returns `value / unit` as a decimal without trailing zeros. `unit` is 10 to the power of `places`.
std::string with_digits(std::string_view sign, std::uint64_t value, std::uint64_t unit, int places) {
  std::string text = fmt::format("{}{}", sign, value / unit);
  if (value % unit == 0) return text;
  text += fmt::format(".{:0{}}", value % unit, places);
  while (text.back() == '0') text.pop_back();
  return text;
}

}  // namespace

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

std::string pool_name(const model::Catalog& catalog, model::PoolId id) {
  return id.value < catalog.pools.size() ? catalog.pools[id.value].name : fmt::format("pool {}", id.value);
}

std::string queue_name(const model::Catalog& catalog, model::QueueId id) {
  return id.value < catalog.queues.size() ? catalog.queues[id.value].name : fmt::format("queue {}", id.value);
}

std::string subject_name(const model::Catalog& catalog, const model::Plan::NoAction& kept) {
  switch (kept.subject) {
    case model::Plan::NoAction::Subject::service:
      return service_name(catalog, {kept.id});
    case model::Plan::NoAction::Subject::gang:
      return fmt::format("gang {}", kept.id);
    case model::Plan::NoAction::Subject::node:
      return fmt::format("node {}", kept.id);
    case model::Plan::NoAction::Subject::pool:
      return pool_name(catalog, {kept.id});
  }
  return {};
}

std::string gang_name(const model::Names* names, model::GangId id) {
  const std::string* known = names == nullptr ? nullptr : names->gangs.find(id);
  return known != nullptr ? *known : fmt::format("gang {}", id.value);
}

std::string gpus_text(MilliGpu gpus) { return with_digits(gpus.count < 0 ? "-" : "", magnitude(gpus.count), 1'000, 3); }

std::string price_text(MicroUsd per_hour) { return usd_text(per_hour) + "/h"; }

std::string replicas_text(std::int64_t count) { return count_text(count, "replica", "replicas"); }

}  // namespace capstan::explain
