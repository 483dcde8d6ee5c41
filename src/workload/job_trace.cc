#include "workload/job_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/split.h"
#include "workload/line_reader.h"
#include "workload/scan.h"
#include "workload/trace.h"

namespace capstan::workload {
namespace {

enum JobColumn : std::uint8_t {
  num_gpu,
  gpu_milli,
  creation_time,
  deletion_time,
  scheduled_time,
  cpu_milli,
  memory_mib,
  gpu_spec,
};
constexpr std::array<std::string_view, 8> kNames = {"num_gpu",        "gpu_milli", "creation_time", "deletion_time",
                                                    "scheduled_time", "cpu_milli", "memory_mib",    "gpu_spec"};
constexpr std::size_t kRequired = 5;  ///< columns that a trace must have: the first ones
constexpr std::int64_t kMaxGpus = 1024;
constexpr std::int64_t kMaxAmount = 1'000'000'000;  ///< largest CPU (milli-CPUs) or memory (MiB) of a row
constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

/// Reads the rows of a trace whose header was read.
class JobRows {
 public:
  JobRows(LineReader lines, std::array<std::size_t, kNames.size()> columns, std::size_t width)
      : lines_(std::move(lines)), columns_(columns), width_(width) {}

  /// Reads all rows and keeps the jobs of the part.
  Result<std::vector<JobArrival>> read(const JobTracePart& part) {
    std::vector<JobArrival> jobs;
    bool has_rows = false;
    for (std::string_view line; lines_.next(line); has_rows = true) {
      const std::optional<JobArrival> job = row(line);
      if (!job && lines_.error()) break;
      if (job && job->at >= Instant{part.from} && job->at - Instant{part.from} < part.length) {
        jobs.push_back(*job);
        jobs.back().at = Instant{job->at - Instant{part.from}};
      }
    }
    if (!lines_.error() && !has_rows) lines_.fail(1, std::string(kNoTraceRows));
    if (lines_.error()) return std::unexpected(*lines_.error());
    std::ranges::stable_sort(jobs, {}, &JobArrival::at);
    return jobs;
  }

 private:
  /// Returns the job of a row. Returns none if the row asks for no GPU, or if it is wrong; `lines_` then has the error.
  std::optional<JobArrival> row(std::string_view line) {
    const std::vector<std::string_view> cells = split(line, ',');
    if (cells.size() != width_) {
      lines_.fail(1, fmt::format("the row has {} columns, expected {} as in the header", cells.size(), width_));
      return std::nullopt;
    }
    const auto gpus = whole(line, cells, num_gpu, kMaxGpus);
    const auto share = whole(line, cells, gpu_milli, 1000);
    const auto created = time(line, cells, creation_time);
    const auto deleted = time(line, cells, deletion_time);
    const bool was_scheduled = !cells[columns_[scheduled_time]].empty();
    const auto scheduled = was_scheduled ? time(line, cells, scheduled_time) : created;
    const auto cpu = amount(line, cells, cpu_milli);
    const auto memory = amount(line, cells, memory_mib);
    if (!gpus || !share || !created || !deleted || !scheduled || !cpu || !memory) return std::nullopt;
    if (*deleted < *scheduled) {
      lines_.fail(column_of(line, cells, columns_[deletion_time]),
                  "deletion_time is before the start of the task, expected a later time");
      return std::nullopt;
    }
    const MilliGpu asked = *gpus == 1 ? MilliGpu{*share} : whole_gpus(*gpus);
    if (asked == MilliGpu{}) return std::nullopt;
    return JobArrival{.at = Instant{*created},
                      .pods = 1,
                      .gpus_per_pod = asked,
                      .work = std::max<Duration>(*deleted - *scheduled, std::chrono::seconds(1)),
                      .cpu_milli = *cpu,
                      .memory_mib = *memory,
                      .gpus = kinds(cells)};
  }

  /// Returns the amount in a column; 0 if the trace lacks the column.
  std::optional<std::int64_t> amount(std::string_view line, const std::vector<std::string_view>& cells,
                                     JobColumn column) {
    return columns_[column] == kAbsent ? 0 : whole(line, cells, column, kMaxAmount);
  }

  std::vector<std::string> kinds(const std::vector<std::string_view>& cells) const {
    std::vector<std::string> names;
    if (columns_[gpu_spec] == kAbsent) return names;
    for (const std::string_view name : split(cells[columns_[gpu_spec]], '|')) {
      if (!name.empty()) names.emplace_back(name);
    }
    return names;
  }

  static std::size_t column_of(std::string_view line, const std::vector<std::string_view>& cells, std::size_t cell) {
    return static_cast<std::size_t>(cells[cell].data() - line.data()) + 1;
  }

  /// Reports a wrong value of a column.
  std::nullopt_t wrong(std::string_view line, const std::vector<std::string_view>& cells, JobColumn column,
                       const std::string& expected) {
    const std::size_t cell = columns_[column];
    if (!lines_.error()) {
      lines_.fail(column_of(line, cells, cell),
                  fmt::format("{} is '{}', expected {}", kNames[column], printable(cells[cell]), expected));
    }
    return std::nullopt;
  }

  std::optional<std::int64_t> whole(std::string_view line, const std::vector<std::string_view>& cells, JobColumn column,
                                    std::int64_t most) {
    const std::string_view text = cells[columns_[column]];
    Cursor cursor{text.data(), text.data() + text.size()};
    std::int64_t value = 0;
    if (scan_whole(cursor, most, value) && cursor.done()) return value;
    return wrong(line, cells, column, fmt::format("a whole number from 0 to {}", most));
  }

  std::optional<Duration> time(std::string_view line, const std::vector<std::string_view>& cells, JobColumn column) {
    const std::string_view text = cells[columns_[column]];
    Cursor cursor{text.data(), text.data() + text.size()};
    Duration value{};
    if (scan_time(cursor, 9, value) && cursor.done()) return value;
    return wrong(line, cells, column, fmt::format("seconds from 0 to {}", kMaxSeconds));
  }

  LineReader lines_;
  std::array<std::size_t, kNames.size()> columns_;  ///< position of each column in a row
  std::size_t width_;                               ///< columns of a row
};

}  // namespace

Result<std::vector<JobArrival>> read_job_trace(std::unique_ptr<ByteStream> bytes, const JobTracePart& part) {
  LineReader lines(std::move(bytes));
  std::string_view header;
  if (!lines.next(header)) {
    if (!lines.error()) lines.fail(1, "the trace is empty, expected a header and rows");
    return std::unexpected(*lines.error());
  }
  const std::vector<std::string_view> names = split(header, ',');
  std::array<std::size_t, kNames.size()> columns{};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto found = std::ranges::find(names, kNames[i]);
    columns[i] = found == names.end() ? kAbsent : static_cast<std::size_t>(found - names.begin());
    if (i >= kRequired || columns[i] != kAbsent) continue;
    lines.fail(1, fmt::format("the header has no column '{}', expected the header of a trace of jobs: {}", kNames[i],
                              fmt::join(std::span(kNames).first(kRequired), ", ")));
    return std::unexpected(*lines.error());
  }
  return JobRows(std::move(lines), columns, names.size()).read(part);
}

}  // namespace capstan::workload
