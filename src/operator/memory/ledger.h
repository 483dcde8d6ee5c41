#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/quantity.h"
#include "base/time.h"

namespace capstan::op {

/// What following the recommendations would have changed: GPU time and money that they ask for, less what is there.
/// Negative is saved. Only the time in which somebody decided counts.
class Ledger {
 public:
  /// A longer pause between two decisions is one in which nobody decided.
  static constexpr Duration kLongestStep = std::chrono::minutes(5);

  /// From the last call until now `more` replicas were asked for than there were. The first call begins the account.
  void add(ReplicaCount more, MilliGpu gpus_of_replica, MicroUsd replica_price_per_hour, Instant now);

  /// Adds another's account.
  void join(const Ledger& other);

  Instant since() const { return since_; }  ///< never where nothing was added yet
  std::int64_t gpu_hours_milli() const;     ///< thousandths of GPU-hours
  MicroUsd cost() const { return {micro_usd_}; }

  friend bool operator==(const Ledger&, const Ledger&) = default;
  friend std::string to_text(const Ledger& ledger);
  friend Result<Ledger> parse_ledger(std::string_view text);

 private:
  Instant since_ = Instant::never();
  Instant until_{};
  std::int64_t milli_gpu_ms_ = 0;
  std::int64_t micro_usd_ = 0;
  std::int64_t rest_ = 0;  ///< of the division that gave the last micro-USD
};

/// One line of text that `parse_ledger` turns back into an equal value.
std::string to_text(const Ledger& ledger);
Result<Ledger> parse_ledger(std::string_view text);

}  // namespace capstan::op
