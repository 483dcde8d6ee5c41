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
#include "decide/failure_domains.h"
#include "decide/index.h"
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
#include "model/signal.h"
#include "model/slo.h"
#include "model/snapshot.h"

namespace capstan::decide::scale {

/// A new policy is settings of its own, one more name here, and the three functions of decide/scale/by_policy.h for it.
using Policy = std::variant<Fixed, DutyCycleHpa, QueueHpa, MemoryHpa, Capstan, Rules>;

/// How often the policy wants to be asked. The caller keeps the beat; `decide` always answers.
Duration period(const Policy& policy);

/// Without any of these a replica is silent for the policy: it holds, or raises.
std::vector<model::SignalField> needed_signals(const Policy& policy);

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
  std::optional<CapstanMemory> capstan{};  ///< only where that policy decides
  friend bool operator==(const Memory&, const Memory&) = default;
};
/// One line of text that `parse_memory` turns back into an equal value.
std::string to_text(const Memory& memory);
Result<Memory> parse_memory(std::string_view text);

/// One workload object as a scaler sees it: a service of one variant (a further variant is another object). For a gang
/// of several pods a replica is what HPA sees of a LeaderWorkerSet: one pod, the leader.
struct RoleView {
  struct Replica {
    model::GangId id;
    model::Gang::Phase phase = model::Gang::Phase::pending;
    Instant created_at;
    model::ReplicaSignals signals;
    Instant expected_ready_at = Instant::never();  ///< of one that starts
    bool resumed = false;                          ///< out of another role or sleep: teaches no start
    std::uint32_t variant = 0;                     ///< where those of a mix stand together: whose it is, by position
    FailureDomain domain = kNowhere;               ///< where there is a `spread`: in which domain it stands
  };
  model::ServiceId service;
  model::VariantId variant{0};
  ReplicaCount current = 0;  ///< spec.replicas
  ReplicaCount min = 0;
  ReplicaCount max = 0;
  const std::vector<model::BoundsWindow>* windows = nullptr;  ///< bounds to come; `min` and `max` are those in force
  std::vector<Replica> replicas;                              ///< by id, draining ones included
  model::Slo slo{};
  model::Role role = model::Role::both;
  std::vector<Replica> feeding{};             ///< by id: the replicas that compute prompts for these, which decode
  model::Signal gateway_waiting{};            ///< requests that no replica could take
  const engine::EngineRow* engine = nullptr;  ///< of the bundled table; null: a model or a GPU that it does not know
  model::StepLimits step_limits{};
  Duration conversion{};           ///< a replica takes so long to change its role; 0: none can
  std::optional<Spread> spread{};  ///< of one that is to survive the loss of a domain
  // Of a mix.
  Supply supply{};
  std::vector<RoleView> beside{};  ///< the further variants behind the same endpoint, in the catalog's order
};
RoleView view(const model::Snapshot& snapshot, const Index& index, model::ServiceId service);

/// By service: the one whose decision speaks for it as well, itself where none does. Services that stand beside another
/// are decided with it where Capstan's own policy decides both.
/// @param policy_of  the policy in force of a service
std::vector<model::ServiceId> deciders(const model::Snapshot& snapshot,
                                       const std::function<const Policy&(model::ServiceId)>& policy_of);

/// What else a view of a mix is made of.
struct MixSource {
  std::span<const model::ServiceId> deciders;  ///< by service
  std::span<const Memory> memories;            ///< by service: the floor of each variant is its least
  const provision::Memory* bought = nullptr;   ///< of the layer that buys nodes; null: nobody here knows who buys what
};
/// The same view with the variants beside the service whose number is decided with its own, and what each may still
/// get.
RoleView view_of_mix(const model::Snapshot& snapshot, const Index& index, model::ServiceId service,
                     const MixSource& source, Instant now);

/// What one metric said. The arithmetic is kept, so that explaining it computes nothing again.
struct MetricReading {
  enum class Kind : std::uint8_t {
    duty_cycle,  ///< %
    memory,      ///< %
    waiting,     ///< requests
    running,     ///< requests
    kv,          ///< millionths of the KV memory
    ttft,        ///< us
    tpot,        ///< us
    goodput,     ///< millionths of the tokens
  };
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
  ReplicaCount wanted = 0;         ///< highest of the readings, before any window or limit
  ReplicaCount held_to = 0;        ///< after stabilization
  ReplicaCount desired = 0;        ///< after rate limits and bounds
  ReplicaCount needed_now = 0;     ///< of those that serve, where replicas may change their role: others may go
  std::optional<Sizing> sizing{};  ///< of Capstan's own policy
  std::optional<SpreadSizing> spread{};
  std::vector<model::GangId> drain;  ///< when fewer are wanted than exist, least to lose first
  model::Reason why;
  model::Plan plan;                 ///< one SetReplicas, or one kept reason; of a mix, for each of its variants
  std::vector<Decision> beside{};   ///< of a mix: what is decided of the further variants, their plans apart
  model::ServiceId decided_with{};  ///< of those: the service whose decision this is a part of
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
/// the fewest requests running and waiting; the youngest first among equals. Where the loss of a domain is to be
/// survived, those that stand nowhere go first, and then always one of the domain that holds the most.
std::vector<model::GangId> victims(const RoleView& role, ReplicaCount keep);

}  // namespace capstan::decide::scale
