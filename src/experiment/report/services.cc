#include "experiment/report/services.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/report/frontier.h"
#include "experiment/report/result_words.h"
#include "experiment/text/layout.h"
#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

constexpr std::size_t kMaxNames = 3;
constexpr std::size_t kMinUserName = 12;
constexpr std::size_t kMaxUserName = 40;

std::string percent(std::int64_t ppm) { return share_text(ppm); }

/// Returns a line of a table: a name, and cells to the right of it.
std::string row(const std::string& name, std::size_t name_width, std::span<const std::size_t> widths,
                const std::vector<std::string>& cells) {
  std::string line = "  " + pad_right(shortened_name(name, name_width), name_width);
  for (std::size_t i = 0; i < cells.size(); ++i) line += pad_left(cells[i], widths[i]);
  return line + "\n";
}

/// A table with a name in front of each row. The first row is the head.
struct NamedTable {
  std::vector<std::string> names{};
  std::vector<std::vector<std::string>> cells{};

  void add(std::string name, std::vector<std::string> row_cells) {
    names.push_back(std::move(name));
    cells.push_back(std::move(row_cells));
  }

  /// Returns the lines. A column has at least its width of `widths`, and two blanks before its longest cell.
  std::string text(std::size_t name_width, std::vector<std::size_t> widths) const {
    for (const std::vector<std::string>& row_cells : cells) {
      for (std::size_t i = 0; i < row_cells.size(); ++i) widths[i] = std::max(widths[i], columns(row_cells[i]) + 2);
    }
    std::string out;
    for (std::size_t i = 0; i < cells.size(); ++i) out += row(names[i], name_width, widths, cells[i]);
    return out;
  }
};

/// Returns the width of a column with the names of the rows.
template <typename Row>
std::size_t name_width(const std::vector<Row>& rows) {
  std::size_t width = kMinUserName;
  for (const Row& row : rows) width = std::max(width, columns(row.name));
  return std::min(width, kMaxUserName);
}

std::string share(std::optional<std::int64_t> ppm) { return ppm ? percent(*ppm) : "-"; }

std::string gpus(MilliGpu gpus) { return tenths(gpus.count, 1000); }

/// The rows that a table shows, and the other rows, of which it shows only the sums.
template <typename Row>
struct ChosenRows {
  std::vector<const Row*> shown;
  std::vector<const Row*> others;
};

/// Returns all rows in their order. If there are too many, shows only the worst rows, the worst first.
/// @param rank  lower for a worse row
template <typename Row, typename Rank>
ChosenRows<Row> choose_rows(const std::vector<Row>& all, TableRows rows, Rank rank) {
  ChosenRows<Row> out;
  for (const Row& figures : all) out.shown.push_back(&figures);
  if (rows == TableRows::all || all.size() <= kMaxTableRows) return out;
  const auto is_worse = [&](const Row* a, const Row* b) {
    const auto ranks = std::pair(rank(*a), rank(*b));
    return ranks.first != ranks.second ? ranks.first < ranks.second : a < b;
  };
  std::ranges::sort(out.shown, is_worse);
  const auto first_other = out.shown.begin() + static_cast<std::ptrdiff_t>(kMaxTableRows - 1);
  out.others.assign(first_other, out.shown.end());
  out.shown.erase(first_other, out.shown.end());
  return out;
}

template <typename Row, typename Value>
Value sum_of(const std::vector<const Row*>& rows, Value Row::* member) {
  Value sum{};
  for (const Row* row : rows) sum += row->*member;
  return sum;
}

/// Returns the name of the row with the sums of the other rows: "975 others".
template <typename Row>
std::string others_name(const std::vector<const Row*>& others) {
  return count_text(std::ssize(others), "other", "others");
}

/// Returns the cells of the services that a table does not show, as sums.
std::vector<std::string> other_services(const std::vector<const ServiceFigures*>& others, std::int64_t minutes) {
  RequestCount arrived = 0, met = 0;
  for (const ServiceFigures* service : others) {
    arrived += service->requests.arrived;
    met += service->requests.met;
  }
  return {arrived > 0 ? percent(met * 1'000'000 / arrived) : "-",
          "",
          "",
          "",
          tenths(sum_of(others, &ServiceFigures::ready_minutes) * 10 / minutes, 10),
          gpu_hours(sum_of(others, &ServiceFigures::gpu_ns)),
          usd(sum_of(others, &ServiceFigures::micro_usd))};
}

