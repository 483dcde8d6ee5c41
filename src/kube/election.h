#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/time.h"
#include "kube/client.h"
#include "kube/meta.h"
#include "kube/request.h"
#include "kube/wall_time.h"

namespace capstan::kube {

struct Lease {
  Meta meta;
  std::string holder;  ///< identity of the leader; empty: none
  Duration duration{};
  WallTime acquired_at;
  WallTime renewed_at;
  std::int64_t transitions = 0;
};

Lease read_lease(Json object);

/// Decides whether this process may write: leader election with a Lease, without a socket or a clock.
///
/// Clocks of different machines are never compared. The lease of another process has expired if the duration that the
/// lease states has passed on the local clock since the lease was last seen to change. The own lease ends
/// `renew_deadline` after the *request* for its last renewal, even if the loop is blocked; the actuator asks
/// `may_write` right before each write. The other processes wait `lease_duration`, which is longer.
class Election {
 public:
  struct Options {
    ObjectRef lease;
    std::string identity;  ///< name of this process, unique also after a restart
    Duration lease_duration = std::chrono::seconds(15);
    Duration renew_deadline = std::chrono::seconds(10);
    Duration retry_period = std::chrono::seconds(2);
  };

  Election(Options options, RandomStream random);

  /// Returns the request to send now, if any. One request is in flight at a time. Pass its answer to `answered`.
  std::optional<ApiRequest> poll(Instant now, WallTime wall);
  void answered(const Outcome& outcome, Instant now);
  Instant next_deadline() const { return in_flight_ == InFlight::none ? next_ : Instant::never(); }

  bool may_write(Instant now) const { return now < deadline_; }
  /// Returns the time at which `may_write` becomes false without a renewal.
  Instant deadline() const { return deadline_; }

  /// Releases the lease, so that a successor does not have to wait. From now on `may_write` is false.
  std::optional<ApiRequest> release(WallTime wall);

  const std::string& holder() const { return seen_.holder; }  ///< leader as last seen

 private:
  enum class InFlight : std::uint8_t { none, reading, writing };

  Duration request_timeout() const;
  ApiRequest take(WallTime wall);
  ApiRequest write(const Lease& lease) const;
  bool is_free(Instant now) const;
  void observe(Lease lease, Instant now);

  Options options_;
  RandomStream random_;
  InFlight in_flight_ = InFlight::none;
  Instant next_{};
  Instant asked_at_;
  Instant deadline_{};  // end of the own lease
  bool known_ = false;  // the lease has been read, and every write since then has a known outcome
  bool exists_ = false;
  bool released_ = false;
  int unanswered_ = 0;  // consecutive requests without an answer
  Lease seen_;
  Instant seen_at_;  // time at which the lease was seen to change
};

}  // namespace capstan::kube
