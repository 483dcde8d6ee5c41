#include "sim/cluster/jobs.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/known_row.h"

namespace capstan::sim {
namespace {

__extension__ typedef __int128 Wide;

/// Converts the time `computed` with `width` pods into the time that the same work takes with all pods, rounded down.
Duration in_full_width(Duration computed, std::int64_t width, const Job& job) {
  return Duration(static_cast<std::int64_t>(Wide{computed.count()} * width / job.pods));
}

/// Converts the time `left` with all pods into the time that the same work takes with `width` pods, rounded up.
Duration with_width(Duration left, std::int64_t width, const Job& job) {
  return Duration(static_cast<std::int64_t>((Wide{left.count()} * job.pods + width - 1) / width));
}

}  // namespace

Jobs::Jobs(Basics& basics, std::uint64_t seed, Pods& pods)
    : Component(basics), pods_(pods), draws_(seed, "cluster.jobs") {
  CAPSTAN_ASSERT(std::ranges::is_sorted(config_.jobs, {}, &Job::at));
  schedule_arrival();
}

const JobClass& Jobs::class_of(std::uint32_t job) const {
  return known_row(config_.job_classes, known_row(config_.jobs, job).job_class);
}

void Jobs::schedule_arrival() {
  if (have_all_arrived()) return;
  const auto next = static_cast<std::uint32_t>(progress_.size());
  events_.schedule(config_.jobs[next].at, EventKind::job_arrival, next);
}

model::GangId Jobs::arrive(std::uint32_t job) {
  CAPSTAN_ASSERT(job == progress_.size());
  progress_.emplace_back();
  const model::GangId gang = create_gang(job);
  schedule_arrival();
  return gang;
}

model::GangId Jobs::create_gang(std::uint32_t job, std::int32_t pods) {
  const Job& what = known_row(config_.jobs, job);
  const JobClass& job_class = class_of(job);
  CAPSTAN_ASSERT(pods > 0 && what.gpus_per_pod > MilliGpu{} && what.work > Duration{});
  const model::GangId id = api_.new_gang();
  model::Gang gang;
  gang.ordinal = job;
  gang.spec = {.pods = {.gpu = gpus_of(job_class, what).front(),
                        .count = pods,
                        .gpus_per_pod = what.gpus_per_pod,
                        .pod_class = what.pod_class.valid() ? what.pod_class : job_class.pod_class},
               .required_level = job_class.required_level,
               .priority = job_class.priority,
               .queue = job_class.queue,
               .preemptible = job_class.preemptible};
  gang.created_at = now();
  for (std::int32_t i = 0; i < pods; ++i) {
    gang.pods.push_back(pods_.create(id, what.gpus_per_pod, gang.spec.queue));
  }
  gangs_.emplace(id, Gang{.job = job, .bound_at = {}, .since = {}});
  api_.set(id, std::move(gang));
  return id;
}

void Jobs::note_bound(model::GangId id) {
  Gang& record = known_row(gangs_, id);
  const model::Gang& row = rows().gangs.at(id);
  const auto is_bound = [&](model::PodId pod) { return rows().pods.at(pod).node.valid(); };
  if (!std::ranges::all_of(row.pods, is_bound)) return;
  record.stage = Stage::starting;
  record.bound_at = now();
  pods_.set_states(id, GpuState::starting);
  const Latency& start = class_of(record.job).start;
  model::Gang gang = row;
  gang.phase = model::Gang::Phase::starting;
  gang.expected_ready_at = now() + start.midpoint();
  api_.set(id, std::move(gang));
  events_.schedule(now() + start.draw(draws_), EventKind::job_started, id.value);
}

void Jobs::started(model::GangId id) {
  const auto found = gangs_.find(id);
  if (found == gangs_.end()) return;  // it lost its pods while it started
  Gang& record = found->second;
  record.stage = Stage::computing;
  record.since = now();
  JobProgress& progress = progress_[record.job];
  if (!progress.has_started()) progress.started_at = now();
  const Job& job = config_.jobs[record.job];
  const std::int64_t width = rows().gangs.at(id).spec.pods.count;
  progress.undersized_starts += width < job.pods ? 1 : 0;
  pods_.set_states(id, GpuState::busy);
  pods_.set_phases(id, model::Gang::Phase::ready, model::Pod::Phase::ready);
  events_.schedule(now() + with_width(job.work - progress.saved, width, job), EventKind::job_done, id.value);
}

void Jobs::done(model::GangId id) {
  const auto found = gangs_.find(id);
  if (found == gangs_.end()) return;  // it lost its pods while it computed
  const std::uint32_t job = found->second.job;
  progress_[job].saved = config_.jobs[job].work;
  progress_[job].ended_at = now();
  ++ended_;
  remove(id);
}

void Jobs::evict(model::PodId id, Interruption why) {
  const model::GangId gang = rows().pods.at(id).gang;
  if (known_row(gangs_, gang).stage != Stage::binding) return restart(gang, why);
  pods_.replace(id);
}

/// Divides the computing time of a job that stops now into the part up to its last checkpoint and the lost part.
void Jobs::save_progress(model::GangId id) {
  const Gang& record = known_row(gangs_, id);
  if (record.stage != Stage::computing) return;
  JobProgress& progress = progress_[record.job];
  const Duration computed = now() - record.since;
  const Duration every = class_of(record.job).checkpoint_every;
  const Duration saved = every > Duration{} ? computed / every * every : Duration{};
  const Job& job = config_.jobs[record.job];
  const std::int64_t width = rows().gangs.at(id).spec.pods.count;
  progress.saved += in_full_width(saved, width, job);
  progress.lost += in_full_width(computed - saved, width, job);
}

std::vector<Duration> Jobs::open_work(Instant end) const {
  std::vector<Duration> open(progress_.size());
  for (const auto& [id, record] : gangs_) {
    if (record.stage != Stage::computing) continue;
    open[record.job] = in_full_width(end - record.since, rows().gangs.at(id).spec.pods.count, config_.jobs[record.job]);
  }
  return open;
}

/// Ends the gang of a job. Its controller makes another one, which goes on from the last checkpoint.
void Jobs::restart(model::GangId id, Interruption why) {
  const Gang record = known_row(gangs_, id);
  JobProgress& progress = progress_[record.job];
  save_progress(id);
  ++progress.restarts;
  progress.preemptions += why == Interruption::preemption ? 1 : 0;
  ++meter_.job_restarts[static_cast<std::size_t>(why)];
  remove(id);
  events_.schedule(now() + config_.pod_creation.draw(draws_), EventKind::job_restarted, record.job);
}

std::vector<RunningJob> Jobs::preemptible_below(std::int32_t priority, model::GpuKindId gpu) const {
  std::vector<RunningJob> running;
  for (const auto& [id, record] : gangs_) {
    if (record.stage == Stage::binding) continue;
    const model::GangSpec& spec = rows().gangs.at(id).spec;
    if (!spec.preemptible || spec.priority >= priority || spec.pods.gpu != gpu) continue;
    const Job& job = config_.jobs[record.job];
    running.push_back({.gang = id,
                       .priority = spec.priority,
                       .bound_at = record.bound_at,
                       .gpus = spec.pods.gpus(),
                       .min_pods = job.is_elastic() ? job.min_pods : 0});
  }
  return running;
}

std::vector<UndersizedJob> Jobs::undersized_at_checkpoint(Duration since) const {
  std::vector<UndersizedJob> narrow;
  for (const auto& [id, record] : gangs_) {
    const Job& job = config_.jobs[record.job];
    const Duration every = class_of(record.job).checkpoint_every;
    if (!job.is_elastic() || record.stage != Stage::computing || every <= Duration{}) continue;
    const std::int64_t width = rows().gangs.at(id).spec.pods.count;
    const Duration computed = now() - record.since;
    if (width >= job.pods || computed < every || computed % every >= since) continue;
    const Duration left = job.work - progress_[record.job].saved - in_full_width(computed, width, job);
    // More pods are worth a restart only if the job then ends earlier, the time of the restart included.
    if (with_width(left, width, job) <= left + class_of(record.job).start.high) continue;
    narrow.push_back({.gang = id, .missing = static_cast<std::int32_t>(job.pods - width)});
  }
  return narrow;
}

void Jobs::resize(model::GangId id, const std::vector<model::NodeId>& nodes) {
  const std::uint32_t job = known_row(gangs_, id).job;
  save_progress(id);
  ++progress_[job].resizes;
  remove(id);
  const model::GpuKindId gpu = rows().nodes.at(nodes.front()).gpu;
  const model::GangId resized = create_gang(job, static_cast<std::int32_t>(nodes.size()));
  set_gpu(resized, gpu);
  const std::vector<model::PodId> pods = rows().gangs.at(resized).pods;
  for (std::size_t i = 0; i < nodes.size(); ++i) pods_.bind(pods[i], nodes[i]);
  note_bound(resized);
}

void Jobs::preempt(model::GangId id) { restart(id, Interruption::preemption); }

void Jobs::set_pod_count(model::GangId id, std::int32_t pods) {
  model::Gang gang = rows().gangs.at(id);
  if (gang.spec.pods.count == pods) return;
  gang.spec.pods.count = pods;
  while (std::ssize(gang.pods) > pods) {
    pods_.erase(gang.pods.back());
    gang.pods.pop_back();
  }
  while (std::ssize(gang.pods) < pods) {
    gang.pods.push_back(pods_.create(id, gang.spec.pods.gpus_per_pod, gang.spec.queue));
  }
  api_.set(id, std::move(gang));
}

std::vector<model::GpuKindId> Jobs::gpus_of_gang(model::GangId id) const {
  const std::uint32_t job = known_row(gangs_, id).job;
  return gpus_of(class_of(job), config_.jobs[job]);
}

void Jobs::set_gpu(model::GangId id, model::GpuKindId gpu) {
  model::Gang gang = rows().gangs.at(id);
  if (gang.spec.pods.gpu == gpu) return;
  gang.spec.pods.gpu = gpu;
  api_.set(id, std::move(gang));
}

void Jobs::withhold(model::GangId id) {
  withheld_.insert(known_row(gangs_, id).job);
  remove(id);
}

void Jobs::release_withheld() {
  for (const std::uint32_t job : withheld_) create_gang(job);
  withheld_.clear();
}

void Jobs::remove(model::GangId id) {
  const model::Gang gang = rows().gangs.at(id);
  for (const model::PodId pod : gang.pods) pods_.erase(pod);
  gangs_.erase(id);
  api_.erase(id);
}

void Jobs::add_unaccounted(GpuAccount& account, Instant end) const {
  for (const auto& [id, gang] : gangs_) pods_.add_unaccounted(account, id, end);
}

void Jobs::check_invariants() const {
  for (const auto& [id, record] : gangs_) {
    const model::Gang& gang = rows().gangs.at(id);
    CAPSTAN_ASSERT(!gang.service.valid() && gang.ordinal == record.job);
    CAPSTAN_ASSERT(static_cast<std::int64_t>(gang.pods.size()) == gang.spec.pods.count);
    for (const model::PodId pod : gang.pods) {
      CAPSTAN_ASSERT(rows().pods.at(pod).gang == id);
      CAPSTAN_ASSERT(record.stage == Stage::binding || rows().pods.at(pod).node.valid());
    }
    const JobProgress& progress = known_row(progress_, record.job);
    CAPSTAN_ASSERT(!progress.has_ended() && progress.saved <= config_.jobs[record.job].work);
  }
}

void Jobs::add_to(StateHash& hash) const {
  if (config_.jobs.empty()) return;
  for (const JobProgress& progress : progress_) {
    hash.add(static_cast<std::uint64_t>(progress.saved.count()));
    hash.add(static_cast<std::uint64_t>(progress.lost.count()));
  }
  add_draw(hash, draws_);
}

}  // namespace capstan::sim
