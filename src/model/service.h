#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/bounds_window.h"
#include "model/ids.h"
#include "model/slo.h"
#include "model/topology.h"
#include "model/workload.h"

namespace capstan::model {

/// Bounds on the ratio of prefill and decode replicas of a service.
struct RoleLimits {
  static constexpr std::int64_t kMaxRatioMilli = 1'000'000;
  static constexpr Duration kMaxConversion = std::chrono::hours(24);
  std::int64_t decode_per_prefill_least_milli = 0;  ///< lowest ratio, thousandths; 0: no bound
  std::int64_t decode_per_prefill_most_milli = 0;   ///< highest ratio, thousandths; 0: no bound
  Duration conversion{};  ///< time to change a role after the running requests are finished; 0: impossible
  friend bool operator==(const RoleLimits&, const RoleLimits&) = default;
};

/// Replicas of one model behind one endpoint that are scaled together as one workload. If the endpoint has separate
/// prefill and decode replicas or several variants, each role and each variant is a service of its own. Bounds are
/// numbers of replicas.
struct Service {
  std::string name;
  Slo slo;
  Workload workload{};
  ReplicaCount min_replicas = 1;
  ReplicaCount max_replicas = 1;
  std::vector<BoundsWindow> windows{};  ///< tighter bounds at certain times
  /// The service must survive the loss of any one domain of this level (`node`, `rack` or `zone`): enough replicas must
  /// remain to hold the SLO.
  std::optional<TopologyLevel> survives{};
  ServiceId prefill_service{};  ///< prefill service of a decode service; none for other roles
  RoleLimits role_limits{};     ///< equal on a decode service and its prefill service
  /// The other variants with the same endpoint and role. Each is a service of its own, and a decision about this
  /// service sets the replicas of all of them. The list of each other variant is empty.
  std::vector<ServiceId> alternatives{};
  static constexpr std::size_t kMaxAlternatives = 7;
  friend bool operator==(const Service&, const Service&) = default;
};

}  // namespace capstan::model
