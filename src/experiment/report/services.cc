#include "experiment/report/services.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "experiment/report/result_words.h"
#include "experiment/text/layout.h"
#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

constexpr std::int64_t kPoint = 10'000;  // millionths
constexpr std::size_t kNamesMost = 3;
constexpr std::size_t kUserNameLeast = 12;
constexpr std::size_t kUserNameMost = 40;

std::string percent(std::int64_t ppm) { return tenths(ppm, kPoint) + " %"; }

/// Returns a line of a table: a name, and cells to the right of it.
std::string row(const std::string& name, std::size_t name_width, std::span<const std::size_t> widths,
                const std::vector<std::string>& cells) {
  std::string line = "  " + pad_right(shortened(name, name_width), name_width);
  for (std::size_t i = 0; i < cells.size(); ++i) line += pad_left(cells[i], widths[i]);
  return line + "\n";
}

/// Returns the width of a column with the names of the rows.
template <typename Row>
std::size_t name_width(const std::vector<Row>& rows) {
  std::size_t width = kUserNameLeast;
  for (const Row& each : rows) width = std::max(width, columns(each.name));
  return std::min(width, kUserNameMost);
}

std::string share(std::optional<std::int64_t> ppm) { return ppm ? percent(*ppm) : "-"; }

std::string gpus(MilliGpu gpus) { return tenths(gpus.count, 1000); }

/// The rows that a table shows, and the ones whose sums it shows.
template <typename Row>
struct ChosenRows {
  std::vector<const Row*> shown;
  std::vector<const Row*> others;
};

/// Returns all rows in their order, or of too many the worst ones first.
/// @param rank  lower for a worse row
template <typename Row, typename Rank>
ChosenRows<Row> choose_rows(const std::vector<Row>& all, TableRows rows, Rank rank) {
  ChosenRows<Row> out;
  for (const Row& each : all) out.shown.push_back(&each);
  if (rows == TableRows::all || all.size() <= kTableRowsMost) return out;
  const auto is_worse = [&](const Row* a, const Row* b) {
    const auto ranks = std::pair(rank(*a), rank(*b));
    return ranks.first != ranks.second ? ranks.first < ranks.second : a < b;
  };
  std::ranges::sort(out.shown, is_worse);
  const auto first_other = out.shown.begin() + static_cast<std::ptrdiff_t>(kTableRowsMost - 1);
  out.others.assign(first_other, out.shown.end());
  out.shown.erase(first_other, out.shown.end());
  return out;
}

template <typename Row, typename Value>
Value sum_of(const std::vector<const Row*>& rows, Value Row::* member) {
  Value sum{};
  for (const Row* each : rows) sum += each->*member;
  return sum;
}

/// Returns the name of the row with the sums of the other rows: "975 others".
template <typename Row>
std::string others_name(const std::vector<const Row*>& others) {
  return counted(std::ssize(others), "other", "others");
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

}  // namespace

std::string service_table(const RunResult& result, std::size_t width, TableRows rows) {
  if (result.services.empty()) return "";
  static constexpr std::size_t kWidths[] = {10, 9, 10, 10, 9, 9, 11};
  const std::size_t name = name_width(result.services);
  std::string out = row("service", name, kWidths, {"met", "asked", "TTFT p99", "TPOT p99", "ready", "GPU-h", "USD"});
  const auto minutes = static_cast<std::int64_t>(std::max<std::size_t>(result.minutes.size(), 1));
  const auto chosen = choose_rows(result.services, rows, [](const ServiceFigures& service) {
    const bool has_requests = service.requests.arrived > 0;
    return std::pair(has_requests ? service.attainment_ppm() - service.slo.attainment_ppm : 1'000'000,
                     -service.requests.arrived);
  });
  for (const ServiceFigures* each : chosen.shown) {
    const ServiceFigures& service = *each;
    const bool has_latency = service.requests.completed > 0;
    out += row(
        service.name, name, kWidths,
        {service.requests.arrived > 0 ? percent(service.attainment_ppm()) : "-", percent(service.slo.attainment_ppm),
         has_latency ? seconds(service.ttft.p99_us) : "-", has_latency ? milliseconds(service.tpot.p99_us) : "-",
         tenths(service.ready_minutes * 10 / minutes, 10), gpu_hours(service.gpu_ns), usd(service.micro_usd)});
  }
  if (!chosen.others.empty()) {
    out += row(others_name(chosen.others), name, kWidths, other_services(chosen.others, minutes));
  }
  out += row("no pod", name, kWidths,
             {"", "", "", "", "", gpu_hours(result.idle_node_gpu_ns), usd(result.idle_node_micro_usd)});
  out += job_table(result, rows) + queue_table(result, rows) + team_table(result, rows);
  const std::string missed = missed_services_words(result);
  return missed.empty() ? out : out + wrapped("  ", result.policy + " misses " + missed, width);
}

