#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "base/time.h"
#include "decide/fleet_nouns.h"
#include "decide/scale/capstan/memory.h"
#include "decide/scale/capstan/settings.h"
#include "decide/scale/capstan/sizing.h"
#include "decide/scale/fixed.h"
#include "decide/scale/hpa_settings.h"
#include "decide/scale/rules/settings.h"
#include "decide/scale/spread.h"
#include "decide/scale/supply.h"
#include "engine/table.h"
#include "model/gang.h"
#include "model/ids.h"
#include "model/plan.h"
#include "model/replica_signals.h"
#include "model/signal.h"
#include "model/slo.h"
#include "model/snapshot.h"

namespace capstan::decide::scale {

/// The policies of the scale layer, each as its settings. To add one: define its settings, add the type here, and
/// implement the three functions of decide/scale/by_policy.h.
using Policy = std::variant<Fixed, DutyCycleHpa, QueueHpa, MemoryHpa, Capstan, Rules>;

/// Returns the interval at which the policy is to be evaluated. The caller keeps the schedule; `decide` always answers.
Duration period(const Policy& policy);

/// Returns the signals that the policy needs of each replica. A replica without one of them counts as silent.
/// Capstan's own policies then hold or raise the replica count; an HPA does so only if `blocks_scale_down_if_silent`
/// is set.
std::vector<model::SignalField> needed_signals(const Policy& policy);

/// State that one decision about a service passes to the next. Its size is bounded, because an entry that is older than
/// every window is overwritten by a new one.
struct Memory {
  struct Recommendation {
    Instant at;
    ReplicaCount replicas = 0;  ///< count before stabilization
    friend bool operator==(const Recommendation&, const Recommendation&) = default;
  };
  struct Change {
    Instant at;
    ReplicaCount replicas = 0;  ///< replicas added (in `ups`) or removed (in `downs`)
    friend bool operator==(const Change&, const Change&) = default;
  };
  bool has_decided = false;      ///< false until the first decision, which records the current replicas
  ReplicaCount recommended = 0;  ///< desired replicas of the last decision
  /// Floor after an SLO breach, until a person acknowledges the breach or removes the SLO rule. While it is set, no
  /// replica is removed, not even above the floor. 0: no floor.
  ReplicaCount floor = 0;
  std::vector<Recommendation> recommendations;
  std::vector<Change> ups;
  std::vector<Change> downs;
  std::optional<CapstanMemory> capstan{};  ///< present only under the policies `Capstan` and `Rules`
  friend bool operator==(const Memory&, const Memory&) = default;
};
/// Returns one line of text that `parse_memory` turns back into an equal value.
std::string to_text(const Memory& memory);
Result<Memory> parse_memory(std::string_view text);

/// One workload object as an autoscaler sees it: one variant of a service. A further variant is another object. A
/// replica that is a gang of several pods counts as one, as HPA counts a LeaderWorkerSet by its leader.
struct WorkloadView {
  struct Replica {
    model::GangId id;
    model::Gang::Phase phase = model::Gang::Phase::pending;
    Instant created_at;
    model::ReplicaSignals signals;
    Instant expected_ready_at = Instant::never();  ///< time at which a starting replica should be ready
    bool resumed = false;             ///< true after a role conversion or a wake: its start was no cold start
    std::uint32_t variant = 0;        ///< index of its variant if the list has the replicas of a mix
    FailureDomain domain = kNowhere;  ///< failure domain in which it runs; set only with a `spread`
  };
  model::ServiceId service;
  ReplicaCount current = 0;  ///< spec.replicas
  ReplicaCount min = 0;
  ReplicaCount max = 0;
  /// All scheduled bounds; `min` and `max` are those in force now.
  const std::vector<model::BoundsWindow>* windows = nullptr;
  std::vector<Replica> replicas;  ///< replicas ordered by id, draining ones included
  model::Slo slo{};
  model::Role role = model::Role::both;
  std::vector<Replica> prefill_replicas{};    ///< prefill replicas of a decode role, ordered by id
  model::Signal gateway_waiting{};            ///< requests in the gateway that no replica has accepted
  const engine::EngineRow* engine = nullptr;  ///< row of the bundled table; null: it has none for this workload
  model::StepLimits step_limits{};
  Duration conversion{};           ///< time a replica takes to change its role; 0: roles are fixed
  std::optional<Spread> spread{};  ///< set if the service must survive the loss of a failure domain
  // The fields below are set only in a mix of variants.
  Supply supply{};
  std::vector<WorkloadView> alternatives{};  ///< the other variants behind the same endpoint, in catalog order
};
WorkloadView view(const model::Snapshot& snapshot, const Index& index, model::ServiceId service);

/// Returns, for each service, the service whose decision covers it: for most services, the service itself. Alternatives
/// of one another are decided together if Capstan's own policy is in force for both.
/// @param policy_of  returns the policy in force of a service
std::vector<model::ServiceId> deciders(const model::Snapshot& snapshot,
                                       const std::function<const Policy&(model::ServiceId)>& policy_of);

/// Inputs of `view_of_mix` beyond the snapshot.
struct MixSource {
  std::span<const model::ServiceId> deciders;  ///< result of `deciders`, by service
  std::span<const Memory> memories;            ///< memories by service; the SLO floor of a variant raises its minimum
  /// Memory of the provision layer; null: it is unknown which nodes can be bought.
  const provision::Memory* provision_memory = nullptr;
};
/// Returns the view of a service with its alternatives that are decided together with it, and the supply of each
/// variant.
WorkloadView view_of_mix(const model::Snapshot& snapshot, const Index& index, model::ServiceId service,
                         const MixSource& source, Instant now);

/// The reading of one metric with its arithmetic, so that an explanation computes nothing a second time.
struct MetricReading {
  enum class Kind : std::uint8_t {
    duty_cycle,  ///< percent
    memory,      ///< percent
    waiting,     ///< requests
    running,     ///< requests
    kv,          ///< millionths of the KV memory
    ttft,        ///< microseconds
    tpot,        ///< microseconds
    goodput,     ///< tokens from replicas that hold the SLO, millionths of all tokens
  };
  Kind kind = Kind::waiting;
  bool valid = false;           ///< false: no replica gave a reading, which HPA treats as an error
  std::int64_t total = 0;       ///< sum over the replicas with a reading
  std::int64_t mean_milli = 0;  ///< mean in thousandths, truncated as HPA truncates
  std::int64_t target = 0;
  std::int64_t ratio_per_mille = 0;  ///< mean divided by target, rounded down, for display
  /// The same ratio after values were assumed for missing and unready replicas.
  std::int64_t filled_ratio_per_mille = 0;
  ReplicaCount read = 0;     ///< replicas with a reading
  ReplicaCount unready = 0;  ///< replicas that are not bound yet
  ReplicaCount missing = 0;  ///< replicas without a reading
  bool within_tolerance = false;
  ReplicaCount proposed = 0;  ///< replicas that this metric alone asks for
};

struct Decision {
  model::ServiceId service;
  ReplicaCount current = 0;
  ReplicaCount counted = 0;  ///< the larger of `current` and the number of replicas that exist and do not drain
  std::vector<MetricReading> readings;
  ReplicaCount proposed = 0;    ///< highest count over all readings, before windows and limits
  ReplicaCount stabilized = 0;  ///< count after stabilization
  ReplicaCount desired = 0;     ///< count after rate limits and bounds
  /// Replicas that must serve now. If replicas can change their role, the rest of the replicas may do so.
  ReplicaCount needed_now = 0;
  /// True if a person set the desired count, either as a fixed number or as the maximum that limits the count.
  bool is_stated = false;
  std::optional<Duration> lead{};  ///< time from this decision to a serving replica; none: the policy measures none
  std::optional<Sizing> sizing{};  ///< set by Capstan's own policy
  std::optional<SpreadSizing> spread{};
  std::vector<model::GangId> drain;  ///< replicas to drain if `desired` is below `current`, in the order of `victims`
  model::Reason why;
  model::Plan plan;                      ///< one SetReplicas, or the reason for none; for a mix, one for each variant
  std::vector<Decision> alternatives{};  ///< decisions about the other variants of a mix, without their plans
  model::ServiceId decided_with{};       ///< service whose decision contains this one; set for an alternative
};

/// Decides how many replicas the service should have.
///
/// The HPA policies reproduce Kubernetes' arithmetic exactly, including its defects: a starting replica that already
/// exports a metric lowers the mean, pending replicas are left out of the divisor on the way down, a stale value counts
/// like a fresh one, and capacity on its way is known only through spec.replicas.
///
/// @param memory updated in place with this answer and, if it differs from the current replicas, with the change
/// @return a decision whose `desired` is in [min, max] of the service, with two exceptions: an HPA leaves a workload
/// at 0 as it is, and a floor in `memory` keeps the current replicas even if they exceed the maximum
Decision decide(const WorkloadView& role, const Policy& policy, Memory& memory, Instant now);

/// Returns the replicas to remove so that `keep` non-draining ones remain: pending first, then starting, then ready
/// with the fewest requests running and waiting; among equals the youngest first. With a `spread`, replicas without a
/// node are removed first. Each further replica is taken from the domain that then holds the most.
std::vector<model::GangId> victims(const WorkloadView& role, ReplicaCount keep);

}  // namespace capstan::decide::scale
