#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/service.h"

namespace capstan::decide::scale {

/// The resource or bound that limits what one replica carries.
enum class CapacityBound : std::uint8_t { tpot, ttft, kv, sequences };

/// The part of a mix decision that concerns one variant.
struct VariantSizing {
  model::ServiceId service;
  ReplicaCount serving = 0;
  ReplicaCount loading = 0;  ///< replicas with GPUs that do not serve yet
  ReplicaCount pending = 0;  ///< replicas without GPUs
  bool modelled = false;
  std::int64_t correction_ppm = 1'000'000;
  std::int64_t batch = 0;
  std::int64_t token_us = 0;
  std::int64_t tokens_per_s = 0;
  CapacityBound bound = CapacityBound::tpot;
  bool out_of_reach = false;
  /// Capacity of a replica in replicas of the first variant, thousandths; 0: not used for planning.
  std::int64_t worth_milli = 0;
  Duration lead{};                                 ///< time from a decision to a serving replica
  MicroUsd price_per_hour{};                       ///< price of one replica; 0: unknown
  GpuCount gpus = 0;                               ///< GPUs of one replica
  std::optional<ReplicaCount> further_replicas{};  ///< further replicas that fit; empty: unknown
  Duration denied{};         ///< remaining time in which no more replicas of this variant are planned
  ReplicaCount current = 0;  ///< requested replicas
  /// Fewest replicas that may be chosen.
  ReplicaCount least = 0;
  ReplicaCount most = 0;       ///< most replicas that may be chosen
  ReplicaCount chosen = 0;     ///< replicas in the cheapest mix, switching costs included
  ReplicaCount from_zero = 0;  ///< replicas in the cheapest mix if no replica existed yet
  /// Replicas needed if only this variant served; empty: not enough are available.
  std::optional<ReplicaCount> replicas_alone{};
  ReplicaCount desired = 0;  ///< replicas to request, including ones whose replacements do not serve yet
};

/// The chosen number of replicas of each variant. Prices are per hour: in millionths of a USD, or in milli-GPUs if a
/// price is unknown.
struct MixSizing {
  bool in_usd = true;
  Duration horizon{};                ///< period within which savings must pay for a switch
  std::int64_t target_milli = 0;     ///< load to carry, including surplus that a scale-down window holds
  std::int64_t price = 0;            ///< price of the replicas requested now
  std::int64_t chosen_price = 0;     ///< price of the chosen mix
  std::int64_t from_zero_price = 0;  ///< price of the cheapest mix if no replica existed yet
  bool covers = false;               ///< true: the chosen mix carries the target
  bool exact = true;
  std::vector<VariantSizing> variants;
};

/// Replicas to keep warm while there is no load and when load has just begun. They are computed from the remembered
/// episodes of load after idleness ("wakes").
struct WarmSizing {
  ReplicaCount replicas = 0;
  std::int64_t wakes = 0;
  RequestCount requests = 0;
  RequestCount requests_late = 0;     ///< requests that would wait too long for a start from zero
  RequestCount requests_allowed = 0;  ///< requests that the SLO allows to be late at wakes
  Duration late_for{};                ///< cold start time beyond what the SLO allows a request to wait
};

/// All numbers of one decision of Capstan's policy. A name that ends in `_milli` means thousandths, of a replica if no
/// unit is named.
struct Sizing {
  using Bound = CapacityBound;

  // Observed load.
  RequestCount running = 0;
  RequestCount waiting = 0;         ///< requests queued in engines
  RequestCount gateway_queued = 0;  ///< requests queued at the gateway
  std::int64_t prompt_tokens_per_s = 0;
  std::int64_t generated_tokens_per_s = 0;
  std::int64_t arriving_tokens_per_s = 0;  ///< prompt tokens of all arrivals, queued ones included; smoothed
  ReplicaCount serving = 0;
  ReplicaCount starting = 0;  ///< replicas that exist or are requested and do not serve yet
  ReplicaCount silent = 0;    ///< ready replicas without a usable reading, prefill replicas included

  /// Role of the replicas. A prefill replica generates one token per prompt, so its tokens/s are prompts/s, and its
  /// time per token is the time of a whole prompt.
  model::Role role = model::Role::both;

  // Mean request.
  Tokens prompt = 0;
  Tokens output = 0;
  Tokens context = 0;

  // Capacity of one replica.
  bool modelled = false;  ///< true: the engine table has a row for this model on this GPU
  std::int64_t correction_ppm = 1'000'000;
  std::int64_t batch = 0;
  std::int64_t token_us = 0;  ///< time between two tokens of a sequence at that batch
  std::int64_t tokens_per_s = 0;
  Bound bound = Bound::tpot;
  bool out_of_reach = false;  ///< true: even a single sequence misses the bound on TPOT or TTFT

  // Demand.
  std::int64_t served_milli = 0;     ///< demand from arriving prompts and generated tokens
  std::int64_t arriving_milli = 0;   ///< demand from arriving prompts and the answers to expect for them
  bool queue_drains = false;         ///< true: a queue is draining, so that generation exceeds arrivals
  std::int64_t demand_milli = 0;     ///< `arriving_milli` while a queue drains, else the larger of the two
  std::int64_t in_flight_milli = 0;  ///< running and queued requests, the gateway's included, divided by the batch
  /// Replicas needed for the queue that will remain when a new replica is ready; 0: the serving and starting replicas
  /// drain the queue soon after that.
  std::int64_t backlog_milli = 0;
  Duration backlog_drains{};  ///< time until the serving and starting replicas empty the queue; 0: none

  // Plan.
  Duration lead{};  ///< time from a decision to a serving replica
  std::int64_t forecast_milli = 0;
  std::int64_t forecast_error_ppm = 0;
  std::int64_t safety_milli = 0;
  std::int64_t slack_ppm = 0;   ///< headroom for interference between requests within a replica, relative
  std::int64_t missed_ppm = 0;  ///< estimated share of requests that miss their SLO now
  std::int64_t needed_milli = 0;
  Duration window{};              ///< time for which a lower count must have sufficed
  std::int64_t window_milli = 0;  ///< highest need within the window

  /// Set while there is no load and when load has just begun, if cold starts count against the SLO.
  std::optional<WarmSizing> warm{};
  std::optional<MixSizing> mix{};  ///< set if several variants serve together
};

}  // namespace capstan::decide::scale