std::string job_table(const RunResult& result, TableRows rows) {
  if (result.jobs.empty()) return "";
  static constexpr std::size_t kWidths[] = {10, 9, 10, 10, 9, 9, 11, 10, 11, 13};
  const bool has_restarts = std::ranges::any_of(result.jobs, [](const JobFigures& jobs) { return jobs.restarts > 0; });
  const std::size_t name = name_width(result.jobs);
  std::vector<std::string> head = {"in time", "asked", "wait p50", "wait p99", "ended", "GPU-h", "USD"};
  if (has_restarts) head.insert(head.end(), {"restarts", "preempted", "lost GPU-h"});
  std::string out = "\n" + row("jobs", name, kWidths, head);
  const auto chosen = choose_rows(result.jobs, rows, [](const JobFigures& jobs) {
    return std::pair(jobs.attainment_ppm().value_or(1'000'000), -jobs.wait_p99.count());
  });
  for (const JobFigures* each : chosen.shown) {
    const JobFigures& jobs = *each;
    std::vector<std::string> cells = {jobs.goal ? share(jobs.attainment_ppm()) : "-",
                                      jobs.goal ? percent(jobs.goal->attainment_ppm) : "-",
                                      clock(Instant{jobs.wait_p50}),
                                      clock(Instant{jobs.wait_p99}),
                                      fmt::format("{}/{}", jobs.ended, jobs.arrived),
                                      gpu_hours(jobs.gpu_ns),
                                      usd(jobs.micro_usd)};
    if (has_restarts)
      cells.insert(cells.end(),
                   {grouped_text(jobs.restarts), grouped_text(jobs.preempted), gpu_hours(jobs.lost_gpu_ns)});
    out += row(jobs.name, name, kWidths, cells);
  }
  if (chosen.others.empty()) return out;
  std::vector<std::string> sums = {
      "",
      "",
      "",
      "",
      fmt::format("{}/{}", sum_of(chosen.others, &JobFigures::ended), sum_of(chosen.others, &JobFigures::arrived)),
      gpu_hours(sum_of(chosen.others, &JobFigures::gpu_ns)),
      usd(sum_of(chosen.others, &JobFigures::micro_usd))};
  if (has_restarts) {
    sums.push_back(grouped_text(sum_of(chosen.others, &JobFigures::restarts)));
    sums.push_back(grouped_text(sum_of(chosen.others, &JobFigures::preempted)));
    sums.push_back(gpu_hours(sum_of(chosen.others, &JobFigures::lost_gpu_ns)));
  }
  return out + row(others_name(chosen.others), name, kWidths, sums);
}

std::string queue_table(const RunResult& result, TableRows rows) {
  if (result.queues.empty()) return "";
  static constexpr std::size_t kWidths[] = {10, 9, 10, 19, 19, 9, 11};
  static constexpr std::size_t kWidthsWithoutJobs[] = {10, 9, 10, 19, 9, 11};
  const std::span<const std::size_t> widths =
      result.jobs.empty() ? std::span<const std::size_t>(kWidthsWithoutJobs) : std::span<const std::size_t>(kWidths);
  const std::size_t name = name_width(result.queues);
  std::vector<std::string> head = {"limit", "mean", "peak", "GPUs waiting, peak", "GPU-h", "USD"};
  if (!result.jobs.empty()) head.insert(head.begin() + 4, "jobs waiting, peak");
  std::string out = "\n" + row("queue", name, widths, head);
  const auto minutes = static_cast<std::int64_t>(std::max<std::size_t>(result.minutes.size(), 1));
  const auto chosen = choose_rows(result.queues, rows, [](const QueueFigures& queue) {
    return std::pair(-queue.waiting_peak.count, -queue.micro_usd);
  });
  for (const QueueFigures* each : chosen.shown) {
    const QueueFigures& queue = *each;
    std::vector<std::string> cells = {queue.limit ? gpus(*queue.limit) : "-",
                                      gpus(MilliGpu{queue.held_minutes.count / minutes}),
                                      gpus(queue.held_peak),
                                      gpus(queue.waiting_peak),
                                      gpu_hours(queue.gpu_ns),
                                      usd(queue.micro_usd)};
    if (!result.jobs.empty()) cells.insert(cells.begin() + 4, grouped_text(queue.jobs_waiting_peak));
    out += row(queue.name, name, widths, cells);
  }
  // A queue counts the GPUs of the queues below it, so that a sum would count them twice.
  if (!chosen.others.empty()) out += row(others_name(chosen.others), name, {}, {});
  return out;
}

