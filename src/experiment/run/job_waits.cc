#include "experiment/run/job_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "base/known_row.h"
#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/run/full_queue.h"
#include "experiment/text/words.h"
#include "explain/words.h"
#include "sim/cluster/queue_room.h"

namespace capstan::experiment {

void JobWaits::minute(Instant now, const model::Snapshot& truth) {
  if (periods_.empty()) return;
  std::vector<Waiting> waiting(periods_.size());
  truth.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    if (gang.service.valid() || gang.phase != model::Gang::Phase::pending) return;
    const sim::Job& job = known_row(config_.jobs, gang.ordinal);
    Waiting& sum = known_row(waiting, job.job_class);
    const MilliGpu gpus = gang.spec.pods.gpus_per_pod * gang.spec.pods.count;
    sum.smallest = sum.jobs == 0 ? gpus : std::min(sum.smallest, gpus);
    sum.gpus += gpus;
    ++sum.jobs;
    sum.longest = std::max(sum.longest, now - gang.created_at);
  });
  std::vector<MilliGpu> held;
  for (std::size_t c = 0; c < waiting.size(); ++c) {
    Period& period = periods_[c];
    if (waiting[c].longest < kLongWait) {
      close(period);
      continue;
    }
    period.waiting_milli_gpu_minutes += waiting[c].gpus.count;
    if (waiting[c].gpus <= period.most) continue;
    if (held.empty()) held = sim::QueueRoom(truth).held();
    period.most = waiting[c].gpus;
    std::string obstacle = full_queue_words(*truth.catalog, held, config_.job_classes[c].queue, waiting[c].smallest);
    if (obstacle.empty()) obstacle = "no queue was full";
    period.worst = {now, 0, sentence(c, waiting[c], obstacle), kReason};
  }
}

std::string JobWaits::sentence(std::size_t job_class, const Waiting& waiting, const std::string& obstacle) const {
  return fmt::format("{} of {} waited for {} GPUs, the oldest for {}; {}", count_text(waiting.jobs, "job", "jobs"),
                     config_.job_classes[job_class].name, explain::gpus_text(waiting.gpus),
                     time_text(std::chrono::floor<std::chrono::minutes>(waiting.longest)), obstacle);
}

void JobWaits::close(Period& period) {
  if (period.most > MilliGpu{}) {
    period.worst.weight = period.waiting_milli_gpu_minutes / 1000;
    moments_.push_back(std::move(period.worst));
  }
  period = {};
}

std::vector<Moment> JobWaits::take_moments() {
  for (Period& period : periods_) close(period);
  std::ranges::stable_sort(moments_, std::ranges::greater{}, &Moment::weight);
  if (moments_.size() > kMaxMoments) moments_.resize(kMaxMoments);
  return std::exchange(moments_, {});
}

}  // namespace capstan::experiment
