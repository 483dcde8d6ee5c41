#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "base/time.h"
#include "decide/index.h"
#include "model/gang.h"
#include "model/ids.h"
#include "model/plan.h"
#include "model/snapshot.h"

namespace capstan::decide::scale {

/// One line of `behavior.scaleUp.policies` / `behavior.scaleDown.policies`.
struct HpaRatePolicy {
  enum class Kind : std::uint8_t { pods, percent };
  Kind kind = Kind::pods;
  std::int64_t value = 4;  ///< replicas, or percent of the replicas at the start of the period
  Duration period = std::chrono::seconds(15);
  friend bool operator==(const HpaRatePolicy&, const HpaRatePolicy&) = default;
};

/// One direction of `behavior`.
struct HpaRules {
  enum class Select : std::uint8_t { max, min, disabled };
  Duration stabilization{};
  Select select = Select::max;
  std::vector<HpaRatePolicy> policies;
  friend bool operator==(const HpaRules&, const HpaRules&) = default;
};

/// `spec.behavior` of an autoscaling/v2 HPA. The defaults are those Kubernetes fills in when any of it is given.
struct HpaBehavior {
  HpaRules up{.stabilization = {},
              .select = HpaRules::Select::max,
              .policies = {{HpaRatePolicy::Kind::pods, 4, std::chrono::seconds(15)},
                           {HpaRatePolicy::Kind::percent, 100, std::chrono::seconds(15)}}};
  HpaRules down{.stabilization = std::chrono::minutes(5),
                .select = HpaRules::Select::max,
                .policies = {{HpaRatePolicy::Kind::percent, 100, std::chrono::seconds(15)}}};
  friend bool operator==(const HpaBehavior&, const HpaBehavior&) = default;
};

/// What every HPA shares. Source: kubernetes pkg/controller/podautoscaler and its flags.
struct HpaSettings {
  Duration sync_period = std::chrono::seconds(15);
  std::int64_t tolerance_up_per_mille = 100;  ///< 100 = 10 %; the bounds are inclusive
  std::int64_t tolerance_down_per_mille = 100;
  /// `spec.behavior`. Absent is not the same as the defaults above: without it, going up is limited to
  /// max(2 x current, 4) a sync, and going down to the highest answer of the last `downscale_stabilization`.
  std::optional<HpaBehavior> behavior;
  Duration downscale_stabilization = std::chrono::minutes(5);
  /// Capstan's own rule, no HPA's: while a serving replica gives no usable reading, nothing is lowered, neither what
  /// there is nor what was recommended last.
  bool silence_holds = false;
  friend bool operator==(const HpaSettings&, const HpaSettings&) = default;
};

/// HPA on DCGM_FI_DEV_GPU_UTIL as a Pods metric: the share of time in which any kernel ran. The baseline nearly
/// everybody starts with; it reads 100 % at ten requests and at a hundred.
struct DutyCycleHpa {
  std::int64_t target_percent = 80;  ///< 1..100, mean over replicas
  HpaSettings hpa;
  friend bool operator==(const DutyCycleHpa&, const DutyCycleHpa&) = default;
};

/// HPA on DCGM_FI_DEV_FB_USED over total: KV preallocation keeps it near the engine's memory setting for ever.
struct MemoryHpa {
  std::int64_t target_percent = 80;  ///< 1..100, mean over replicas
  HpaSettings hpa;
  friend bool operator==(const MemoryHpa&, const MemoryHpa&) = default;
};

/// HPA on `vllm:num_requests_waiting`, a Pods metric with an AverageValue; with `running_per_replica` also on
/// `vllm:num_requests_running`, the higher answer of the two wins, as HPA combines metrics.
struct QueueHpa {
  RequestCount waiting_per_replica = 4;             ///< mean over replicas; at least 1
  std::optional<RequestCount> running_per_replica;  ///< mean over replicas; at least 1
  HpaSettings hpa;
  friend bool operator==(const QueueHpa&, const QueueHpa&) = default;
};

/// As many as stated, whatever the load; inside the service's bounds.
struct Fixed {
  ReplicaCount replicas = 1;
  Duration period = std::chrono::seconds(15);
  friend bool operator==(const Fixed&, const Fixed&) = default;
};

using Policy = std::variant<Fixed, DutyCycleHpa, QueueHpa, MemoryHpa>;

/// How often the policy wants to be asked. The caller keeps the beat; `decide` always answers.
Duration period(const Policy& policy);

/// What earlier decisions about one service leave behind. Bounded: an entry leaves once no window can see it.
struct Memory {
  struct Answer {
    Instant at;
    ReplicaCount replicas = 0;  ///< before stabilization
    friend bool operator==(const Answer&, const Answer&) = default;
  };
  struct Change {
    Instant at;
    ReplicaCount replicas = 0;  ///< how many were added (up) or removed (down)
    friend bool operator==(const Change&, const Change&) = default;
  };
  bool seen = false;             ///< the first sight records the current replicas as an answer
  ReplicaCount recommended = 0;  ///< what the last decision came to
  ReplicaCount floor = 0;        ///< no fewer than this, and nothing is lowered, until a person says so; 0: none
  std::vector<Answer> answers;
  std::vector<Change> ups;
  std::vector<Change> downs;
  friend bool operator==(const Memory&, const Memory&) = default;
};
/// One line of text that `parse_memory` turns back into an equal value.
std::string to_text(const Memory& memory);
Result<Memory> parse_memory(std::string_view text);

/// One workload object as a scaler sees it: the first variant of a service (a further variant is another object).
/// For a gang of several pods a replica is what HPA sees of a LeaderWorkerSet: one pod, the leader.
struct RoleView {
  struct Replica {
    model::GangId id;
    model::Gang::Phase phase = model::Gang::Phase::pending;
    Instant created_at;
    model::ReplicaSignals signals;
  };
  model::ServiceId service;
  model::VariantId variant{0};
  ReplicaCount current = 0;  ///< spec.replicas
  ReplicaCount min = 0;
  ReplicaCount max = 0;
  std::vector<Replica> replicas;  ///< by id, draining ones included
};
RoleView view(const model::Snapshot& snapshot, const Index& index, model::ServiceId service);

/// What one metric said. The arithmetic is kept, so that explaining it computes nothing again.
struct MetricReading {
  enum class Kind : std::uint8_t { duty_cycle, memory, waiting, running };
  Kind kind = Kind::waiting;
  bool valid = false;           ///< false: no replica gave a reading; HPA then answers with an error
  std::int64_t total = 0;       ///< sum over the replicas that were read
  std::int64_t mean_milli = 0;  ///< thousandths, truncated as HPA truncates
  std::int64_t target = 0;
  std::int64_t ratio_per_mille = 0;         ///< mean over target, rounded down, for people
  std::int64_t filled_ratio_per_mille = 0;  ///< after missing and unready replicas were filled in
  ReplicaCount read = 0;                    ///< gave a reading and counts as ready
  ReplicaCount unready = 0;                 ///< pods that are not bound yet
  ReplicaCount missing = 0;                 ///< gave no reading
  bool within_tolerance = false;
  ReplicaCount wanted = 0;  ///< by this metric alone
};

struct Decision {
  model::ServiceId service;
  model::VariantId variant;
  ReplicaCount current = 0;
  ReplicaCount counted = 0;  ///< replicas that exist and do not drain, or are asked for: whichever is more
  std::vector<MetricReading> readings;
  ReplicaCount wanted = 0;           ///< highest of the readings, before any window or limit
  ReplicaCount held_to = 0;          ///< after stabilization
  ReplicaCount desired = 0;          ///< after rate limits and bounds
  std::vector<model::GangId> drain;  ///< when fewer are wanted than exist, least to lose first
  model::Reason why;
  model::Plan plan;  ///< one SetReplicas, or one kept reason
};

/// How many replicas the service should have.
///
/// The HPA policies follow Kubernetes' arithmetic to the last digit, its defects included: a replica that starts but
/// already exports a metric dilutes the mean, those that are pending are no divisor on the way down, a stale value is
/// as good as a new one, and capacity on its way is only known through spec.replicas.
///
/// @param memory updated in place with this answer and, when it differs from the current replicas, with the change
/// @return desired in [min, max] of the service, except where HPA leaves a workload at 0 alone
Decision decide(const RoleView& role, const Policy& policy, Memory& memory, Instant now);

/// Which of the replicas go when `keep` of those that do not drain stay: pending first, then starting, then ready with
/// the fewest requests running and waiting; the youngest first among equals.
std::vector<model::GangId> victims(const RoleView& role, ReplicaCount keep);

}  // namespace capstan::decide::scale
