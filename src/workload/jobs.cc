#include "workload/jobs.h"

#include <algorithm>
#include <optional>

#include "base/assert.h"
#include "base/random.h"
#include "workload/arrivals.h"

namespace capstan::workload {
namespace {

/// Draws the sizes and the computing times of jobs.
class JobDraws {
 public:
  JobDraws(const JobLoad& load, std::uint64_t seed)
      : load_(load), sizes_(seed, "jobs.sizes"), work_(seed, "jobs.work") {
    for (const JobSize& size : load.sizes) weight_ += size.weight;
    CAPSTAN_ASSERT(weight_ > 0);
  }

  JobArrival next(Instant at) {
    const JobSize& size = draw_size();
    return {.at = at,
            .pods = size.pods,
            .gpus_per_pod = whole_gpus(size.gpus_per_pod),
            .work = draw_work(),
            .min_pods = size.min_pods};
  }

 private:
  const JobSize& draw_size() {
    auto left = static_cast<std::int64_t>(sizes_.below(static_cast<std::uint64_t>(weight_)));
    for (const JobSize& size : load_.sizes) {
      if (left < size.weight) return size;
      left -= size.weight;
    }
    return load_.sizes.back();
  }

  Duration draw_work() {
    const JobWork& work = load_.work;
    if (work.sigma <= 0) return std::clamp(work.median, work.least, work.most);
    const double ns = work_.log_normal(static_cast<double>(work.median.count()), work.sigma);
    const auto most = static_cast<double>(work.most.count());
    const Duration drawn = ns >= most ? work.most : Duration(static_cast<std::int64_t>(ns));
    return std::clamp(drawn, work.least, work.most);
  }

  const JobLoad& load_;
  RandomStream sizes_;
  RandomStream work_;
  std::int64_t weight_ = 0;
};

RateCurve curve_of(const JobRate& rate) {
  RateCurve curve;
  curve.rate = rate.per_hour / 3600;
  if (rate.peak_per_hour <= rate.per_hour) return curve;
  curve.kind = RateCurve::Kind::diurnal;
  curve.peak = rate.peak_per_hour / 3600;
  curve.period = std::chrono::hours(24);
  curve.start = rate.peak_at;
  return curve;
}

/// Returns the moments at which jobs arrive, in order.
std::vector<Instant> arrivals_of(const JobLoad& load, std::uint64_t seed) {
  std::vector<Instant> moments;
  const JobBatches& batches = load.batches;
  for (Duration at = batches.at; at < load.until && batches.count > 0; at += batches.interval) {
    moments.insert(moments.end(), static_cast<std::size_t>(batches.count), Instant{at});
    if (batches.interval <= Duration{}) break;
  }
  if (std::max(load.rate.per_hour, load.rate.peak_per_hour) > 0) {
    Arrivals arrivals(curve_of(load.rate), {}, 1, seed);
    while (const std::optional<Instant> next = arrivals.next(load.until)) moments.push_back(*next);
  }
  std::ranges::sort(moments);
  return moments;
}

}  // namespace

double expected_jobs(const JobLoad& load) {
  const JobBatches& batches = load.batches;
  double batch_count = batches.count > 0 && batches.at < load.until ? 1 : 0;
  if (batch_count > 0 && batches.interval > Duration{}) {
    batch_count += static_cast<double>((load.until - batches.at - Duration(1)) / batches.interval);
  }
  const double per_hour = (load.rate.per_hour + std::max(load.rate.per_hour, load.rate.peak_per_hour)) / 2;
  const double hours = std::chrono::duration<double, std::ratio<3600>>(load.until).count();
  return batch_count * static_cast<double>(batches.count) + per_hour * hours;
}

std::vector<JobArrival> draw_jobs(const JobLoad& load, std::uint64_t seed) {
  JobDraws draws(load, seed);
  std::vector<JobArrival> jobs;
  for (const Instant at : arrivals_of(load, seed)) jobs.push_back(draws.next(at));
  return jobs;
}

}  // namespace capstan::workload
