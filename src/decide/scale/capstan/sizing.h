#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/service.h"

namespace capstan::decide::scale {

/// What keeps a replica from taking more.
enum class CapacityBound : std::uint8_t { tpot, ttft, kv, sequences };

/// One variant of a mix.
struct VariantSizing {
  model::ServiceId service;
  ReplicaCount serving = 0;
  ReplicaCount loading = 0;  ///< have their GPUs and do not serve yet
  ReplicaCount pending = 0;  ///< have none
  bool modelled = false;
  std::int64_t correction_ppm = 1'000'000;
  std::int64_t batch = 0;
  std::int64_t token_us = 0;
  std::int64_t tokens_per_s = 0;
  CapacityBound bound = CapacityBound::tpot;
  bool out_of_reach = false;
  std::int64_t worth_milli = 0;        ///< of a replica; 0: none is counted on
  Duration lead{};                     ///< from a decision to a replica that serves
  MicroUsd price_per_hour{};           ///< of a replica; 0: not known
  GpuCount gpus = 0;                   ///< of a replica
  std::optional<ReplicaCount> more{};  ///< for which there is room; nothing: not known
  Duration denied{};                   ///< its GPUs could not be had, and are not counted on for so long
  ReplicaCount current = 0;            ///< asked for
  ReplicaCount least = 0;
  ReplicaCount most = 0;                ///< that can be had
  ReplicaCount chosen = 0;              ///< in the cheapest mix, switches paid for
  ReplicaCount begun_anew = 0;          ///< in the cheapest, were nothing there yet
  std::optional<ReplicaCount> alone{};  ///< were it the only one; nothing: not enough of it can be had
  ReplicaCount desired = 0;             ///< after those stay that others do not replace yet
};

/// How many of each variant. Prices are an hour's, micro-USD, or thousandths of a GPU where one is not known.
struct MixSizing {
  bool in_usd = true;
  Duration horizon{};             ///< what is saved within it has to pay for what a switch costs
  std::int64_t target_milli = 0;  ///< what has to be carried, surplus that is kept for a while included
  std::int64_t price = 0;         ///< of what is asked for
  std::int64_t chosen_price = 0;
  std::int64_t anew_price = 0;  ///< of the cheapest, were nothing there yet
  bool covers = false;          ///< the chosen one carries it
  bool exact = true;
  std::vector<VariantSizing> variants;
};

/// What has to be warm while nothing is asked for. Its requests are those of the wakes that are remembered.
struct WarmSizing {
  ReplicaCount replicas = 0;
  std::int64_t wakes = 0;
  RequestCount requests = 0;
  RequestCount requests_late = 0;     ///< at starts from zero
  RequestCount requests_allowed = 0;  ///< to be late at wakes, by the SLO
  Duration late_for{};                ///< a start, beyond what the SLO allows a request to wait
};

/// Every number by which Capstan's policy came to its answer. Thousandths ("milli") are of a replica where no other
/// unit is named.
struct Sizing {
  using Bound = CapacityBound;

  // What was seen.
  RequestCount running = 0;
  RequestCount waiting = 0;  ///< in engines
  RequestCount held = 0;     ///< at the gateway
  std::int64_t prompt_tokens_per_s = 0;
  std::int64_t generated_tokens_per_s = 0;
  std::int64_t arriving_tokens_per_s = 0;  ///< prompt tokens, those that joined a queue included, smoothed
  ReplicaCount serving = 0;
  ReplicaCount starting = 0;  ///< exist or are asked for, and do not serve yet
  ReplicaCount silent = 0;    ///< serve and gave no usable reading

  model::Role role = model::Role::both;  ///< of the replicas; prefill: a "token" and an "answer" are whole prompts

  // What a request is.
  Tokens prompt = 0;
  Tokens output = 0;
  Tokens context = 0;

  // What a replica carries.
  bool modelled = false;  ///< the engine table knows this model on this GPU
  std::int64_t correction_ppm = 1'000'000;
  std::int64_t batch = 0;
  std::int64_t token_us = 0;  ///< between two tokens of a sequence, at that batch
  std::int64_t tokens_per_s = 0;
  Bound bound = Bound::tpot;
  bool out_of_reach = false;  ///< not even one sequence alone meets the bound on TPOT or TTFT

  // What is asked for.
  std::int64_t served_milli = 0;     ///< by the tokens that are generated
  std::int64_t arriving_milli = 0;   ///< by the prompts that arrive
  bool works_off = false;            ///< a queue, so that more is generated than what comes asks for
  std::int64_t demand_milli = 0;     ///< by what arrives where a queue is worked off, else the larger
  std::int64_t in_flight_milli = 0;  ///< what runs and waits, at that batch
  std::int64_t backlog_milli = 0;    ///< for what will wait when a new replica is there, and would not soon be served
  Duration backlog_drains{};         ///< from now, by the replicas that are counted; 0: nothing waits

  // What is planned for.
  Duration lead{};  ///< from a decision to a replica that serves
  std::int64_t forecast_milli = 0;
  std::int64_t spread_ppm = 0;
  std::int64_t safety_milli = 0;
  std::int64_t slack_ppm = 0;   ///< how much emptier than they could be replicas are kept
  std::int64_t missed_ppm = 0;  ///< share of the requests that, as it looks, miss their SLO now
  std::int64_t needed_milli = 0;
  Duration window{};              ///< over which fewer must have sufficed
  std::int64_t window_milli = 0;  ///< the most that was needed in it

  std::optional<WarmSizing> warm{};  ///< where nothing was asked for, and starts are held against the SLO
  std::optional<MixSizing> mix{};    ///< where several variants serve together
};

}  // namespace capstan::decide::scale
