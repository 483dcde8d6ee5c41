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

/// A fixed number of clients. Each client sends its next request when its previous one has ended.
struct ClosedLoopSpec {
  std::int64_t concurrency = 1;    ///< clients; 1..1e6
  Duration think_time{};           ///< mean time between the end of a request and the client's next one
  bool think_exponential = false;  ///< true: drawn from an exponential distribution; false: always the mean
  LengthsSpec lengths;             ///< lengths of every request
  std::string lengths_profile;     ///< name or path of the profile whose table becomes `lengths.joint`; empty: none
  std::optional<RequestCount> requests{};  ///< total number of requests; if empty, the duration ends the loop
};

/// Generates the requests of a closed loop. It is not a Source, because arrivals depend on completions: the simulator
/// calls `make` `concurrency` times at the start and once each time a client's request has ended (completed, failed or
/// given up).
class ClosedLoop {
 public:
  ClosedLoop(ClosedLoopSpec spec, std::uint64_t seed, std::optional<Duration> duration);

  /// Returns the next request of a client whose previous one ended at `now`. It arrives at `now` plus the think time; a
  /// client's first request arrives at once. The random draws depend only on the number of requests made before.
  /// Returns nothing if all requests are made or the next one would arrive after the duration; the client then stops.
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
