#include "operator/memory/ledger.h"

#include <algorithm>

#include "decide/text.h"

namespace capstan::op {
namespace {

constexpr std::string_view kVersion = "ledger/1";
constexpr std::int64_t kHourMs = 3'600'000;

}  // namespace

void Ledger::add(ReplicaCount extra_replicas, MilliGpu gpus_of_replica, MicroUsd replica_price_per_hour, Instant now) {
  if (since_.is_never()) since_ = until_ = now;
  const Duration step = std::max(now - until_, Duration{});
  until_ = std::max(now, until_);
  if (step > kLongestStep) return;
  const std::int64_t replica_ms = extra_replicas * (step / std::chrono::milliseconds(1));
  milli_gpu_ms_ += replica_ms * gpus_of_replica.count;
  const __int128 owed = static_cast<__int128>(replica_ms) * replica_price_per_hour.count + rest_;
  micro_usd_ += static_cast<std::int64_t>(owed / kHourMs);
  rest_ = static_cast<std::int64_t>(owed % kHourMs);
}

void Ledger::add(const Ledger& other) {
  since_ = std::min(since_, other.since_);
  until_ = std::max(until_, other.until_);
  milli_gpu_ms_ += other.milli_gpu_ms_;
  micro_usd_ += other.micro_usd_ + (rest_ + other.rest_) / kHourMs;
  rest_ = (rest_ + other.rest_) % kHourMs;
}

std::int64_t Ledger::gpu_hours_milli() const { return milli_gpu_ms_ / kHourMs; }

std::string to_text(const Ledger& ledger) {
  decide::TextWriter text(kVersion);
  text.add(ledger.since_);
  text.add(ledger.until_);
  for (const std::int64_t number : {ledger.milli_gpu_ms_, ledger.micro_usd_, ledger.rest_}) text.add(number);
  return text.take();
}

Result<Ledger> parse_ledger(std::string_view saved) {
  decide::TextReader text(saved, kVersion);
  Ledger ledger;
  text.read(ledger.since_);
  text.read(ledger.until_);
  for (std::int64_t* number : {&ledger.milli_gpu_ms_, &ledger.micro_usd_, &ledger.rest_}) text.read(*number);
  return text.finish(std::move(ledger));
}

}  // namespace capstan::op