std::string team_table(const RunResult& result, TableRows rows) {
  if (result.teams.empty()) return "";
  static constexpr std::size_t kWidths[] = {14, 14, 12, 9, 11};
  const std::size_t name = name_width(result.teams);
  std::string out = "\n" + row("team", name, kWidths, {"requests", "met", "jobs ended", "GPU-h", "USD"});
  const auto chosen = choose_rows(result.teams, rows, [](const TeamFigures& team) { return -team.micro_usd; });
  for (const TeamFigures* each : chosen.shown) {
    const TeamFigures& team = *each;
    out += row(team.name.empty() ? "no team" : team.name, name, kWidths,
               {grouped_text(team.arrived), grouped_text(team.met),
                team.jobs_arrived > 0 ? fmt::format("{}/{}", team.jobs_ended, team.jobs_arrived) : "-",
                gpu_hours(team.gpu_ns), usd(team.micro_usd)});
  }
  if (!chosen.others.empty()) {
    const auto& others = chosen.others;
    out +=
        row(others_name(others), name, kWidths,
            {grouped_text(sum_of(others, &TeamFigures::arrived)), grouped_text(sum_of(others, &TeamFigures::met)),
             fmt::format("{}/{}", sum_of(others, &TeamFigures::jobs_ended), sum_of(others, &TeamFigures::jobs_arrived)),
             gpu_hours(sum_of(others, &TeamFigures::gpu_ns)), usd(sum_of(others, &TeamFigures::micro_usd))});
  }
  return out + row("no pod", name, kWidths,
                   {"", "", "", gpu_hours(result.idle_node_gpu_ns), usd(result.idle_node_micro_usd)});
}

std::string slo_phrase(const Comparison& c) {
  const RunResult& any = c.results.front();
  const std::size_t services = any.services.size();
  const std::string slo = services > 2    ? fmt::format("the SLOs of all {} services", services)
                          : services == 2 ? "the SLOs of both services"
                                          : fmt::format("the SLO of {}", percent(c.slo.attainment_ppm));
  const bool has_goals = std::ranges::any_of(any.jobs, [](const JobFigures& jobs) { return jobs.goal.has_value(); });
  return has_goals ? slo + " and the goals of the jobs" : slo;
}

std::string missed_services_words(const RunResult& result) {
  std::vector<std::string> missed;
  for (const ServiceFigures& service : result.services) {
    if (service.holds_slo()) continue;
    missed.push_back(fmt::format("{} ({} met, {} asked)", service.name, percent(service.attainment_ppm()),
                                 percent(service.slo.attainment_ppm)));
  }
  for (const JobFigures& jobs : result.jobs) {
    if (jobs.holds_goal()) continue;
    missed.push_back(fmt::format("{} ({} in time, {} asked)", jobs.name, share(jobs.attainment_ppm()),
                                 percent(jobs.goal->attainment_ppm)));
  }
  std::string words;
  const std::size_t named = std::min(missed.size(), kNamesMost);
  for (std::size_t i = 0; i < named; ++i) {
    const bool is_last = i + 1 == missed.size();
    words += (i == 0 ? "" : is_last ? " and " : ", ") + missed[i];
  }
  if (missed.size() > named) words += fmt::format(" and {} more", missed.size() - named);
  return words;
}

}  // namespace capstan::experiment
