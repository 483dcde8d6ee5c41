#include "explain/words.h"

#include <fmt/format.h>

namespace capstan::explain {
namespace {

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

/// Returns `value / unit` with as many of its `places` decimals as it has. `unit` is 10 to the power of `places`.
std::string with_digits(std::string_view sign, std::uint64_t value, std::uint64_t unit, int places) {
  std::string text = fmt::format("{}{}", sign, value / unit);
  if (value % unit == 0) return text;
  text += fmt::format(".{:0{}}", value % unit, places);
  while (text.back() == '0') text.pop_back();
  return text;
}

/// Returns `value / unit` rounded to one decimal, or to the first digit that is not zero where it is below a tenth.
std::string rounded(std::string_view sign, std::uint64_t value, std::uint64_t unit, int places) {
  std::uint64_t step = unit / 10;
  while (step > 1 && value > 0 && value < step) step /= 10;
  if (value >= 100 * unit) step = unit;
  return with_digits(sign, (value + step / 2) / step * step, unit, places);
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

std::string subject_name(const model::Catalog& catalog, const model::Plan::Kept& kept) {
  switch (kept.subject) {
    case model::Plan::Kept::Subject::service:
      return service_name(catalog, {kept.id});
    case model::Plan::Kept::Subject::gang:
      return fmt::format("gang {}", kept.id);
    case model::Plan::Kept::Subject::node:
      return fmt::format("node {}", kept.id);
    case model::Plan::Kept::Subject::pool:
      return pool_name(catalog, {kept.id});
  }
  return {};
}

std::string gpus_text(MilliGpu gpus) { return with_digits(gpus.count < 0 ? "-" : "", magnitude(gpus.count), 1'000, 3); }

std::string decimal_text(std::int64_t thousandths) {
  return rounded(thousandths < 0 ? "-" : "", magnitude(thousandths), 1'000, 3);
}

std::string percent_text(std::int64_t millionths) {
  return rounded(millionths < 0 ? "-" : "", magnitude(millionths), 10'000, 4) + " %";
}

std::string price_text(MicroUsd per_hour) {
  const std::uint64_t cents = (magnitude(per_hour.count) + 5'000) / 10'000;
  return fmt::format("{}{}.{:02} USD/h", per_hour.count < 0 ? "-" : "", cents / 100, cents % 100);
}

std::string time_text(Duration duration) {
  const std::string sign = duration < Duration{} ? "-" : "";
  const std::uint64_t ns = magnitude(duration.count());
  if (ns == 0) return "0 s";
  if (ns < 1'000'000'000) return rounded(sign, ns, 1'000'000, 6) + " ms";
  if (ns < 10'000'000'000) return rounded(sign, ns, 1'000'000'000, 9) + " s";
  const std::uint64_t seconds = ns / 1'000'000'000;
  const auto two_units = [&](std::uint64_t unit, std::string_view name, std::uint64_t part,
                             std::string_view part_name) {
    const std::uint64_t rest = seconds % unit / part;
    std::string text = fmt::format("{}{} {}", sign, seconds / unit, name);
    if (rest > 0) text += fmt::format(" {} {}", rest, part_name);
    return text;
  };
  if (seconds < 60) return fmt::format("{}{} s", sign, seconds);
  if (seconds < 3'600) return two_units(60, "min", 1, "s");
  if (seconds < 86'400) return two_units(3'600, "h", 60, "min");
  return two_units(86'400, "d", 3'600, "h");
}

std::string count_text(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string replicas_text(std::int64_t count) { return count_text(count, "replica", "replicas"); }

}  // namespace capstan::explain
