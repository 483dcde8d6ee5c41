#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/quantity.h"
#include "base/time.h"

namespace capstan::op {

/// The difference between the recommended replicas and the replicas that the target asks for, over time, in GPU time
/// and money. A negative value is a saving. Only time between two decisions counts.
class Ledger {
 public:
  /// Longest time between two decisions that counts. If more time has passed, no process decided in between.
  static constexpr Duration kLongestStep = std::chrono::minutes(5);

  /// Adds the time since the last call. In this time, the recommended replicas exceeded `spec.replicas` by
  /// `extra_replicas`, which may be negative. The first call starts the account.
  void add(ReplicaCount extra_replicas, MilliGpu gpus_of_replica, MicroUsd replica_price_per_hour, Instant now);

  /// Adds the amounts of another ledger.
  void add(const Ledger& other);

  Instant since() const { return since_; }  ///< time of the first `add`; `never` before it
  std::int64_t gpu_hours_milli() const;     ///< unit: 0.001 GPU-hours
  MicroUsd cost() const { return {micro_usd_}; }

  friend bool operator==(const Ledger&, const Ledger&) = default;
  friend std::string to_text(const Ledger& ledger);
  friend Result<Ledger> parse_ledger(std::string_view text);

 private:
  Instant since_ = Instant::never();
  Instant until_{};
  std::int64_t milli_gpu_ms_ = 0;
  std::int64_t micro_usd_ = 0;
  std::int64_t rest_ = 0;  ///< remainder of the last division into `micro_usd_`, carried into the next one
};

/// Returns one line of text. `parse_ledger` turns it back into an equal value.
std::string to_text(const Ledger& ledger);
Result<Ledger> parse_ledger(std::string_view text);

}  // namespace capstan::op