/// Returns the table of the services, with a row for the GPUs that no pod had.
std::string service_rows(const RunResult& result, TableRows rows) {
  NamedTable table;
  table.add("service", {"met", "asked", "TTFT p99", "TPOT p99", "ready", "GPU-h", "USD"});
  const auto minutes = static_cast<std::int64_t>(std::max<std::size_t>(result.minutes.size(), 1));
  const auto chosen = choose_rows(result.services, rows, [](const ServiceFigures& service) {
    const bool has_requests = service.requests.arrived > 0;
    return std::pair(has_requests ? service.attainment_ppm() - service.slo.attainment_ppm : 1'000'000,
                     -service.requests.arrived);
  });
  for (const ServiceFigures* shown : chosen.shown) {
    const ServiceFigures& service = *shown;
    const bool has_latency = service.requests.completed > 0;
    table.add(
        service.name,
        {service.requests.arrived > 0 ? percent(service.attainment_ppm()) : "-", percent(service.slo.attainment_ppm),
         has_latency ? seconds(service.ttft.p99_us) : "-", has_latency ? milliseconds(service.tpot.p99_us) : "-",
         tenths(service.ready_minutes * 10 / minutes, 10), gpu_hours(service.gpu_ns), usd(service.micro_usd)});
    for (const RoleFigures& role : service.roles) {
      table.add("  " + role.name(), {"", "", "", "", tenths(role.ready_minutes * 10 / minutes, 10)});
    }
  }
  if (!chosen.others.empty()) table.add(others_name(chosen.others), other_services(chosen.others, minutes));
  table.add("no pod", {"", "", "", "", "", gpu_hours(result.idle_node_gpu_ns), usd(result.idle_node_micro_usd)});
  return table.text(name_width(result.services), {10, 9, 10, 10, 9, 9, 11});
}

}  // namespace

std::string service_table(const RunResult& result, std::size_t width, TableRows rows) {
  if (!result.is_shared()) return "";
  std::string out = result.services.empty() ? "" : service_rows(result, rows);
  out += job_table(result, rows);
  out += queue_table(result, rows) + team_table(result, rows);
  if (out.starts_with('\n')) out.erase(0, 1);
  const std::string missed = missed_services_words(result);
  return missed.empty() ? out : out + wrapped("  ", result.policy + " misses " + missed, width);
}

namespace {

std::string ended_of(std::int64_t ended, std::int64_t arrived) {
  return grouped_text(ended) + "/" + grouped_text(arrived);
}

/// Returns the number of jobs that ended per simulated hour.
std::string per_hour(std::int64_t ended, const RunResult& result) {
  return result.simulated > Duration{} ? tenths(per_hour_milli(ended, result.simulated), 1000) : "-";
}

bool lost_work(const JobFigures& jobs) { return jobs.restarts > 0 || jobs.resized > 0 || jobs.lost_gpu_ns > 0; }

/// Returns the restarts and changes of width of the jobs, and the work that they lost. A class of jobs without any of
/// these has no row. Empty if no class has a row.
std::string lost_work_table(const RunResult& result, const ChosenRows<JobFigures>& chosen, std::size_t name) {
  if (std::ranges::none_of(result.jobs, lost_work)) return "";
  NamedTable table;
  table.add("lost work", {"restarts", "preempted", "resized", "lost GPU-h"});
  const auto cells = [](std::int64_t restarts, std::int64_t preempted, std::int64_t resized, GpuNanoseconds lost) {
    return std::vector<std::string>{grouped_text(restarts), grouped_text(preempted), grouped_text(resized),
                                    gpu_hours(lost)};
  };
  for (const JobFigures* jobs : chosen.shown) {
    if (!lost_work(*jobs)) continue;
    table.add(jobs->name, cells(jobs->restarts, jobs->preempted, jobs->resized, jobs->lost_gpu_ns));
  }
  if (const auto& others = chosen.others; !others.empty()) {
    table.add(others_name(others),
              cells(sum_of(others, &JobFigures::restarts), sum_of(others, &JobFigures::preempted),
                    sum_of(others, &JobFigures::resized), sum_of(others, &JobFigures::lost_gpu_ns)));
  }
  return "\n" + table.text(name, {10, 11, 9, 12});
}

}  // namespace

