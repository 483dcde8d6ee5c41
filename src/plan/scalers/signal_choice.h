#pragma once

#include <string>
#include <string_view>

#include "plan/fleet/capacity.h"

// The scaling signal of a role, and its thresholds from the engine model.
namespace capstan::plan {

/// The work that limits a replica: the computation of prompts, the generation of answers, or both.
enum class WorkKind : std::uint8_t { prefill_bound, decode_bound, mixed };

struct SignalChoice {
  WorkKind kind = WorkKind::mixed;       ///< kind of the work
  WorkKind signal = WorkKind::mixed;     ///< kind whose signal is used: `kind`, or the one that the spec asks for
  double prefill_share = 0;              ///< part of the step time that prompts take, 0 to 1
  std::int64_t batch = 1;                ///< sequences that a replica runs at once within its SLO
  decide::scale::CapacityBound bound{};  ///< bound that limits that batch
  double growth = 1;                     ///< load of a burst, in multiples of the load that the minimum carries
  std::int64_t in_flight = 1;            ///< threshold: running and waiting requests per replica
  std::int64_t waiting = 1;              ///< threshold: waiting requests per replica
  std::int64_t kv_percent = 1;           ///< threshold: KV memory in use per replica
  std::int64_t goodput_tokens = 1;       ///< threshold: answer tokens per second and replica, within the SLO
  bool has_goodput_metric = true;        ///< false: the engine counts no answer tokens
  std::string kind_reason{};
  std::string asked_reason{};  ///< what the spec asks for, and what the plan would have taken; empty: nothing is asked
  std::string in_flight_reason{};
  std::string waiting_reason{};
  std::string kv_reason{};
  std::string goodput_reason{};
  /// True: the threshold for waiting requests is assumed, because the SLO has no bound from which it follows, or
  /// because decode replicas compute no prompts.
  bool is_waiting_assumed = false;
  std::string first_threshold{};         ///< threshold that is reached first as requests are added: "in flight"
  std::string first_threshold_reason{};  ///< requests of a replica at which each threshold is reached

  bool uses_waiting() const { return signal != WorkKind::decode_bound; }
  bool uses_goodput() const { return signal == WorkKind::mixed && has_goodput_metric; }
  bool uses_kv() const { return signal == WorkKind::decode_bound || (signal == WorkKind::mixed && !uses_goodput()); }
};

/// Chooses the signal of one role. Thresholds follow from the batch at which a replica holds its SLO, less the load
/// that can be added before new replicas serve.
/// @param asked  `asked.scale_on` of the spec; empty: the plan chooses
SignalChoice choose_signal(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role,
                           std::string_view asked = {});

/// Returns "queue depth", "KV pressure" or "composite goodput".
std::string signal_word(WorkKind kind);
/// Returns "prefill-bound", "decode-bound" or "mixed".
std::string kind_word(WorkKind kind);

}  // namespace capstan::plan
