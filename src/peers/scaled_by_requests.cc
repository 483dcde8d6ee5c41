#include "peers/scaled_by_requests.h"

#include <algorithm>

namespace capstan::peers {

std::optional<double> requests_in_flight(const ClusterView& view) {
  double total = 0;
  bool has_reading = view.gateway_waiting.has_value();
  if (has_reading) total += static_cast<double>(*view.gateway_waiting);
  for (const decide::scale::WorkloadView::Replica& replica : view.role.replicas) {
    for (const model::Signal* signal : {&replica.signals.running, &replica.signals.waiting}) {
      if (signal->state == model::Signal::State::missing) continue;
      total += static_cast<double>(signal->value);
      has_reading = true;
    }
  }
  return has_reading ? std::optional(total) : std::nullopt;
}

ReplicaCount bounded(ReplicaCount wanted, ReplicaCount min, ReplicaCount max) {
  if (max > 0) wanted = std::min(wanted, max);
  return std::max(wanted, min);
}

}  // namespace capstan::peers
