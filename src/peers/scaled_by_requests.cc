#include "peers/scaled_by_requests.h"

#include <algorithm>

namespace capstan::peers {

std::optional<double> requests_in_flight(const Sight& sight) {
  double total = 0;
  bool said = sight.gateway_waiting.has_value();
  if (said) total += static_cast<double>(*sight.gateway_waiting);
  for (const decide::scale::RoleView::Replica& replica : sight.role.replicas) {
    for (const model::Signal* signal : {&replica.signals.running, &replica.signals.waiting}) {
      if (signal->state == model::Signal::State::missing) continue;
      total += static_cast<double>(signal->value);
      said = true;
    }
  }
  return said ? std::optional(total) : std::nullopt;
}

ReplicaCount bounded(ReplicaCount wanted, ReplicaCount min, ReplicaCount max) {
  if (max > 0) wanted = std::min(wanted, max);
  return std::max(wanted, min);
}

}  // namespace capstan::peers
