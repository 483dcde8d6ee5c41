#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "experiment/compare.h"

// The users of a shared cluster in the text of its results: services, classes of jobs, queues and teams.
namespace capstan::experiment {

/// The rows of a table.
enum class TableRows : std::uint8_t {
  worst,  ///< at most `kMaxTableRows` rows: the worst ones, and a row with the sums of the others
  all,
};
inline constexpr std::size_t kMaxTableRows = 25;

/// Returns the tables of a policy's services, jobs, queues and teams, and what it misses. Empty for one service alone.
std::string service_table(const RunResult& result, std::size_t width, TableRows rows = TableRows::worst);

/// Returns the table of a policy's classes of jobs. Empty without jobs. The worst classes have the lowest share of jobs
/// in time, then the longest waits.
std::string job_table(const RunResult& result, TableRows rows = TableRows::worst);
/// Returns the table of a policy's queues. Empty without queues. The worst queues have the
/// highest peak of GPUs for which pods waited.
std::string queue_table(const RunResult& result, TableRows rows = TableRows::worst);
/// Returns the table of a policy's teams. Empty if the scenario names none. The worst teams have the highest cost.
std::string team_table(const RunResult& result, TableRows rows = TableRows::worst);

/// Returns "the SLO of 99.0 %" or "the SLOs of all 3 services", and the goals of jobs if there are any.
std::string slo_phrase(const Comparison& comparison);

/// Returns the services whose SLO the result misses, and the jobs whose goal it misses: "code (97.1 % met, 99.0 %
/// asked) and nightly (...)". Of many, it names three and counts the others.
std::string missed_services_words(const RunResult& result);

}  // namespace capstan::experiment