std::string job_table(const RunResult& result, TableRows rows) {
  if (result.jobs.empty()) return "";
  const std::size_t name = name_width(result.jobs);
  const auto chosen = choose_rows(result.jobs, rows, [](const JobFigures& jobs) {
    return std::pair(jobs.attainment_ppm().value_or(1'000'000), -jobs.wait_p99.count());
  });
  NamedTable table;
  table.add("jobs", {"in time", "asked", "wait p50", "wait p99", "ended", "per hour", "run GPU-h", "GPU-h", "USD"});
  for (const JobFigures* shown : chosen.shown) {
    const JobFigures& jobs = *shown;
    const auto wait = [&](Duration time) { return jobs.arrived > 0 ? clock(Instant{time}) : "-"; };
    table.add(jobs.name, {jobs.goal ? share(jobs.attainment_ppm()) : "-",
                          jobs.goal ? percent(jobs.goal->attainment_ppm) : "-", wait(jobs.wait_p50),
                          wait(jobs.wait_p99), ended_of(jobs.ended, jobs.arrived), per_hour(jobs.ended, result),
                          gpu_hours(jobs.computed_gpu_ns), gpu_hours(jobs.gpu_ns), usd(jobs.micro_usd)});
  }
  if (const auto& others = chosen.others; !others.empty()) {
    const std::int64_t ended = sum_of(others, &JobFigures::ended);
    table.add(others_name(others),
              {"", "", "", "", ended_of(ended, sum_of(others, &JobFigures::arrived)), per_hour(ended, result),
               gpu_hours(sum_of(others, &JobFigures::computed_gpu_ns)), gpu_hours(sum_of(others, &JobFigures::gpu_ns)),
               usd(sum_of(others, &JobFigures::micro_usd))});
  }
  if (result.services.empty()) {  // otherwise the table of the services has this row
    table.add("no pod",
              {"", "", "", "", "", "", "", gpu_hours(result.idle_node_gpu_ns), usd(result.idle_node_micro_usd)});
  }
  return "\n" + table.text(name, {10, 9, 10, 10, 9, 10, 11, 9, 11}) + lost_work_table(result, chosen, name);
}

std::string queue_table(const RunResult& result, TableRows rows) {
  if (result.queues.empty()) return "";
  const bool has_jobs = !result.jobs.empty();
  std::vector<std::string> head = {"limit", "held, mean", "held, peak", "GPUs waiting, peak", "GPU-h", "USD"};
  std::vector<std::size_t> widths = {9, 12, 12, 20, 9, 11};
  if (has_jobs) {
    head.insert(head.begin() + 4, "jobs waiting, peak");
    widths.insert(widths.begin() + 4, 20);
  }
  NamedTable table;
  table.add("queue", head);
  const auto minutes = static_cast<std::int64_t>(std::max<std::size_t>(result.minutes.size(), 1));
  const auto chosen = choose_rows(result.queues, rows, [](const QueueFigures& queue) {
    return std::pair(-queue.waiting_peak.count, -queue.micro_usd);
  });
  for (const QueueFigures* shown : chosen.shown) {
    const QueueFigures& queue = *shown;
    std::vector<std::string> cells = {queue.limit ? gpus(*queue.limit) : "-",
                                      gpus(MilliGpu{queue.held_minutes.count / minutes}),
                                      gpus(queue.held_peak),
                                      gpus(queue.waiting_peak),
                                      gpu_hours(queue.gpu_ns),
                                      usd(queue.micro_usd)};
    if (has_jobs) cells.insert(cells.begin() + 4, grouped_text(queue.jobs_waiting_peak));
    table.add(queue.name, std::move(cells));
  }
  // The row of the other queues has no sums: a queue counts the GPUs of the queues below it, so a sum would count them
  // twice.
  if (!chosen.others.empty()) table.add(others_name(chosen.others), {});
  return "\n" + table.text(name_width(result.queues), std::move(widths));
}

