#include "decide/scale/capstan/load.h"

#include <algorithm>

namespace capstan::decide::scale {
namespace {

using model::Gang;
using Counters = CapstanMemory::Counters;

constexpr std::int64_t kMostRequests = 10'000'000;  // of one replica; more is no reading
constexpr double kMostTokensPerS = 1e7;             // of one replica
constexpr Duration kShortestInterval = std::chrono::milliseconds(500);
constexpr Duration kSameReading = std::chrono::seconds(30);  // two scrapes: by then an engine that says the same idles
constexpr Duration kGuessedLead = std::chrono::seconds(180);
constexpr Duration kLongestLead = std::chrono::hours(1);
constexpr Duration kWaited = std::chrono::minutes(30);  // what took longer waited for room in another domain

bool plausible(const model::Signal& signal, std::int64_t most) {
  return signal.usable() && signal.value >= 0 && signal.value <= most;
}

bool readable(const model::ReplicaSignals& s) {
  return plausible(s.waiting, kMostRequests) && plausible(s.running, kMostRequests) &&
         plausible(s.prompt_tokens_total, INT64_MAX) && plausible(s.generated_tokens_total, INT64_MAX);
}

/// Below 0 where it is not told.
double share(const model::Signal& ppm) { return plausible(ppm, 1'000'000) ? static_cast<double>(ppm.value) / 1e6 : -1; }

bool tells_kv(const model::ReplicaSignals& s) { return plausible(s.kv_usage_ppm, 1'000'000); }

/// What a counter grew by; one that fell began anew.
double growth(std::int64_t before, std::int64_t after) {
  const double grown = static_cast<double>(after) - static_cast<double>(before);
  return grown >= 0 ? grown : static_cast<double>(after);
}

std::int64_t rate_milli(double amount, double over_s, double most) {
  const double milli = std::clamp(amount / over_s, -most, most) * 1000.0;
  return static_cast<std::int64_t>(milli + (milli < 0 ? -0.5 : 0.5));
}

/// Gives the prompt tokens that it counts anew.
double note_reading(Counters& row, const model::ReplicaSignals& s, Instant measured_at, bool first) {
  const Duration interval = measured_at - row.measured_at;
  // A replica that was read before it was seen to serve: its counters are where its first interval begins.
  first = first || (interval <= Duration{} && row.prompt_tokens == 0 && row.generated_tokens == 0);
  if (!first && interval < kShortestInterval) return 0;  // the same reading, or a clock that jumped back
  const bool same = s.prompt_tokens_total.value == row.prompt_tokens &&
                    s.generated_tokens_total.value == row.generated_tokens && s.waiting.value == row.waiting &&
                    s.running.value == row.running;
  if (!first && same && interval < kSameReading) return 0;  // most likely the last scrape, seen again
  double computed = 0;
  if (!first) {
    const double s_long = in_seconds(interval);
    computed = growth(row.prompt_tokens, s.prompt_tokens_total.value);
    row.prompt_rate_milli = rate_milli(computed, s_long, kMostTokensPerS);
    row.generated_rate_milli =
        rate_milli(growth(row.generated_tokens, s.generated_tokens_total.value), s_long, kMostTokensPerS);
    row.waiting_rate_milli = rate_milli(static_cast<double>(s.waiting.value) - static_cast<double>(row.waiting), s_long,
                                        static_cast<double>(kMostRequests));
    row.running_milli = (s.running.value + std::clamp<std::int64_t>(row.running, 0, kMostRequests)) * 500;
  } else {
    row.running_milli = s.running.value * 1000;
  }
  row.measured_at = measured_at;
  row.prompt_tokens = s.prompt_tokens_total.value;
  row.generated_tokens = s.generated_tokens_total.value;
  row.waiting = s.waiting.value;
  row.running = s.running.value;
  return std::min(computed, kMostTokensPerS * in_seconds(interval));
}

/// Is it how long a start takes? Where replicas are kept apart one may have waited for room, which is no part of it.
bool is_a_start(const RoleView& role, Duration took) { return !role.spread || took <= kWaited; }

void note_lead(Duration took, std::vector<Duration>& leads) {
  if (leads.size() == CapstanMemory::kLeadsMost) leads.erase(leads.begin());
  leads.push_back(std::clamp(took, Duration{}, kLongestLead));
}

/// The last reading of those that serve: the next one ends an interval over which what a new one does is counted, too.
Instant last_reading(const CapstanMemory& memory, Instant now) {
  Instant last = now - kSameReading;
  for (const Counters& row : memory.counters) last = std::max(last, std::min(row.measured_at, now));
  return memory.counters.empty() ? now : last;
}

/// Follows who starts and who serves; a start that ended becomes one more lead time.
void follow_starts(const RoleView& role, CapstanMemory& memory, Instant now) {
  std::vector<CapstanMemory::Starting> starting;
  const Instant began = last_reading(memory, now);
  for (const RoleView::Replica& replica : role.replicas) {
    const bool was = std::ranges::binary_search(memory.starting, replica.id, {}, &CapstanMemory::Starting::id);
    if (replica.phase == Gang::Phase::pending || replica.phase == Gang::Phase::starting) {
      if (starting.size() < CapstanMemory::kReplicasMost) starting.push_back({replica.id});
    } else if (was && replica.phase == Gang::Phase::ready) {
      const Duration took = now - replica.created_at;
      if (!replica.resumed && is_a_start(role, took)) note_lead(took, learned(memory, replica.variant).leads);
      // Its counters begin at nothing: what it does until its first reading is not lost.
      Counters fresh;
      fresh.id = replica.id;
      fresh.measured_at = began;
      const auto at = std::ranges::lower_bound(memory.counters, replica.id, {}, &Counters::id);
      if (memory.counters.size() < CapstanMemory::kReplicasMost &&
          (at == memory.counters.end() || at->id != replica.id))
        memory.counters.insert(at, fresh);
    }
  }
  memory.starting = std::move(starting);
}

/// Do others compute its prompts, and are they seen? Else what decode replicas count themselves is all there is.
bool is_fed(const RoleView& role) { return role.role == model::Role::decode && !role.feeding.empty(); }

/// Prompts that replicas compute for these, which decode, are what is going to arrive here.
void add_feeding(const Counters& row, Load& load) {
  load.prompt_rate += static_cast<double>(row.prompt_rate_milli) / 1000.0;
  load.queue_rate += static_cast<double>(row.waiting_rate_milli) / 1000.0;
}

void read_gateway(const RoleView& role, CapstanMemory& memory, Instant now, Load& load) {
  load.gateway_read = plausible(role.gateway_waiting, kMostRequests);
  if (load.gateway_read) {
    const Instant measured_at = now - role.gateway_waiting.age;
    const Duration interval = measured_at - memory.gateway_at;
    const bool same = role.gateway_waiting.value == memory.gateway_waiting;
    if (interval >= (same ? kSameReading : kShortestInterval)) {
      memory.gateway_rate_milli =
          rate_milli(static_cast<double>(role.gateway_waiting.value) - static_cast<double>(memory.gateway_waiting),
                     in_seconds(interval), static_cast<double>(kMostRequests));
      memory.gateway_at = measured_at;
      memory.gateway_waiting = role.gateway_waiting.value;
    }
  }
  load.held = static_cast<double>(memory.gateway_waiting);
  // What waits to be decoded was counted when its prompt was computed.
  if (!is_fed(role)) load.queue_rate += static_cast<double>(memory.gateway_rate_milli) / 1000.0;
}

void add_replica(const RoleView::Replica& replica, const Counters& row, bool fed, Load& load) {
  load.running += static_cast<double>(row.running);
  load.waiting += static_cast<double>(row.waiting);
  load.generated_rate += static_cast<double>(row.generated_rate_milli) / 1000.0;
  if (!fed) add_feeding(row, load);
  const model::ReplicaSignals& s = replica.signals;
  Load::OfVariant& mine = load.variants[replica.variant];
  mine.running += static_cast<double>(row.running);
  if (tells_kv(s)) {
    load.kv_used += static_cast<double>(s.kv_usage_ppm.value) / 1e6;
    mine.kv_used += static_cast<double>(s.kv_usage_ppm.value) / 1e6;
  }
  const double ttft = s.ttft_p99_us.usable() && s.ttft_p99_us.value > 0 ? static_cast<double>(s.ttft_p99_us.value) : 0;
  load.each.push_back({.running = static_cast<double>(row.running_milli) / 1000.0,
                       .generated_rate = static_cast<double>(row.generated_rate_milli) / 1000.0,
                       .ttft_p99_s = ttft * 1e-6,
                       .ttft_late = share(s.ttft_late_ppm),
                       .queue_late = share(s.queue_late_ppm),
                       .tpot_late = share(s.tpot_late_ppm),
                       .variant = replica.variant});
}

/// A replica whose counters are followed: of the service, or one that feeds it.
struct Followed {
  const RoleView::Replica& replica;
  bool feeds;
};

/// By id.
std::vector<Followed> followed(const RoleView& role) {
  std::vector<Followed> all;
  all.reserve(role.replicas.size() + role.feeding.size());
  auto feeding = role.feeding.begin();
  for (const RoleView::Replica& replica : role.replicas) {
    for (; feeding != role.feeding.end() && feeding->id < replica.id; ++feeding) all.push_back({*feeding, true});
    all.push_back({replica, false});
  }
  for (; feeding != role.feeding.end(); ++feeding) all.push_back({*feeding, true});
  return all;
}

void note_start(const RoleView::Replica& replica, Instant now, Load& load) {
  ++load.starting;
  Load::OfVariant& mine = load.variants[replica.variant];
  if (replica.phase == Gang::Phase::starting) {
    ++mine.loading;
  } else {
    ++mine.pending;
    mine.waits = std::max(mine.waits, now - replica.created_at);
  }
}

/// Replicas that are asked for, and not there yet.
void note_asked(const RoleView& role, Load& load) {
  for (std::size_t i = 0; i < load.variants.size(); ++i) {
    Load::OfVariant& each = load.variants[i];
    const ReplicaCount current = i == 0 ? role.current : role.beside[i - 1].current;
    const ReplicaCount unseen = std::max<ReplicaCount>(current - each.serving - each.starting(), 0);
    each.pending += unseen;
    load.starting += unseen;
  }
}

}  // namespace

bool Load::ttft_unknown() const {
  return !decodes && prompt_rate > 0 && std::ranges::all_of(each, [](const Each& one) { return one.ttft_p99_s <= 0; });
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

Load read_load(const RoleView& role, CapstanMemory& memory, Instant now) {
  memory.beside.resize(role.beside.size());
  follow_starts(role, memory, now);
  const bool fed = is_fed(role);
  Load load;
  load.decodes = role.role == model::Role::decode;
  load.variants.resize(1 + role.beside.size());
  double running_without_kv = 0;
  std::vector<Counters> kept;
  const std::size_t own = std::min(role.replicas.size(), CapstanMemory::kReplicasMost);
  std::size_t feeders = std::min(role.feeding.size(), CapstanMemory::kReplicasMost - own);  // none keeps an own one out
  kept.reserve(own + feeders);
  auto known = memory.counters.begin();
  for (const auto& [replica, feeds] : followed(role)) {
    const bool ready = replica.phase == Gang::Phase::ready;
    if (!ready && replica.phase != Gang::Phase::draining) {
      if (!feeds) note_start(replica, now, load);
      continue;
    }
    load.serving += ready && !feeds;
    if (!feeds) load.variants[replica.variant].serving += ready;
    const bool says = readable(replica.signals);
    load.asked += ready;
    load.silent += ready && !says;
    const bool without_kv = !feeds && says && !tells_kv(replica.signals);
    load.without_kv += ready && without_kv;
    while (known != memory.counters.end() && known->id < replica.id) ++known;
    const bool has_row = known != memory.counters.end() && known->id == replica.id;
    if ((!has_row && !says) || kept.size() == CapstanMemory::kReplicasMost || (feeds && feeders == 0)) continue;
    feeders -= feeds;
    Counters row = has_row ? *known : Counters{};
    row.id = replica.id;
    const Duration age = replica.signals.generated_tokens_total.age;
    const double computed = says ? note_reading(row, replica.signals, now - age, !has_row) : 0;
    if (feeds || !fed) load.prompt_tokens += computed;
    if (feeds) {
      add_feeding(row, load);
    } else {
      add_replica(replica, row, fed, load);
      if (without_kv) running_without_kv += static_cast<double>(row.running);
    }
    kept.push_back(row);
  }
  memory.counters = std::move(kept);
  // What an engine does not tell of its KV memory is as much a sequence as the others tell: none is not nothing.
  if (running_without_kv > 0 && running_without_kv < load.running) {
    const double as_much = load.running / (load.running - running_without_kv);
    load.kv_used *= as_much;
    for (Load::OfVariant& each : load.variants) each.kv_used *= as_much;
  }
  note_asked(role, load);
  read_gateway(role, memory, now, load);
  return load;
}

Lead lead_time(const RoleView& role, std::uint32_t variant, std::span<const Duration> leads, Instant now) {
  Duration expected{};
  Duration oldest{};
  for (const RoleView::Replica& replica : role.replicas) {
    const Duration took = now - replica.created_at;
    if (replica.variant != variant || replica.resumed || !is_a_start(role, took)) continue;
    if (replica.phase == Gang::Phase::starting && !replica.expected_ready_at.is_never()) {
      expected = std::max(expected, replica.expected_ready_at - replica.created_at);
    }
    const bool waits_apart = role.spread && replica.domain == kNowhere;
    if (replica.phase == Gang::Phase::starting || (replica.phase == Gang::Phase::pending && !waits_apart)) {
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

RoleView together(const RoleView& role) {
  RoleView all = role;
  for (std::uint32_t i = 0; i < role.beside.size(); ++i) {
    for (RoleView::Replica replica : role.beside[i].replicas) {
      replica.variant = i + 1;
      all.replicas.push_back(replica);
    }
  }
  std::ranges::sort(all.replicas, {}, &RoleView::Replica::id);
  return all;
}

}  // namespace capstan::decide::scale
