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
  std::string holder;  ///< empty: nobody
  Duration duration{};
  WallTime acquired_at;
  WallTime renewed_at;
  std::int64_t transitions = 0;
};

Lease read_lease(Json object);

/// Who may write: the rules of leader election with a Lease, without a socket or a clock in them.
///
/// Whether another's lease has run out is judged by our own clock, from when we last saw it change: clocks of different
/// machines are never compared. Whether ours still holds is judged from when we *asked* for its renewal, and ends
/// `renew_deadline` later whatever the loop is doing: `may_write` is for the actuator to ask, right before each write.
/// The others wait `lease_duration`, which is longer.
class Election {
 public:
  struct Options {
    ObjectRef lease;
    std::string identity;  ///< of this process alone, also after a restart
    Duration lease_duration = std::chrono::seconds(15);
    Duration renew_deadline = std::chrono::seconds(10);
    Duration retry_period = std::chrono::seconds(2);
  };

  Election(Options options, RandomStream random);

  /// The request to make now, if there is one; its answer goes to `answered`. One at a time.
  std::optional<ApiRequest> poll(Instant now, WallTime wall);
  void answered(const Outcome& outcome, Instant now);
  Instant next_deadline() const { return in_flight_ == InFlight::none ? next_ : Instant::never(); }

  bool may_write(Instant now) const { return now < deadline_; }
  /// Until when, if nothing is renewed.
  Instant deadline() const { return deadline_; }

  /// Gives the lease back, so that a successor need not wait. From now on nothing may be written.
  std::optional<ApiRequest> release(WallTime wall);

  const std::string& holder() const { return seen_.holder; }  ///< as last seen

 private:
  enum class InFlight : std::uint8_t { none, reading, writing };

  Duration patience() const;
  ApiRequest take(WallTime wall);
  ApiRequest write(const Lease& lease) const;
  bool free_for_us(Instant now) const;
  void saw(Lease lease, Instant now);

  Options options_;
  RandomStream random_;
  InFlight in_flight_ = InFlight::none;
  Instant next_{};
  Instant asked_at_;
  Instant deadline_{};  // of our own lease
  bool known_ = false;  // the lease has been read, and nothing of ours since then is uncertain
  bool exists_ = false;
  bool released_ = false;
  int unanswered_ = 0;  // requests in a row
  Lease seen_;
  Instant seen_at_;  // when it last changed
};

}  // namespace capstan::kube
