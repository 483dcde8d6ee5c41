#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/quantity.h"
#include "base/time.h"

namespace capstan::sim {

using LinkId = Id<struct LinkTag>;
using FlowId = Id<struct FlowTag>;

/// Transfers that share links by max-min fairness: a transfer can get more bandwidth only at the cost of a transfer
/// that has as much or less. Rates are whole bytes per second, computed when a transfer begins or ends. Progress is
/// exact, in billionths of a byte.
class FlowNetwork {
 public:
  LinkId add_link(std::int64_t bytes_per_s);  ///< adds a link with this bandwidth, which is > 0
  /// Starts a transfer at the time of the last advance(). `links` contains each link once.
  FlowId start(Bytes size, std::span<const LinkId> links);
  void cancel(FlowId flow);  ///< cancels a transfer; no effect on a finished one
  Instant next_done();       ///< returns when the next transfer finishes; never() without a transfer
  /// Advances to `to`, at or before next_done(). Appends the transfers that finish then, oldest first.
  void advance(Instant to, std::vector<FlowId>& done);

  std::int64_t rate(FlowId flow);  ///< returns the rate in bytes per second; 0 for a finished transfer
  std::size_t flows() const { return flows_.size(); }

 private:
  struct Flow {
    __int128 left = 0;  ///< billionths of a byte
    std::int64_t rate = 0;
    std::vector<LinkId> links;
  };
  void share();

  Instant now_;
  bool changed_ = false;
  Instant next_ = Instant::never();
  std::vector<std::int64_t> capacity_;
  std::map<FlowId, Flow> flows_;
  std::uint32_t started_ = 0;

  struct Load {
    std::int64_t room = 0;
    std::int64_t flows = 0;  ///< flows that have no rate yet
  };
  std::vector<Load> load_;  ///< scratch, by link
};

}  // namespace capstan::sim
