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

/// Transfers that share links max-min fairly: no transfer can go faster without slowing one that is no faster. Rates
/// are whole bytes per second, found anew whenever a transfer begins or ends; progress is exact (byte times
/// nanosecond).
class FlowNetwork {
 public:
  LinkId add_link(std::int64_t bytes_per_s);  ///< > 0
  /// Begins at the time last advanced to. `links` lists each link once.
  FlowId start(Bytes size, std::span<const LinkId> links);
  void cancel(FlowId flow);  ///< no effect on one that is done
  Instant next_done();       ///< never() when nothing flows
  /// `to` is at or before next_done(). Appends the flows that are done then, oldest first.
  void advance(Instant to, std::vector<FlowId>& done);

  std::int64_t rate(FlowId flow);  ///< bytes per second; 0 for one that is done
  std::size_t flows() const { return flows_.size(); }

 private:
  struct Flow {
    __int128 left = 0;  ///< bytes times 1e9
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
    std::int64_t flows = 0;  ///< without a rate yet
  };
  std::vector<Load> load_;  ///< scratch, by link
};

}  // namespace capstan::sim
