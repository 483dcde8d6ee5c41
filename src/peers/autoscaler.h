#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "decide/scale/scale.h"
#include "promql/series.h"

/// The autoscalers of others as they run beside a workload: with their own settings, clocks and state. Their arithmetic
/// is in decide/scale/peers; here it meets metrics and replicas.
namespace capstan::peers {

/// The moment that simulations begin with, on the clock of the series: 14 November 2023, 22:13:20 UTC.
inline constexpr std::int64_t kSeriesStartMs = 1'700'000'000'000;
std::int64_t series_ms(Instant at);

/// What a peer may look at.
struct Sight {
  const decide::scale::RoleView& role;          ///< pods and their last readings
  std::optional<RequestCount> gateway_waiting;  ///< requests that the gateway holds back
  const promql::SeriesStore& series;            ///< what a Prometheus server holds by now
};

/// What a peer asks for, and why in one sentence without a full stop.
struct Wish {
  ReplicaCount replicas = 0;
  std::string why;
};

class Autoscaler {
 public:
  virtual ~Autoscaler() = default;
  virtual Duration period() const = 0;  ///< between two looks; may be shorter than between two decisions
  virtual Wish look(const Sight& sight, Instant now) = 0;
  /// What somebody should know who set it up so, such as a query that never found a series. After the run.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// The pod of a replica, as the series name it.
std::string pod_name(model::GangId gang);

// Counts that every peer needs.
ReplicaCount existing(const decide::scale::RoleView& role);  ///< that do not drain: status.replicas
ReplicaCount ready(const decide::scale::RoleView& role);

}  // namespace capstan::peers
