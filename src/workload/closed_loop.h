#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/quantity.h"
#include "base/random.h"
#include "base/time.h"
#include "workload/lengths.h"
#include "workload/request.h"

namespace capstan::workload {

/// A fixed number of clients, each of which sends its next request when its last one has ended.
struct ClosedLoopSpec {
  std::int64_t concurrency = 1;            ///< clients; 1..1e6
  Duration think_time{};                   ///< mean time between an end and the client's next request
  bool think_exponential = false;          ///< drawn around the mean instead of always the mean
  LengthsSpec lengths;                     ///< of every request
  std::string lengths_profile;             ///< where not empty: `lengths.joint` is this profile's table (name or path)
  std::optional<RequestCount> requests{};  ///< requests in total; without it the loop goes on for the duration
};

/// Arrivals depend on completions, so this is no Source: the simulator calls `make` `concurrency` times with the start,
/// and again at each moment when a client's request has ended (completed, failed or given up).
class ClosedLoop {
 public:
  ClosedLoop(ClosedLoopSpec spec, std::uint64_t seed, std::optional<Duration> duration);

  /// The next request of a client whose last one ended at `now`: it arrives at `now` plus the think time (a client's
  /// first arrives at once). Draws depend only on how many were made before. Empty when the client has stopped: all
  /// requests are made, or the next one would arrive after the duration.
  std::optional<Request> make(Instant now);

  std::int64_t concurrency() const { return spec_.concurrency; }

 private:
  ClosedLoopSpec spec_;
  std::optional<Duration> duration_;
  RandomStream lengths_;
  RandomStream think_;
  RequestCount made_ = 0;
};

}  // namespace capstan::workload
