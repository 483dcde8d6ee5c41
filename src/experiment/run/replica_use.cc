#include "experiment/run/replica_use.h"

#include <algorithm>
#include <utility>

namespace capstan::experiment {
namespace {

bool is_idle(const model::Gang& gang, const model::ReplicaSignals& signals) {
  if (gang.phase != model::Gang::Phase::ready) return false;
  const bool is_known = signals.running.usable() && signals.waiting.usable();
  return is_known && signals.running.value == 0 && signals.waiting.value == 0;
}

/// Returns the growth of a counter since its last value, and updates that value. An engine that restarted counts from 0
/// again. A counter without a reading keeps its last value.
/// @param is_new  true: the engine has not been seen before, so its counters began at 0
std::int64_t growth(const model::Signal& counter, std::optional<std::int64_t>& last, bool is_new) {
  if (!counter.usable()) return 0;
  const std::optional<std::int64_t> before = std::exchange(last, counter.value);
  if (!before) return is_new ? counter.value : 0;
  return counter.value >= *before ? counter.value - *before : counter.value;
}

/// A counter of an engine and the figure of a minute to which its growth is added.
struct UseCounter {
  model::SignalField signal;
  std::int64_t UseMinute::* figure;
};

/// Positions in `kUseCounters`. The counters from kQueue on count only if the engine reports the times of its requests.
constexpr std::size_t kEndedRequests = 1, kQueue = 2, kPrefill = 3, kDecode = 4;
constexpr UseCounter kUseCounters[] = {
    {&model::ReplicaSignals::generated_tokens_total, &UseMinute::tokens},
    {&model::ReplicaSignals::finished_total, &UseMinute::requests},
    {&model::ReplicaSignals::queue_us_total, &UseMinute::queue_us},
    {&model::ReplicaSignals::prefill_us_total, &UseMinute::prefill_us},
    {&model::ReplicaSignals::decode_us_total, &UseMinute::decode_us},
    {&model::ReplicaSignals::transfer_us_total, &UseMinute::transfer_us},
    {&model::ReplicaSignals::transfers_total, &UseMinute::transfers},
};

/// Returns true if an engine reports the time of its requests, in two phases at least.
bool is_timed(const model::ReplicaSignals& signals) {
  return signals.decode_us_total.usable() && (signals.queue_us_total.usable() || signals.prefill_us_total.usable());
}

/// Returns the figure of a counter. A phase that the engine does not report is part of the next one.
std::int64_t UseMinute::* figure_of(std::size_t counter, const model::ReplicaSignals& signals) {
  if (counter == kPrefill && !signals.queue_us_total.usable()) return &UseMinute::queue_prefill_us;
  if (counter == kDecode && !signals.prefill_us_total.usable()) return &UseMinute::prefill_decode_us;
  return kUseCounters[counter].figure;
}

}  // namespace

UseMinute& ReplicaUse::row(std::size_t user, std::int64_t minute, std::int64_t revision,
                           std::vector<UseMinute>& minutes) {
  const auto known = positions_.find(user);
  if (known == positions_.end() || minutes[known->second].minute != minute) {
    positions_[user] = minutes.size();
    minutes.push_back({.user = user, .minute = minute});
  }
  UseMinute& found = minutes[positions_[user]];
  found.revision = revision;
  return found;
}

void ReplicaUse::note(const model::Snapshot& now,
                      const std::function<std::optional<std::size_t>(const model::Gang&)>& user_of,
                      const PriceOf& price_of, std::int64_t revision, std::vector<UseMinute>& minutes) {
  const auto minute_of = [](Instant at) { return at.since_start / std::chrono::minutes(1); };
  // A clock that was set back adds nothing until it has caught up.
  const double seconds = before_ ? std::max(0.0, std::chrono::duration<double>(now.at - *before_).count()) : 0;
  std::map<model::GangId, Last> next;
  now.gangs.for_each([&](model::GangId id, const model::Gang& gang) {
    const std::optional<std::size_t> user = user_of(gang);
    if (!user) return;
    const model::ReplicaSignals& signals = now.signals_of(id);
    const auto known = last_.find(id);
    Last last{.user = *user};
    if (known != last_.end()) last.counters = known->second.counters;
    // Requests and tokens before the first snapshot do not count.
    const bool is_base = known == last_.end() && !before_;
    const bool is_new = !last.counters[kEndedRequests].has_value();
    // If an engine first reports times after its requests have been counted, these times belong to earlier requests and
    // do not count. This happens if a later version continues a recording.
    const bool has_times = is_timed(signals) && (is_new || last.counters[kDecode]);
    std::array<std::int64_t, kCounters> grown{};
    for (std::size_t i = 0; i < kCounters; ++i) {
      grown[i] = growth(signals.*kUseCounters[i].signal, last.counters[i], is_new);
    }
    if (!is_base && std::ranges::any_of(grown, [](std::int64_t one) { return one > 0; })) {
      UseMinute& use = row(*user, minute_of(now.at), revision, minutes);
      const std::size_t used = has_times ? kCounters : kQueue;
      for (std::size_t i = 0; i < used; ++i) use.*figure_of(i, signals) += grown[i];
      if (has_times) use.timed_requests += grown[kEndedRequests];
    }
    last.is_idle = is_idle(gang, signals);
    if (last.is_idle) {
      for (const model::PodId id_of_pod : gang.pods) {
        const model::Pod* pod = now.pods.find(id_of_pod);
        if (pod == nullptr || !pod->node.valid()) continue;
        const double gpus = static_cast<double>(pod->gpus.count) / 1000;
        const NodePrice price = price_of(pod->node);
        last.gpus += gpus;
        if (!price.per_hour || price.gpus <= 0) continue;
        last.usd_per_s += gpus / static_cast<double>(price.gpus) * static_cast<double>(price.per_hour->count) / 3.6e9;
      }
    }
    next.emplace(id, last);
  });
  if (seconds > 0) {
    for (const auto& [id, last] : last_) {
      if (!last.is_idle) continue;
      UseMinute& use = row(last.user, minute_of(*before_), revision, minutes);
      use.idle_gpu_s += seconds * last.gpus;
      use.idle_usd += seconds * last.usd_per_s;
    }
  }
  last_ = std::move(next);
  before_ = std::max(before_.value_or(now.at), now.at);
}

}  // namespace capstan::experiment
