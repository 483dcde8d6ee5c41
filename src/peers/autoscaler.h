#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "decide/scale/scale.h"
#include "promql/series.h"

/// Other projects' autoscalers as they run next to a workload, with their own settings, clocks and state. Their
/// arithmetic is in peers/formula; this folder connects it with metrics and replicas.
namespace capstan::peers {

/// Start of every simulation on the clock of the series: 14 November 2023, 22:13:20 UTC.
inline constexpr std::int64_t kSeriesStartMs = 1'700'000'000'000;
std::int64_t series_ms(Instant at);

/// Input of a peer's decision.
struct ClusterView {
  const decide::scale::WorkloadView& role;      ///< pods and their last readings
  std::optional<RequestCount> gateway_waiting;  ///< requests that the gateway holds
  const promql::SeriesStore& series;            ///< contents of a Prometheus server at this time
};

/// A peer's answer, with its reason in one sentence without a full stop.
struct Recommendation {
  ReplicaCount replicas = 0;
  std::string why;
};

class Autoscaler {
 public:
  virtual ~Autoscaler() = default;
  /// Returns the interval between calls of `recommend`. The peer may decide less often.
  virtual Duration period() const = 0;
  virtual Recommendation recommend(const ClusterView& view, Instant now) = 0;
  /// Returns hints for the author of the configuration, such as a query that never found a series. Call it after the
  /// run.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// Returns the name of a replica's pod in the series.
std::string pod_name(model::GangId gang);

/// Returns the number of replicas that do not drain (status.replicas).
ReplicaCount existing_replicas(const decide::scale::WorkloadView& role);
ReplicaCount ready_replicas(const decide::scale::WorkloadView& role);

}  // namespace capstan::peers
