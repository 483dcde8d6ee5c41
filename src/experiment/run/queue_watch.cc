#include "experiment/run/queue_watch.h"

#include <algorithm>

#include "model/queue_path.h"
#include "sim/cluster/queue_room.h"

namespace capstan::experiment {

std::vector<std::int64_t> waiting_jobs(const model::Snapshot& snapshot) {
  std::vector<std::int64_t> jobs(snapshot.catalog->queues.size());
  if (jobs.empty()) return jobs;
  snapshot.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    if (gang.service.valid() || gang.phase != model::Gang::Phase::pending) return;
    const model::QueueId queue = snapshot.pods.at(gang.pods.front()).queue;
    if (queue.valid()) ++jobs[queue.value];
  });
  return jobs;
}

QueueWatch::QueueWatch(const model::Catalog& catalog, bool keep_minutes)
    : catalog_(catalog), keep_minutes_(keep_minutes) {
  for (const model::Queue& queue : catalog.queues) {
    QueueFigures& figures = figures_.emplace_back();
    figures.name = queue.name;
    if (queue.parent.valid()) figures.parent = catalog.queues[queue.parent.value].name;
    figures.limit = queue.gpus.limit;
  }
}

template <typename Visit>
void QueueWatch::visit_with_parents(model::QueueId queue, Visit visit) const {
  for (const model::QueueId id : model::QueuePath(catalog_.queues, queue)) visit(id.value);
}

void QueueWatch::minute(const model::Snapshot& truth) {
  if (figures_.empty()) return;
  const std::vector<MilliGpu> held = sim::QueueRoom(truth).held();
  std::vector<MilliGpu> waiting(figures_.size());
  truth.pods.for_each([&](model::PodId, const model::Pod& pod) {
    if (!pod.node.valid()) visit_with_parents(pod.queue, [&](std::size_t queue) { waiting[queue] += pod.gpus; });
  });
  std::vector<std::int64_t> jobs(figures_.size());
  const std::vector<std::int64_t> own_jobs = waiting_jobs(truth);
  for (std::uint32_t i = 0; i < own_jobs.size(); ++i) {
    if (own_jobs[i] > 0) visit_with_parents({i}, [&](std::size_t queue) { jobs[queue] += own_jobs[i]; });
  }
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    if (keep_minutes_) figures_[i].minutes.push_back({held[i], waiting[i], jobs[i]});
    figures_[i].jobs_waiting_peak = std::max(figures_[i].jobs_waiting_peak, jobs[i]);
    figures_[i].jobs_waiting_minutes += jobs[i];
    figures_[i].waiting_minutes += waiting[i];
    figures_[i].held_peak = std::max(figures_[i].held_peak, held[i]);
    figures_[i].held_minutes += held[i];
    figures_[i].waiting_peak = std::max(figures_[i].waiting_peak, waiting[i]);
  }
}

void QueueWatch::charge(model::QueueId queue, GpuNanoseconds gpu_ns, std::int64_t micro_usd) {
  visit_with_parents(queue, [&](std::size_t i) {
    figures_[i].gpu_ns += gpu_ns;
    figures_[i].micro_usd += micro_usd;
  });
}

}  // namespace capstan::experiment
