#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.h"
#include "decide/text.h"
#include "model/ids.h"

namespace capstan::decide::scale {

/// Knowledge of Capstan's policy about one service. All fields are integers, so that saving is exact. Fading means
/// (exponential moving averages) are kept in thousandths or millionths; each list has a named limit.
struct CapstanMemory {
  static constexpr std::size_t kMaxReplicas = 1024;  ///< replicas whose counters are tracked
  static constexpr std::size_t kMaxLeads = 8;
  static constexpr std::size_t kMaxForecasts = 16;
  static constexpr std::size_t kMaxNeeds = 48;
  static constexpr std::size_t kMaxEpisodes = 16;

  /// Counters of one replica at its last reading, and the rates between its last two readings.
  struct Counters {
    model::GangId id;
    Instant measured_at;
    std::int64_t prompt_tokens = 0;
    std::int64_t generated_tokens = 0;
    std::int64_t waiting = 0;
    std::int64_t running = 0;
    std::int64_t prompt_rate_milli = 0;     ///< computed prompt tokens/s, thousandths
    std::int64_t generated_rate_milli = 0;  ///< generated tokens/s, thousandths
    std::int64_t waiting_rate_milli = 0;    ///< growth of the queue, requests/s, thousandths
    std::int64_t running_milli = 0;         ///< running sequences, mean of the last two readings, thousandths
    friend bool operator==(const Counters&, const Counters&) = default;
  };
  /// A replica that did not serve yet at the last decision.
  struct StartingReplica {
    model::GangId id;
    friend bool operator==(const StartingReplica&, const StartingReplica&) = default;
  };
  /// Demand predicted for a future moment.
  struct Forecast {
    Instant due;
    std::int64_t milli = 0;  ///< replicas, thousandths
    friend bool operator==(const Forecast&, const Forecast&) = default;
  };
  /// The highest need since the previous entry, up to `at`. Values fall from one entry to the next.
  struct NeedPeak {
    Instant at;
    std::int64_t milli = 0;  ///< replicas, thousandths
    friend bool operator==(const NeedPeak&, const NeedPeak&) = default;
  };

  /// A period of load after the service was idle for long enough to stop every replica. "Early" requests are the ones
  /// that a cold start would delay beyond the SLO if it began with the first request of the period.
  struct Episode {
    Instant began;
    Instant ended;                    ///< last moment of load so far
    std::int64_t requests_milli = 0;  ///< estimated as prompt tokens divided by the mean prompt
    std::int64_t early_milli = 0;     ///< early requests, including the ones that were still queued
    std::int64_t peak_milli = 0;      ///< largest number of replicas that the early requests needed
    friend bool operator==(const Episode&, const Episode&) = default;
  };

  Instant since;        ///< time of the first decision
  Instant at;           ///< time of the last decision
  Duration observed{};  ///< time with load from which the mean request was learned, up to a limit
  Instant last_used;    ///< last time that a request ran or waited, or a token was generated

  std::vector<Counters> counters;         ///< counters, ordered by replica id
  std::vector<StartingReplica> starting;  ///< starting replicas, ordered by id
  Instant gateway_at;                     ///< time of the last reading of the gateway
  std::int64_t gateway_waiting = 0;
  std::int64_t gateway_rate_milli = 0;

  std::int64_t prompt_milli = 0;            ///< computed prompt tokens/s, fading mean
  std::int64_t generated_milli = 0;         ///< generated tokens/s, fading mean
  std::int64_t kv_tokens_milli = 0;         ///< KV tokens in use, fading mean
  std::int64_t running_milli = 0;           ///< running sequences, fading mean
  std::int64_t correction_ppm = 1'000'000;  ///< measured step time divided by the engine model's
  Duration corrected{};                     ///< time with steps from which the correction was learned

  std::int64_t arrivals_milli = 0;  ///< arriving prompt tokens/s, fading mean
  Duration block{};                 ///< elapsed part of the current 15 s block
  std::int64_t block_milli = 0;     ///< arriving prompt tokens/s, mean of the current block
  std::int64_t last_block_milli = 0;
  std::int64_t arrivals_variance_ppm = 0;  ///< variance of a block's arrivals relative to their squared mean, fading
  Instant draining_until;                  ///< time until which the served load reflects a queue and not the arrivals
  std::int64_t in_flight_mean_milli = 0;   ///< requests, fading mean over one minute
  std::int64_t short_mean_milli = 0;       ///< demand in replicas, short fading mean
  std::int64_t long_mean_milli = 0;        ///< demand in replicas, long fading mean
  std::vector<Forecast> forecasts;         ///< forecasts in order of time
  std::int64_t forecast_error_ppm = 0;     ///< deviation of demand above its forecasts, relative
  std::int64_t safety_milli = 0;           ///< safety margin, in multiples of the forecast error
  std::int64_t slack_ppm = 0;              ///< headroom for interference between requests within a replica, relative
  Duration idle_observed{};                ///< time in which mostly idle replicas were observed
  /// Share of requests that miss their SLO on mostly idle replicas; more replicas do not help them.
  std::int64_t missed_when_idle_ppm = 0;

  std::vector<Duration> leads;       ///< durations of the last starts, oldest first
  std::vector<NeedPeak> need_peaks;  ///< peaks in order of time

  std::vector<Episode> episodes;  ///< episodes in order of time; the last may still be in progress

  /// Knowledge about a further variant of a mix. The unit of worth is a replica of the first variant.
  struct Alternative {
    std::int64_t correction_ppm = 1'000'000;
    Duration corrected{};
    std::vector<Duration> leads;
    Instant denied_until;
    std::int64_t worth_milli = 0;  ///< capacity of one replica; 0: not measured yet
    friend bool operator==(const Alternative&, const Alternative&) = default;
  };
  /// Time until which no more replicas of the first variant are planned, because its GPUs were unavailable or because
  /// it missed the SLO.
  Instant denied_until;
  std::vector<Alternative> alternatives;  ///< alternatives in the order of WorkloadView::alternatives
  friend bool operator==(const CapstanMemory&, const CapstanMemory&) = default;
};

/// References to what was learned about one variant of a mix; index 0 is the first variant.
struct VariantMemory {
  std::int64_t& correction_ppm;
  Duration& corrected;
  std::vector<Duration>& leads;
  Instant& denied_until;
};
VariantMemory variant_memory(CapstanMemory& memory, std::size_t variant);

/// Returns true if the memory has values in the fields that `write` saves only for a mix.
bool has_mix_fields(const CapstanMemory& memory);

/// Replaces the id of every replica by `new_id(id)`. Replicas for which that id is invalid are dropped.
void renumber(CapstanMemory& memory, const std::function<model::GangId(model::GangId)>& new_id);

/// @param mix  true: includes the fields that only a mix has
void write(const CapstanMemory& memory, TextWriter& text, bool mix);
void read(CapstanMemory& memory, TextReader& text, bool mix);

}  // namespace capstan::decide::scale
