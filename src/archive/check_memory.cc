#include "archive/check_memory.h"

#include "archive/rows.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::archive {
namespace {

class Checker {
 public:
  explicit Checker(const model::Catalog& catalog) : catalog_(catalog) {}

  void scale(const decide::scale::Memory& memory) {
    for (const auto& answer : memory.recommendations) change("scale answer", answer.at, answer.replicas);
    for (const auto& up : memory.ups) change("scale up", up.at, up.replicas);
    for (const auto& down : memory.downs) change("scale down", down.at, down.replicas);
    if (memory.capstan) capstan(*memory.capstan);
  }

  void capstan(const decide::scale::CapstanMemory& memory) {
    for (Instant at : {memory.since, memory.at, memory.last_used, memory.gateway_at}) moment("scale seen", at);
    for (Duration span : {memory.observed, memory.corrected, memory.block, memory.idle_observed}) {
      number("scale learned for", span.count(), kMaxSpan);
    }
    number("scale missed", memory.missed_when_idle_ppm, 1'000'000);
    for (const auto& row : memory.counters) moment("scale counters", row.measured_at);
    for (const auto& row : memory.forecasts) moment("scale forecast", row.due);
    for (const auto& row : memory.need_peaks) moment("scale need", row.at);
    for (const Duration lead : memory.leads) number("scale lead", lead.count(), kMaxSpan);
    moment("scale denied until", memory.denied_until);
    for (const auto& other : memory.alternatives) {
      moment("scale denied until", other.denied_until);
      number("scale learned for", other.corrected.count(), kMaxSpan);
      number("scale rows", std::ssize(other.leads), decide::scale::CapstanMemory::kMaxLeads);
      for (const Duration lead : other.leads) number("scale lead", lead.count(), kMaxSpan);
    }
    number("scale variants", std::ssize(memory.alternatives), model::Service::kMaxAlternatives);
    const auto max_rows = static_cast<std::int64_t>(decide::scale::CapstanMemory::kMaxReplicas);
    for (std::size_t rows : {memory.counters.size(), memory.starting.size(), memory.forecasts.size(),
                             memory.need_peaks.size(), memory.leads.size()}) {
      number("scale rows", static_cast<std::int64_t>(rows), max_rows);
    }
  }

  void place(const decide::place::Memory& memory) {
    for (const auto& row : memory.assumed) {
      number("assumed GPUs", row.gpus.count, kMaxGpus);
      moment("assumed until", row.until);
    }
    for (const auto& row : memory.broken) moment("broken since", row.since);
  }

  void provision(const decide::provision::Memory& memory) {
    for (Instant at : {memory.last_scan, memory.last_consolidation, memory.batch_first, memory.batch_last}) {
      moment("last scan", at);
    }
    for (const auto& row : memory.pending_launches) {
      exists("asked pool", row.pool, catalog_.pools);
      exists("asked offering", row.offering, catalog_.offerings);
      if (row.domain.valid()) exists("asked domain", row.domain, catalog_.domains);
      number("asked count", row.count, kMaxGroupSize);
      number("asked hold", row.hold.count(), kMaxSpan);
      moment("asked at", row.at);
    }
    for (const auto& row : memory.groups) {
      exists("group offering", row.offering, catalog_.offerings);
      number("group count", row.count, kMaxGroupSize);
      for (Instant at : {row.requested_at, row.until, row.released_at}) moment("group", at);
    }
    for (const auto& row : memory.backoffs) {
      exists("back-off offering", row.offering, catalog_.offerings);
      number("back-off failures", row.failures, kMaxGroupSize);
      for (Instant at : {row.failed_at, row.until}) moment("back-off", at);
    }
    for (const auto& row : memory.stable_pods) moment("quiet since", row.since);
    for (const auto& row : memory.terminating) moment("terminating at", row.at);
    for (const auto& row : memory.replacements) {
      exists("replacing pool", row.pool, catalog_.pools);
      exists("replacing offering", row.offering, catalog_.offerings);
      moment("replacing at", row.at);
    }
  }

  /// @param now  time of the snapshot
  void planned(const model::PlannedGang& row, Instant now) {
    moment("planned at", row.decided_at);
    if (row.decided_at > now) fail("planned at", "is after at_ns, expected at_ns or earlier");
  }

  std::optional<std::string> take() { return std::move(fault_); }

 private:
  template <typename IdType, typename Rows>
  void exists(const char* name, IdType id, const Rows& rows) {
    if (id.value >= rows.size()) fail(name, "is " + std::to_string(id.value) + ", which is not in the catalog");
  }
  void number(const char* name, std::int64_t value, std::int64_t max) {
    if (value < 0 || value > max) {
      fail(name, "is " + std::to_string(value) + ", expected 0 to " + std::to_string(max));
    }
  }
  void moment(const char* name, Instant at) {
    if (!at.is_never()) number(name, at.since_start.count(), kMaxTime);
  }
  void change(const char* name, Instant at, ReplicaCount replicas) {
    moment(name, at);
    number(name, replicas, kMaxReplicas);
  }
  void fail(const char* name, const std::string& message) {
    if (!fault_) fault_ = std::string(name) + " " + message;
  }

  const model::Catalog& catalog_;
  std::optional<std::string> fault_;
};

}  // namespace

std::optional<std::string> find_fault(const control::Memory& memory, const model::Snapshot& snapshot) {
  Checker checker(*snapshot.catalog);
  for (const decide::scale::Memory& scale_memory : memory.scale) checker.scale(scale_memory);
  checker.place(memory.place);
  checker.provision(memory.provision);
  for (const model::PlannedGang& row : memory.planned) checker.planned(row, snapshot.at);
  return checker.take();
}

}  // namespace capstan::archive