std::string team_table(const RunResult& result, TableRows rows) {
  if (result.teams.empty()) return "";
  NamedTable table;
  table.add("team", {"requests", "met", "jobs ended", "GPU-h", "USD"});
  const auto add = [&](std::string name, const TeamFigures& team) {
    table.add(std::move(name), {team.arrived > 0 ? grouped_text(team.arrived) : "-",
                                team.arrived > 0 ? percent(team.met * 1'000'000 / team.arrived) : "-",
                                team.jobs_arrived > 0 ? ended_of(team.jobs_ended, team.jobs_arrived) : "-",
                                gpu_hours(team.gpu_ns), usd(team.micro_usd)});
  };
  const auto chosen = choose_rows(result.teams, rows, [](const TeamFigures& team) { return -team.micro_usd; });
  for (const TeamFigures* team : chosen.shown) add(team->name.empty() ? "no team" : team->name, *team);
  if (const auto& others = chosen.others; !others.empty()) {
    add(others_name(others), {.name = {},
                              .arrived = sum_of(others, &TeamFigures::arrived),
                              .met = sum_of(others, &TeamFigures::met),
                              .jobs_arrived = sum_of(others, &TeamFigures::jobs_arrived),
                              .jobs_ended = sum_of(others, &TeamFigures::jobs_ended),
                              .gpu_ns = sum_of(others, &TeamFigures::gpu_ns),
                              .micro_usd = sum_of(others, &TeamFigures::micro_usd)});
  }
  table.add("no pod", {"", "", "", gpu_hours(result.idle_node_gpu_ns), usd(result.idle_node_micro_usd)});
  return "\n" + table.text(name_width(result.teams), {12, 10, 14, 9, 11});
}

std::string slo_phrase(const Comparison& c) {
  const RunResult& any = c.results.front();
  const std::size_t services = any.services.size();
  const std::string slo = services > 2
                              ? fmt::format("the SLOs of all {} services", grouped_text(std::ssize(any.services)))
                          : services == 2 ? "the SLOs of both services"
                                          : fmt::format("the SLO of {}", percent(c.slo.attainment_ppm));
  const bool has_goals = std::ranges::any_of(any.jobs, [](const JobFigures& jobs) { return jobs.goal.has_value(); });
  return has_goals ? slo + " and the goals of the jobs" : slo;
}

std::string missed_services_words(const RunResult& result) {
  struct Missed {
    std::int64_t distance_ppm;  ///< share that was met minus the share that was asked, millionths
    std::string words;
  };
  std::vector<Missed> missed;
  for (const ServiceFigures& service : result.services) {
    if (service.holds_slo()) continue;
    missed.push_back({service.attainment_ppm() - service.slo.attainment_ppm,
                      fmt::format("{} ({} met, {} asked)", service.name, percent(service.attainment_ppm()),
                                  percent(service.slo.attainment_ppm))});
  }
  for (const JobFigures& jobs : result.jobs) {
    if (jobs.holds_goal()) continue;
    missed.push_back({jobs.attainment_ppm().value_or(0) - jobs.goal->attainment_ppm,
                      fmt::format("{} ({} in time, {} asked)", jobs.name, share(jobs.attainment_ppm()),
                                  percent(jobs.goal->attainment_ppm))});
  }
  std::ranges::stable_sort(missed, {}, &Missed::distance_ppm);
  std::string words;
  const std::size_t named = std::min(missed.size(), kMaxNames);
  for (std::size_t i = 0; i < named; ++i) {
    const bool is_last = i + 1 == missed.size();
    words += (i == 0 ? "" : is_last ? " and " : ", ") + missed[i].words;
  }
  if (missed.size() > named) words += fmt::format(" and {} more", missed.size() - named);
  return words;
}

}  // namespace capstan::experiment
