#include "decide/scale/capstan/load.h"

#include <algorithm>

namespace capstan::decide::scale {
namespace {

using model::Gang;
using Counters = CapstanMemory::Counters;

constexpr std::int64_t kMaxRequests = 10'000'000;  // most requests of one replica; a larger value is not plausible
constexpr double kMaxTokensPerS = 1e7;             // most tokens/s of one replica
constexpr Duration kShortestInterval = std::chrono::milliseconds(500);
// Two scrapes. A reading that is unchanged for longer means an idle engine.
constexpr Duration kSameReading = std::chrono::seconds(30);
constexpr Duration kGuessedLead = std::chrono::seconds(180);
constexpr Duration kLongestLead = std::chrono::hours(1);
constexpr Duration kLongestStart =
    std::chrono::minutes(30);  // a longer start includes a wait for GPUs in another domain

bool plausible(const model::Signal& signal, std::int64_t most) {
  return signal.usable() && signal.value >= 0 && signal.value <= most;
}

bool readable(const model::ReplicaSignals& s) {
  return plausible(s.waiting, kMaxRequests) && plausible(s.running, kMaxRequests) &&
         plausible(s.prompt_tokens_total, INT64_MAX) && plausible(s.generated_tokens_total, INT64_MAX);
}

/// Returns the share, or -1 if it is not reported.
double share(const model::Signal& ppm) { return plausible(ppm, 1'000'000) ? static_cast<double>(ppm.value) / 1e6 : -1; }

bool reports_kv(const model::ReplicaSignals& s) { return plausible(s.kv_usage_ppm, 1'000'000); }

/// Returns the increase of a counter. A counter that fell was reset.
double growth(std::int64_t before, std::int64_t after) {
  const double grown = static_cast<double>(after) - static_cast<double>(before);
  return grown >= 0 ? grown : static_cast<double>(after);
}

std::int64_t rate_milli(double amount, double over_s, double most) {
  const double milli = std::clamp(amount / over_s, -most, most) * 1000.0;
  return static_cast<std::int64_t>(milli + (milli < 0 ? -0.5 : 0.5));
}

/// Updates the counters and returns the prompt tokens computed since the last reading.
double record_reading(Counters& row, const model::ReplicaSignals& s, Instant measured_at, bool first) {
  const Duration interval = measured_at - row.measured_at;
  // The first reading of a new replica may be older than the assumed beginning of its first interval. The interval then
  // begins with this reading.
  first = first || (interval <= Duration{} && row.prompt_tokens == 0 && row.generated_tokens == 0);
  if (!first && interval < kShortestInterval) return 0;  // the same reading, or the clock went back
  const bool same = s.prompt_tokens_total.value == row.prompt_tokens &&
                    s.generated_tokens_total.value == row.generated_tokens && s.waiting.value == row.waiting &&
                    s.running.value == row.running;
  if (!first && same && interval < kSameReading) return 0;  // most likely the previous scrape again
  double computed = 0;
  if (!first) {
    const double s_long = in_seconds(interval);
    computed = growth(row.prompt_tokens, s.prompt_tokens_total.value);
    row.prompt_rate_milli = rate_milli(computed, s_long, kMaxTokensPerS);
    row.generated_rate_milli =
        rate_milli(growth(row.generated_tokens, s.generated_tokens_total.value), s_long, kMaxTokensPerS);
    row.waiting_rate_milli = rate_milli(static_cast<double>(s.waiting.value) - static_cast<double>(row.waiting), s_long,
                                        static_cast<double>(kMaxRequests));
    row.running_milli = (s.running.value + std::clamp<std::int64_t>(row.running, 0, kMaxRequests)) * 500;
  } else {
    row.running_milli = s.running.value * 1000;
  }
  row.measured_at = measured_at;
  row.prompt_tokens = s.prompt_tokens_total.value;
  row.generated_tokens = s.generated_tokens_total.value;
  row.waiting = s.waiting.value;
  row.running = s.running.value;
  return std::min(computed, kMaxTokensPerS * in_seconds(interval));
}

/// Returns true if the duration is that of a start. With a required spread, a replica may have waited for GPUs in
/// another domain, which is not part of a start.
bool is_a_start(const WorkloadView& role, Duration took) { return !role.spread || took <= kLongestStart; }

void record_lead(Duration took, std::vector<Duration>& leads) {
  if (leads.size() == CapstanMemory::kMaxLeads) leads.erase(leads.begin());
  leads.push_back(std::clamp(took, Duration{}, kLongestLead));
}

/// Returns the time of the last reading of any tracked replica, but at most `kSameReading` ago; `now` if none is
/// tracked. The first interval of a new replica begins then.
Instant last_reading(const CapstanMemory& memory, Instant now) {
  Instant last = now - kSameReading;
  for (const Counters& row : memory.counters) last = std::max(last, std::min(row.measured_at, now));
  return memory.counters.empty() ? now : last;
}

/// Updates the starting replicas. The duration of a finished start is added to the lead times.
void update_starting(const WorkloadView& role, CapstanMemory& memory, Instant now) {
  std::vector<CapstanMemory::StartingReplica> starting;
  const Instant began = last_reading(memory, now);
  for (const WorkloadView::Replica& replica : role.replicas) {
    const bool was = std::ranges::binary_search(memory.starting, replica.id, {}, &CapstanMemory::StartingReplica::id);
    if (replica.phase == Gang::Phase::pending || replica.phase == Gang::Phase::starting) {
      if (starting.size() < CapstanMemory::kMaxReplicas) starting.push_back({replica.id});
    } else if (was && replica.phase == Gang::Phase::ready) {
      const Duration took = now - replica.created_at;
      if (!replica.resumed && is_a_start(role, took)) record_lead(took, variant_memory(memory, replica.variant).leads);
      // The replica's counters begin at 0, so that its work before the first reading counts.
      Counters fresh;
      fresh.id = replica.id;
      fresh.measured_at = began;
      const auto at = std::ranges::lower_bound(memory.counters, replica.id, {}, &Counters::id);
      if (memory.counters.size() < CapstanMemory::kMaxReplicas && (at == memory.counters.end() || at->id != replica.id))
        memory.counters.insert(at, fresh);
    }
  }
  memory.starting = std::move(starting);
}

/// Returns true if the role is decode and its prefill replicas are visible. Otherwise only the decode replicas' own
/// counters exist.
bool sees_prefill_replicas(const WorkloadView& role) {
  return role.role == model::Role::decode && !role.prefill_replicas.empty();
}

/// Adds the prompts that a replica computes and the growth of its queue. The replica belongs to the service, or is a
/// prefill replica whose prompts will arrive at the service's decode replicas.
void add_prompts_of(const Counters& row, Load& load) {
  load.prompt_rate += static_cast<double>(row.prompt_rate_milli) / 1000.0;
  load.queue_rate += static_cast<double>(row.waiting_rate_milli) / 1000.0;
}

void read_gateway(const WorkloadView& role, CapstanMemory& memory, Instant now, Load& load) {
  load.gateway_read = plausible(role.gateway_waiting, kMaxRequests);
  if (load.gateway_read) {
    const Instant measured_at = now - role.gateway_waiting.age;
    const Duration interval = measured_at - memory.gateway_at;
    const bool same = role.gateway_waiting.value == memory.gateway_waiting;
    if (interval >= (same ? kSameReading : kShortestInterval)) {
      memory.gateway_rate_milli =
          rate_milli(static_cast<double>(role.gateway_waiting.value) - static_cast<double>(memory.gateway_waiting),
                     in_seconds(interval), static_cast<double>(kMaxRequests));
      memory.gateway_at = measured_at;
      memory.gateway_waiting = role.gateway_waiting.value;
    }
  }
  load.gateway_queued = static_cast<double>(memory.gateway_waiting);
  // A request that waits for a decode replica was counted already when a prefill replica computed its prompt.
  if (!sees_prefill_replicas(role)) load.queue_rate += static_cast<double>(memory.gateway_rate_milli) / 1000.0;
}

void add_replica(const WorkloadView::Replica& replica, const Counters& row, bool prefill_computes_prompts, Load& load) {
  load.running += static_cast<double>(row.running);
  load.waiting += static_cast<double>(row.waiting);
  load.generated_rate += static_cast<double>(row.generated_rate_milli) / 1000.0;
  if (!prefill_computes_prompts) add_prompts_of(row, load);
  const model::ReplicaSignals& s = replica.signals;
  Load::VariantLoad& variant = load.variants[replica.variant];
  variant.running += static_cast<double>(row.running);
  if (reports_kv(s)) {
    load.kv_used += static_cast<double>(s.kv_usage_ppm.value) / 1e6;
    variant.kv_used += static_cast<double>(s.kv_usage_ppm.value) / 1e6;
  }
  const double ttft = s.ttft_p99_us.usable() && s.ttft_p99_us.value > 0 ? static_cast<double>(s.ttft_p99_us.value) : 0;
  load.replicas.push_back({.running = static_cast<double>(row.running_milli) / 1000.0,
                           .generated_rate = static_cast<double>(row.generated_rate_milli) / 1000.0,
                           .ttft_p99_s = ttft * 1e-6,
                           .ttft_late = share(s.ttft_late_ppm),
                           .queue_late = share(s.queue_late_ppm),
                           .tpot_late = share(s.tpot_late_ppm),
                           .variant = replica.variant});
}

/// A replica whose counters are tracked: one of the service itself or one of its prefill replicas.
struct TrackedReplica {
  const WorkloadView::Replica& replica;
  bool is_prefill;
};

/// Returns the tracked replicas ordered by id.
std::vector<TrackedReplica> tracked_replicas(const WorkloadView& role) {
  std::vector<TrackedReplica> all;
  all.reserve(role.replicas.size() + role.prefill_replicas.size());
  auto prefill_replicas = role.prefill_replicas.begin();
  for (const WorkloadView::Replica& replica : role.replicas) {
    for (; prefill_replicas != role.prefill_replicas.end() && prefill_replicas->id < replica.id; ++prefill_replicas)
      all.push_back({*prefill_replicas, true});
    all.push_back({replica, false});
  }
  for (; prefill_replicas != role.prefill_replicas.end(); ++prefill_replicas) all.push_back({*prefill_replicas, true});
  return all;
}

void count_start(const WorkloadView::Replica& replica, Instant now, Load& load) {
  ++load.starting;
  Load::VariantLoad& variant = load.variants[replica.variant];
  if (replica.phase == Gang::Phase::starting) {
    ++variant.loading;
  } else {
    ++variant.pending;
    variant.without_gpus = std::max(variant.without_gpus, now - replica.created_at);
  }
}

/// Counts replicas that are requested and do not exist yet.
void count_requested(const WorkloadView& role, Load& load) {
  for (std::size_t i = 0; i < load.variants.size(); ++i) {
    Load::VariantLoad& variant = load.variants[i];
    const ReplicaCount current = i == 0 ? role.current : role.alternatives[i - 1].current;
    const ReplicaCount unseen = std::max<ReplicaCount>(current - variant.serving - variant.starting(), 0);
    variant.pending += unseen;
    load.starting += unseen;
  }
}

}  // namespace

bool Load::ttft_unknown() const {
  return !is_decode && prompt_rate > 0 &&
         std::ranges::all_of(replicas, [](const ReplicaLoad& replica) { return replica.ttft_p99_s <= 0; });
}

const std::vector<model::SignalField>& load_signals() {
  using Signals = model::ReplicaSignals;
  static const std::vector<model::SignalField> kNeeded = {
      &Signals::waiting, &Signals::running, &Signals::prompt_tokens_total, &Signals::generated_tokens_total};
  return kNeeded;
}

CapstanMemory& load_memory(Memory& memory, Instant now) {
  if (!memory.capstan) {
    CapstanMemory& fresh = memory.capstan.emplace();
    fresh.since = fresh.at = fresh.last_used = now;
    fresh.gateway_at = now;
  }
  return *memory.capstan;
}

Load read_load(const WorkloadView& role, CapstanMemory& memory, Instant now) {
  memory.alternatives.resize(role.alternatives.size());
  update_starting(role, memory, now);
  const bool prefill_computes_prompts = sees_prefill_replicas(role);
  Load load;
  load.is_decode = role.role == model::Role::decode;
  load.variants.resize(1 + role.alternatives.size());
  double running_without_kv = 0;
  std::vector<Counters> kept;
  const std::size_t own = std::min(role.replicas.size(), CapstanMemory::kMaxReplicas);
  std::size_t prefill_left =
      std::min(role.prefill_replicas.size(), CapstanMemory::kMaxReplicas - own);  // own replicas take precedence
  kept.reserve(own + prefill_left);
  auto known = memory.counters.begin();
  for (const auto& [replica, is_prefill] : tracked_replicas(role)) {
    const bool ready = replica.phase == Gang::Phase::ready;
    if (!ready && replica.phase != Gang::Phase::draining) {
      if (!is_prefill) count_start(replica, now, load);
      continue;
    }
    load.serving += ready && !is_prefill;
    if (!is_prefill) load.variants[replica.variant].serving += ready;
    const bool is_readable = readable(replica.signals);
    load.expected_readings += ready;
    load.silent += ready && !is_readable;
    load.silent_serving += ready && !is_prefill && !is_readable;
    const bool without_kv = !is_prefill && is_readable && !reports_kv(replica.signals);
    load.without_kv += ready && without_kv;
    while (known != memory.counters.end() && known->id < replica.id) ++known;
    const bool has_row = known != memory.counters.end() && known->id == replica.id;
    if ((!has_row && !is_readable) || kept.size() == CapstanMemory::kMaxReplicas || (is_prefill && prefill_left == 0))
      continue;
    prefill_left -= is_prefill;
    Counters row = has_row ? *known : Counters{};
    row.id = replica.id;
    const Duration age = replica.signals.generated_tokens_total.age;
    const double computed = is_readable ? record_reading(row, replica.signals, now - age, !has_row) : 0;
    if (is_prefill || !prefill_computes_prompts) load.prompt_tokens += computed;
    if (is_prefill) {
      add_prompts_of(row, load);
    } else {
      add_replica(replica, row, prefill_computes_prompts, load);
      if (without_kv) running_without_kv += static_cast<double>(row.running);
    }
    kept.push_back(row);
  }
  memory.counters = std::move(kept);
  // For an engine that does not report KV usage, assume the per-sequence usage of the others. Missing is not zero.
  if (running_without_kv > 0 && running_without_kv < load.running) {
    const double factor = load.running / (load.running - running_without_kv);
    load.kv_used *= factor;
    for (Load::VariantLoad& variant : load.variants) variant.kv_used *= factor;
  }
  count_requested(role, load);
  read_gateway(role, memory, now, load);
  return load;
}

Lead lead_time(const WorkloadView& role, std::uint32_t variant, std::span<const Duration> leads, Instant now) {
  Duration expected{};
  Duration oldest{};
  for (const WorkloadView::Replica& replica : role.replicas) {
    const Duration took = now - replica.created_at;
    if (replica.variant != variant || replica.resumed || !is_a_start(role, took)) continue;
    if (replica.phase == Gang::Phase::starting && !replica.expected_ready_at.is_never()) {
      expected = std::max(expected, replica.expected_ready_at - replica.created_at);
    }
    const bool waits_for_domain = role.spread && replica.domain == kNowhere;
    if (replica.phase == Gang::Phase::starting || (replica.phase == Gang::Phase::pending && !waits_for_domain)) {
      oldest = std::max(oldest, took);
    }
  }
  bool known = expected > Duration{};
  Duration usual = known ? expected : kGuessedLead;
  if (!leads.empty()) {
    std::vector<Duration> sorted(leads.begin(), leads.end());
    std::ranges::sort(sorted);
    usual = sorted[(sorted.size() * 3) / 4];
    known = true;
  }
  const auto bounded = [](Duration time) { return std::clamp(time, Duration{}, kLongestLead); };
  return {bounded(std::max(usual, oldest)), known, bounded(usual)};
}

WorkloadView merged_variants(const WorkloadView& role) {
  WorkloadView all = role;
  for (std::uint32_t i = 0; i < role.alternatives.size(); ++i) {
    for (WorkloadView::Replica replica : role.alternatives[i].replicas) {
      replica.variant = i + 1;
      all.replicas.push_back(replica);
    }
  }
  std::ranges::sort(all.replicas, {}, &WorkloadView::Replica::id);
  return all;
}

}  // namespace capstan::decide::scale
