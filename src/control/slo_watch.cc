#include "control/slo_watch.h"

#include <algorithm>

#include "decide/text.h"

namespace capstan::control {
namespace {

constexpr std::string_view kVersion = "slo-memory/1";
/// Tolerance of an acknowledgement: operators enter the time of the roll-back as displayed, in whole seconds.
constexpr Duration kShownResolution = std::chrono::seconds(1);

/// Returns the time to first token of the slowest ready replica; empty if no replica reports one.
std::optional<Duration> slowest_first_token(const decide::scale::WorkloadView& role) {
  std::optional<Duration> slowest;
  for (const decide::scale::WorkloadView::Replica& replica : role.replicas) {
    const model::Signal& ttft = replica.signals.ttft_p99_us;
    if (replica.phase != model::Gang::Phase::ready || !ttft.usable()) continue;
    slowest = std::max(slowest.value_or(Duration{}), Duration(std::chrono::microseconds(ttft.value)));
  }
  return slowest;
}

void reset(SloMemory& memory, decide::scale::Memory& scale) {
  memory.breached_since = memory.rolled_back_at = memory.met_since = Instant::never();
  scale.floor = 0;
}

void record_met(const SloBreachRule& rule, const decide::scale::WorkloadView& role, SloMemory& memory, Instant now) {
  memory.breached_since = Instant::never();
  memory.met_since = std::min(memory.met_since, now);
  if (now - memory.met_since >= rule.min_duration) memory.good = {memory.last_settings, role.current, now};
}

void record_breach(const SloBreachRule& rule, const decide::scale::WorkloadView& role, SloMemory& memory,
                   decide::scale::Memory& scale, Instant now) {
  memory.met_since = Instant::never();
  memory.breached_since = std::min(memory.breached_since, now);
  if (now - memory.breached_since < rule.min_duration) return;
  memory.rolled_back_at = now;
  scale.floor = std::max(role.current, memory.good ? memory.good->replicas : 0);
}

}  // namespace

std::string to_text(const SloMemory& memory) {
  decide::TextWriter text(kVersion);
  text.add(memory.breached_since);
  text.add(memory.rolled_back_at);
  text.add(std::int64_t{memory.good.has_value()});
  if (memory.good) {
    text.add(memory.good->replicas);
    text.add(memory.good->at);
  }
  return text.take();
}

Result<SloMemory> parse_slo_memory(std::string_view saved, const std::optional<decide::scale::Policy>& good) {
  decide::TextReader text(saved, kVersion);
  SloMemory memory;
  bool has_good = false;
  text.read(memory.breached_since);
  text.read(memory.rolled_back_at);
  text.read(has_good);
  if (has_good) {
    memory.good.emplace();
    text.read(memory.good->replicas);
    text.read(memory.good->at);
  }
  Result<SloMemory> read = text.finish(std::move(memory));
  if (!read) return read;
  if (has_good != good.has_value())
    return std::unexpected(Error{
        .file = {}, .message = "found the last good settings without their state, or the state without the settings"});
  if (good) read->good->settings = *good;
  return read;
}

void update_slo(const SloBreachRule* rule, Instant acknowledged_at, const decide::scale::WorkloadView& role,
                const decide::scale::Policy& stated, SloMemory& memory, decide::scale::Memory& scale, Instant now) {
  const bool acknowledged = memory.rolled_back() && acknowledged_at + kShownResolution > memory.rolled_back_at;
  if (rule == nullptr || acknowledged) reset(memory, scale);
  if (rule == nullptr || memory.rolled_back()) return;
  if (!(memory.last_settings == stated)) memory.met_since = Instant::never();
  memory.last_settings = stated;
  if (const std::optional<Duration> slowest = slowest_first_token(role); !slowest) {
    memory.met_since = Instant::never();
  } else if (*slowest <= rule->bound) {
    record_met(*rule, role, memory, now);
  } else {
    record_breach(*rule, role, memory, scale, now);
  }
}

const decide::scale::Policy& settings_in_force(const SloMemory& memory, const decide::scale::Policy& stated) {
  return memory.rolled_back() && memory.good ? memory.good->settings : stated;
}

}  // namespace capstan::control
