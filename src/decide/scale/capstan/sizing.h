#pragma once

#include <cstdint>

#include "base/quantity.h"
#include "base/time.h"
#include "model/service.h"

namespace capstan::decide::scale {

/// Every number by which Capstan's policy came to its answer. Thousandths ("milli") are of a replica where no other
/// unit is named.
struct Sizing {
  /// What keeps a replica from taking more.
  enum class Bound : std::uint8_t { tpot, ttft, kv, sequences };

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
  std::int64_t demand_milli = 0;     ///< the larger
  std::int64_t in_flight_milli = 0;  ///< what runs and waits, at that batch
  std::int64_t backlog_milli = 0;    ///< for what waits and would not be served before a new replica is there
  Duration backlog_drains{};         ///< in what the replicas that are counted have left; 0: nothing waits

  // What is planned for.
  Duration lead{};  ///< from a decision to a replica that serves
  std::int64_t forecast_milli = 0;
  std::int64_t spread_ppm = 0;
  std::int64_t safety_milli = 0;
  std::int64_t missed_ppm = 0;  ///< share of the work that, as it looks, misses its SLO now
  std::int64_t needed_milli = 0;
  Duration window{};              ///< over which fewer must have sufficed
  std::int64_t window_milli = 0;  ///< the most that was needed in it
};

}  // namespace capstan::decide::scale
