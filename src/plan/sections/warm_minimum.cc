#include "plan/sections/warm_minimum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explain/words.h"

namespace capstan::plan {

std::optional<WarmMinimum> warm_minimum(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role) {
  const LoadSpec& load = service.load;
  if (load.source != LoadSpec::Source::generated || load.requests_per_s <= 0) return std::nullopt;
  const MeanRequest request = mean_request(service, fleet);
  const double capacity = std::max(replica_capacity(service, role, request).requests_per_s, 1e-9);
  const auto in_s = [](Duration time) { return std::chrono::duration<double>(time).count(); };
  const double burst = load.requests_per_s * std::max(load.burst_factor, 1.0);
  const Duration lead = cold_start_sum(fleet.start).typical + kDetection;
  const double lead_s = load.burst_length > Duration{} ? std::min(in_s(lead), in_s(load.burst_length)) : in_s(lead);
  const double late_share = 1 - static_cast<double>(service.slo.attainment_ppm) / 1e6;
  const double requests_per_cycle = in_s(load.burst_every) * load.requests_per_s +
                                    in_s(std::min(load.burst_length, load.burst_every)) * (burst - load.requests_per_s);
  const double allowed = late_share * requests_per_cycle;
  const double ttft_s = in_s(service.slo.ttft);
  // n x capacity x (lead + TTFT) >= burst x lead - allowed
  const double by_burst = (burst * lead_s - allowed) / (capacity * (lead_s + ttft_s));
  const double by_load = load.requests_per_s / capacity;
  WarmMinimum minimum{
      .replicas = std::max<ReplicaCount>(static_cast<ReplicaCount>(std::ceil(std::max(by_burst, by_load) - 1e-9)), 1)};
  minimum.why = fmt::format(
      "(burst of {:.2f} requests/s x {:.0f} s until new replicas serve - {:.1f} that may be late) / ({:.2f} requests/s "
      "of a replica x ({:.0f} s + {:.1f} s TTFT)) = {:.2f}, and outside bursts {:.2f} / {:.2f} = {:.2f}; the lead time "
      "is {} of cold start and {} until the scaler sees the burst{}",
      burst, lead_s, allowed, capacity, lead_s, ttft_s, by_burst, load.requests_per_s, capacity, by_load,
      explain::time_text(cold_start_sum(fleet.start).typical), explain::time_text(kDetection),
      lead_s < in_s(lead) ? ", at most the length of a burst" : "");
  return minimum;
}

}  // namespace capstan::plan
