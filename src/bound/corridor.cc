#include "bound/corridor.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"

namespace capstan::bound {
namespace {

std::size_t bin_of(Instant at, Duration bin) { return static_cast<std::size_t>(at.since_start / bin); }

/// Returns the first bin whose end is at or after the deadline.
std::size_t bin_of_deadline(Instant due, Duration bin) {
  const auto ends = static_cast<std::size_t>((due.since_start + bin - Duration{1}) / bin);
  return ends == 0 ? 0 : ends - 1;
}

/// Divides the jobs of one bin into classes of doubling size: the heaviest job, the next two, the next four, and so on.
/// The heaviest jobs are in the smallest classes, so their work is rounded up least. Empties `works`.
void add_classes(std::vector<double>& works, std::size_t bin, std::vector<DropClass>& classes) {
  std::ranges::sort(works, std::greater{});
  std::size_t size = 1;
  for (std::size_t from = 0; from < works.size(); from += size, size *= 2) {
    const std::size_t jobs = std::min(size, works.size() - from);
    classes.push_back({bin, works[from], static_cast<RequestCount>(jobs)});
  }
  works.clear();
}

}  // namespace

Corridor corridor(std::span<const Job> jobs, Duration least, std::size_t most_bins) {
  CAPSTAN_ASSERT(least > Duration{} && most_bins >= 1);
  Corridor corridor;
  Instant end{};
  for (const Job& job : jobs) end = std::max({end, job.due, job.prefill_due, job.release});
  const Duration needed{ceil_div(end.since_start.count() + 1, static_cast<std::int64_t>(most_bins))};
  corridor.bin = std::max(least, needed);
  const std::size_t bins = bin_of(end, corridor.bin) + 1;
  corridor.released_s.assign(bins, 0);
  corridor.due_s.assign(bins, 0);
  std::vector<std::vector<double>> by_release(bins);
  for (const Job& job : jobs) {
    const std::size_t release = bin_of(job.release, corridor.bin);
    corridor.released_s[release] += job.work_s();
    corridor.due_s[std::max(release, bin_of_deadline(job.prefill_due, corridor.bin))] += job.prefill_s;
    corridor.due_s[std::max(release, bin_of_deadline(job.due, corridor.bin))] += job.decode_s;
    by_release[release].push_back(job.work_s());
  }
  for (std::size_t i = 0; i < bins; ++i) add_classes(by_release[i], i, corridor.drops);
  for (std::size_t i = 1; i < bins; ++i) {
    corridor.released_s[i] += corridor.released_s[i - 1];
    corridor.due_s[i] += corridor.due_s[i - 1];
    // Both sums add the same work in different orders. Rounding must not put the lower limit above the upper one.
    corridor.due_s[i] = std::min(corridor.due_s[i], corridor.released_s[i]);
  }
  return corridor;
}

}  // namespace capstan::bound
