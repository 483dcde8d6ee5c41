#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.h"
#include "decide/text.h"
#include "model/ids.h"

namespace capstan::decide::scale {

/// What Capstan's policy knows of one service from earlier decisions. Integers only, so that it saves exactly. Sums
/// that fade are kept as thousandths; each list has a named limit.
struct CapstanMemory {
  static constexpr std::size_t kReplicasMost = 1024;  ///< whose counters are followed
  static constexpr std::size_t kLeadsMost = 8;
  static constexpr std::size_t kForecastsMost = 16;
  static constexpr std::size_t kNeedsMost = 48;
  static constexpr std::size_t kEpisodesMost = 16;

  /// The counters of one replica when they were last read, and what came between the last two readings.
  struct Counters {
    model::GangId id;
    Instant measured_at;
    std::int64_t prompt_tokens = 0;
    std::int64_t generated_tokens = 0;
    std::int64_t waiting = 0;
    std::int64_t running = 0;
    std::int64_t prompt_rate_milli = 0;     ///< tokens/s
    std::int64_t generated_rate_milli = 0;  ///< tokens/s
    std::int64_t waiting_rate_milli = 0;    ///< requests/s by which the queue grew
    std::int64_t running_milli = 0;         ///< mean of the last two readings
    friend bool operator==(const Counters&, const Counters&) = default;
  };
  /// A replica that did not serve yet when it was last seen.
  struct Starting {
    model::GangId id;
    friend bool operator==(const Starting&, const Starting&) = default;
  };
  /// What was planned for a moment to come.
  struct Forecast {
    Instant due;
    std::int64_t milli = 0;  ///< replicas
    friend bool operator==(const Forecast&, const Forecast&) = default;
  };
  /// The most that was needed from the entry before up to a moment: values fall from one entry to the next.
  struct Need {
    Instant at;
    std::int64_t milli = 0;  ///< replicas
    friend bool operator==(const Need&, const Need&) = default;
  };

  /// A time in which requests came, after one without any that was long enough to stop everything. "Early" is what
  /// came before a start that they cause would have ended.
  struct Episode {
    Instant began;
    Instant ended;                    ///< so far
    std::int64_t requests_milli = 0;  ///< by prompt tokens over the mean prompt's
    std::int64_t early_milli = 0;     ///< of the requests
    std::int64_t peak_milli = 0;      ///< replicas that early ones were worth at most
    friend bool operator==(const Episode&, const Episode&) = default;
  };

  Instant since;        ///< the first decision
  Instant at;           ///< the last decision
  Duration observed{};  ///< how long there was a load to learn from, at most the longest time constant
  Instant last_used;    ///< when something last ran, waited or was generated

  std::vector<Counters> counters;  ///< by id
  std::vector<Starting> starting;  ///< by id
  Instant gateway_at;              ///< when the gateway was last read
  std::int64_t gateway_waiting = 0;
  std::int64_t gateway_rate_milli = 0;

  std::int64_t prompt_milli = 0;            ///< fading mean, tokens/s
  std::int64_t generated_milli = 0;         ///< fading mean, tokens/s
  std::int64_t held_milli = 0;              ///< fading mean, KV tokens
  std::int64_t running_milli = 0;           ///< fading mean, sequences
  std::int64_t correction_ppm = 1'000'000;  ///< a step takes this times what the engine model says
  Duration corrected{};                     ///< how long there was a step to learn from

  std::int64_t arrivals_milli = 0;  ///< prompt tokens/s that arrive, fading
  Duration block{};                 ///< how long of the present fifteen seconds is seen
  std::int64_t block_milli = 0;     ///< prompt tokens/s that arrived in it
  std::int64_t last_block_milli = 0;
  std::int64_t arrivals_variance_ppm = 0;  ///< of a block's, relative to its mean squared, fading
  Instant works_off_until;                 ///< so long what is served tells of a queue, not of what comes
  std::int64_t in_flight_mean_milli = 0;   ///< requests, fading over a minute
  std::int64_t near_milli = 0;             ///< demand in replicas, fading soon
  std::int64_t far_milli = 0;              ///< demand in replicas, fading late
  std::vector<Forecast> forecasts;         ///< by moment
  std::int64_t spread_ppm = 0;             ///< of demand above its forecast, relative
  std::int64_t safety_milli = 0;           ///< spreads that are kept in hand
  std::int64_t slack_ppm = 0;              ///< how much emptier than they could be replicas are kept
  Duration empty_seen{};                   ///< how long replicas were seen that are mostly empty
  std::int64_t missed_empty_ppm = 0;       ///< what misses its SLO then: more replicas do not mend it

  std::vector<Duration> leads;  ///< of the last starts, the oldest first
  std::vector<Need> needs;      ///< by moment

  std::vector<Episode> episodes;  ///< by moment; the last may be under way

  /// What is known of a further variant of a mix. Replicas, as a unit, are those of the first one.
  struct Beside {
    std::int64_t correction_ppm = 1'000'000;
    Duration corrected{};
    std::vector<Duration> leads;
    Instant denied_until;
    std::int64_t worth_milli = 0;  ///< of a replica; 0: not known yet
    friend bool operator==(const Beside&, const Beside&) = default;
  };
  Instant denied_until;        ///< GPUs of the first variant could not be had: no more are counted on until then
  std::vector<Beside> beside;  ///< in the order of RoleView::beside
  friend bool operator==(const CapstanMemory&, const CapstanMemory&) = default;
};

/// What is known of one variant of a mix, by position: 0 is the first.
struct Learned {
  std::int64_t& correction_ppm;
  Duration& corrected;
  std::vector<Duration>& leads;
  Instant& denied_until;
};
Learned learned(CapstanMemory& memory, std::size_t variant);

/// The saved text holds what only a mix knows.
bool knows_a_mix(const CapstanMemory& memory);

/// Gives every replica the id that `other` says for it. Those that it says none for are forgotten.
void renumber(CapstanMemory& memory, const std::function<model::GangId(model::GangId)>& other);

/// @param mix  with what only a mix knows
void write(const CapstanMemory& memory, TextWriter& text, bool mix);
void read(CapstanMemory& memory, TextReader& text, bool mix);

}  // namespace capstan::decide::scale
