#include "experiment/report/notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/run/ranking.h"
#include "experiment/text/words.h"
#include "manifest/fields.h"

namespace capstan::experiment {

namespace {

std::string assumed_start_note(const Comparison& c) {
  const auto has_cold_start = [](const RunResult& r) { return r.cold_start_p50.count() > 0; };
  if (!c.assumed_engine_init || !std::ranges::any_of(c.results, has_cold_start)) return "";
  return fmt::format(
      "The scenario does not say how long an engine takes to start. {} to {} are assumed, and an image that loads at "
      "the speed of the network. Published starts take 1 to 5 min, so state yours in service, such as "
      "`start: {{engine_init: 3m}}`: docs/guides/cold-start-from-zero.md",
      time_text(c.assumed_engine_init->low), time_text(c.assumed_engine_init->high));
}

/// Returns a note if the nodes are too large for the replicas. Only for one service, because several services may need
/// nodes of different sizes.
std::string large_nodes_note(const Comparison& c) {
  const RunResult& best = c.results.front();
  if (c.catalog == nullptr || c.catalog->services.size() != 1 || best.is_shared()) return "";
  if (c.catalog->offerings.empty() || best.paid_gpu_ns() <= 0) return "";
  const auto unallocated = best.gpu_ns[static_cast<std::size_t>(GpuState::unallocated)];
  const auto share_ppm = static_cast<std::int64_t>(unallocated * 1'000'000 / best.paid_gpu_ns());
  const GpuCount node = std::ranges::min(c.catalog->offerings, {}, &model::Offering::gpus).gpus;
  const std::int64_t replica = c.catalog->services.front().workload.gpus_per_replica;
  if (share_ppm < kNotedUnallocatedPpm || node <= replica) return "";
  return fmt::format(
      "Under {}, {} of the paid GPU time was on GPUs without a pod: a replica has {}, and the smallest "
      "node {}. Smaller nodes may cost less.",
      best.policy, share_text(share_ppm), count_text(replica, "GPU", "GPUs"), node);
}

/// Returns a note if nodes without a pod take a considerable part of the paid GPU time of the first policy.
std::string empty_nodes_note(const Comparison& c) {
  const RunResult& best = c.results.front();
  if (best.paid_gpu_ns() <= 0) return "";
  const auto share_ppm = static_cast<std::int64_t>(best.empty_node_gpu_ns * 1'000'000 / best.paid_gpu_ns());
  const auto delay = c.empty_node_delays.find(best.policy);
  if (share_ppm < kNotedEmptyNodesPpm || delay == c.empty_node_delays.end()) return "";
  const std::string cost = best.empty_node_micro_usd > 0 ? " (" + usd(best.empty_node_micro_usd) + " USD)" : "";
  const std::string nodes = fmt::format("Under {}, {} of the paid GPU time{} was on nodes without any pod.",
                                        best.policy, share_text(share_ppm), cost);
  if (!delay->second) return nodes + " This policy never gives a node back.";
  if (*delay->second <= Duration{}) return nodes + " A node without pods is given back at once.";
  const Duration half = std::max<Duration>(std::chrono::floor<std::chrono::seconds>(*delay->second / 2), Duration{});
  return fmt::format(
      "{} A node is given back after {} without pods: with a shorter time the fleet costs less, but starting replicas "
      "have to wait for a new node more often. Keep the policies of `provision` and of its `consolidation` when you "
      "state the time, for example `provision: {{policy: group, consolidation: {{policy: when_empty, after: {}}}}}`.",
      nodes, time_text(*delay->second), manifest::duration_text(half));
}

/// Returns a note if the first policy misses the SLO, and its engines were often short of KV memory.
std::string kv_memory_note(const Comparison& c) {
  const RunResult& best = c.results.front();
  const RequestCount times = best.requests.kv_preemptions;
  if (best.requests.arrived == 0 || holds_slo(best, c.slo)) return "";
  if (times * 1'000'000 / best.requests.arrived < kNotedKvPreemptionsPpm) return "";
  return fmt::format(
      "Under {}, engines had no room in KV memory {} and gave up what they had computed of a request. More GPUs "
      "for each replica (`tensor_parallel`) leave more room.",
      best.policy, count_text(times, "time", "times"));
}

/// Returns a note if the times of a trace are probably milliseconds that were read as seconds: its requests are far
/// apart, or it lasts for weeks.
std::string sparse_trace_note(const Comparison& c) {
  constexpr RequestCount kFewest = 100;  // a shorter trace may be of a test
  constexpr Duration kLongGap = std::chrono::seconds(10);
  constexpr Duration kLongTrace = std::chrono::days(14);
  const RunResult& best = c.results.front();
  if (!c.load.starts_with("trace ") || best.requests.arrived < kFewest) return "";
  const Duration gap = best.simulated / best.requests.arrived;
  if (gap < kLongGap && best.simulated <= kLongTrace) return "";
  return fmt::format(
      "The trace has {} in {}, one every {} on average. If its times are milliseconds, they were read as seconds: name "
      "the column of a CSV arrival_ms instead of arrival_s.",
      count_text(best.requests.arrived, "request", "requests"), time_text(best.simulated), time_text(gap));
}

/// Returns a note if the times of a CSV are probably seconds that were read as milliseconds: many requests a second
/// arrive, and after a few minutes none comes any more.
std::string dense_trace_note(const Comparison& c) {
  constexpr RequestCount kPerSecond = 20;  // replayed traffic with so many requests usually lasts longer
  constexpr std::int64_t kLongestMinutes = 5;
  const RunResult& best = c.results.front();
  if (!c.load.starts_with("trace ") || !c.load.contains(".csv")) return "";
  const auto last = std::ranges::find_if(best.minutes.rbegin(), best.minutes.rend(),
                                         [](const Minute& minute) { return minute.arrived > 0; });
  const auto minutes = static_cast<std::int64_t>(best.minutes.rend() - last);
  if (minutes == 0 || minutes > kLongestMinutes) return "";
  const RequestCount per_second = best.requests.arrived / (60 * minutes);
  if (per_second < kPerSecond) return "";
  return fmt::format(
      "All {} of the trace arrive within {}, at least {} a second on average. If its times are seconds in a column "
      "arrival_ms, they were read as milliseconds: name the column arrival_s.",
      count_text(best.requests.arrived, "request", "requests"), time_text(std::chrono::minutes(minutes)), per_second);
}

}  // namespace

std::vector<std::string> notes_on(const Comparison& c) {
  std::vector<std::string> notes = {sparse_trace_note(c), dense_trace_note(c), assumed_start_note(c),
                                    large_nodes_note(c),  empty_nodes_note(c), kv_memory_note(c)};
  std::erase(notes, "");
  return notes;
}

}  // namespace capstan::experiment
