#include "decide/scale/capstan/memory.h"

#include <algorithm>

#include "base/known_row.h"

namespace capstan::decide::scale {
namespace {

/// Visits every scalar of the memory in the order of the saved text.
template <typename MemoryType, typename Visit>
void each_scalar(MemoryType& m, Visit&& visit) {
  visit(m.since);
  visit(m.at);
  visit(m.observed);
  visit(m.last_used);
  visit(m.gateway_at);
  visit(m.gateway_waiting);
  visit(m.gateway_rate_milli);
  visit(m.prompt_milli);
  visit(m.generated_milli);
  visit(m.kv_tokens_milli);
  visit(m.running_milli);
  visit(m.correction_ppm);
  visit(m.corrected);
  visit(m.arrivals_milli);
  visit(m.block);
  visit(m.block_milli);
  visit(m.last_block_milli);
  visit(m.arrivals_variance_ppm);
  visit(m.draining_until);
  visit(m.in_flight_mean_milli);
  visit(m.short_mean_milli);
  visit(m.long_mean_milli);
  visit(m.forecast_error_ppm);
  visit(m.safety_milli);
  visit(m.slack_ppm);
  visit(m.idle_observed);
  visit(m.missed_when_idle_ppm);
}

template <typename Row, typename Visit>
void each_field(Row& row, Visit&& visit)
  requires requires { row.measured_at; }
{
  visit(row.id);
  visit(row.measured_at);
  visit(row.prompt_tokens);
  visit(row.generated_tokens);
  visit(row.waiting);
  visit(row.running);
  visit(row.prompt_rate_milli);
  visit(row.generated_rate_milli);
  visit(row.waiting_rate_milli);
  visit(row.running_milli);
}

template <typename Row, typename Visit>
void each_field(Row& row, Visit&& visit)
  requires requires { row.early_milli; }
{
  visit(row.began);
  visit(row.ended);
  visit(row.requests_milli);
  visit(row.early_milli);
  visit(row.peak_milli);
}

}  // namespace

void renumber(CapstanMemory& memory, const std::function<model::GangId(model::GangId)>& new_id) {
  const auto rename = [&](auto& rows) {
    for (auto& row : rows) row.id = new_id(row.id);
    std::erase_if(rows, [](const auto& row) { return !row.id.valid(); });
    std::ranges::sort(rows, {}, [](const auto& row) { return row.id; });
  };
  rename(memory.counters);
  rename(memory.starting);
}

VariantMemory variant_memory(CapstanMemory& memory, std::size_t variant) {
  if (variant == 0) return {memory.correction_ppm, memory.corrected, memory.leads, memory.denied_until};
  CapstanMemory::Alternative& other = known_row(memory.alternatives, variant - 1);
  return {other.correction_ppm, other.corrected, other.leads, other.denied_until};
}

bool has_mix_fields(const CapstanMemory& memory) {
  return !memory.alternatives.empty() || memory.denied_until != Instant{};
}

void write(const CapstanMemory& memory, TextWriter& text, bool mix) {
  const auto add = [&](const auto& value) { text.add(value); };
  each_scalar(memory, add);
  text.rows(memory.counters, [&](const CapstanMemory::Counters& row) { each_field(row, add); });
  text.rows(memory.starting, [&](const CapstanMemory::StartingReplica& row) { add(row.id); });
  text.rows(memory.forecasts, [&](const CapstanMemory::Forecast& row) { add(row.due), add(row.milli); });
  text.rows(memory.leads, add);
  text.rows(memory.need_peaks, [&](const CapstanMemory::NeedPeak& row) { add(row.at), add(row.milli); });
  text.rows(memory.episodes, [&](const CapstanMemory::Episode& row) { each_field(row, add); });
  if (!mix) return;
  add(memory.denied_until);
  text.rows(memory.alternatives, [&](const CapstanMemory::Alternative& row) {
    add(row.correction_ppm), add(row.corrected), add(row.denied_until), add(row.worth_milli);
    text.rows(row.leads, add);
  });
}

void read(CapstanMemory& memory, TextReader& text, bool mix) {
  const auto take = [&](auto& value) { text.read(value); };
  each_scalar(memory, take);
  text.rows(memory.counters, [&](CapstanMemory::Counters& row) { each_field(row, take); });
  text.rows(memory.starting, [&](CapstanMemory::StartingReplica& row) { take(row.id); });
  text.rows(memory.forecasts, [&](CapstanMemory::Forecast& row) { take(row.due), take(row.milli); });
  text.rows(memory.leads, take);
  text.rows(memory.need_peaks, [&](CapstanMemory::NeedPeak& row) { take(row.at), take(row.milli); });
  text.rows(memory.episodes, [&](CapstanMemory::Episode& row) { each_field(row, take); });
  if (!mix) return;
  take(memory.denied_until);
  text.rows(memory.alternatives, [&](CapstanMemory::Alternative& row) {
    take(row.correction_ppm), take(row.corrected), take(row.denied_until), take(row.worth_milli);
    text.rows(row.leads, take);
  });
}

}  // namespace capstan::decide::scale
