#include "sim/cluster/gangs.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/known_row.h"

namespace capstan::sim {

Gangs::Gangs(Basics& basics, const Parts& parts, LossListener& listener)
    : Component(basics),
      hook_(parts.hook),
      pods_(parts.pods),
      starts_(parts.starts),
      drains_(parts.drains),
      scraper_(parts.scraper),
      listener_(listener) {
  for (std::uint32_t s = 0; s < catalog().services.size(); ++s) by_service_[{s}];
}

bool Gangs::stays(model::GangId id) const {
  return !drains_.contains(id, DrainPurpose::leave) && !sleepers_.is_asleep(id);
}

ReplicaCount Gangs::active_count(model::ServiceId service) const {
  return std::ranges::count_if(gangs_of(service), [&](model::GangId id) { return stays(id); });
}

bool Gangs::has_ready_replica(model::ServiceId service) const {
  return std::ranges::any_of(gangs_of(service), [&](model::GangId id) { return is_ready(id); });
}

/// Returns the lowest ordinal that no gang of the service has.
std::uint32_t Gangs::free_ordinal(model::ServiceId service) const {
  std::vector<bool> taken(gangs_of(service).size() + 1);  // at least one of these ordinals is free
  for (model::GangId id : gangs_of(service)) {
    const std::uint32_t other = rows().gangs.at(id).ordinal;
    if (other < taken.size()) taken[other] = true;
  }
  return static_cast<std::uint32_t>(std::ranges::find(taken, false) - taken.begin());
}

model::GangId Gangs::create(model::ServiceId service, Instant decided_at) {
  const model::Workload& workload = catalog().service(service).workload;
  CAPSTAN_ASSERT(workload.pods > 0 && workload.gpus_per_replica > 0 && !workload.leader);
  const model::GangId id = api_.new_gang();
  model::Gang gang;
  gang.service = service;
  gang.ordinal = free_ordinal(service);
  gang.spec = workload.gang();
  gang.created_at = now();
  for (std::int32_t i = 0; i < workload.pods; ++i) {
    gang.pods.push_back(pods_.create(id, gang.spec.pods.gpus_per_pod, gang.spec.queue));
  }
  api_.set(id, std::move(gang));
  starts_.add(id, decided_at);
  Record record;
  record.deferred_at = now() + config_.scheduling_cycle + config_.bind_latency;
  gangs_.emplace(id, record);
  known_row(by_service_, service).insert(id);
  return id;
}

void Gangs::note_bound(model::GangId id, bool is_spread) {
  Record& record = known_row(gangs_, id);
  if (is_spread && !std::exchange(record.is_spread, true)) {
    meter_.replicas_spread.resize(catalog().services.size());
    ++known_row(meter_.replicas_spread, rows().gangs.at(id).service.value);
  }
  starts_.pull_images(id);
  const model::Gang& row = rows().gangs.at(id);
  const auto is_bound = [&](model::PodId pod) { return rows().pods.at(pod).node.valid(); };
  if (!std::ranges::all_of(row.pods, is_bound)) return;
  if (now() > record.deferred_at) ++meter_.gangs_deferred;
  record.stage = Stage::starting;
  pods_.set_states(id, GpuState::starting);
  model::Gang gang = row;
  gang.phase = model::Gang::Phase::starting;
  gang.expected_ready_at = now() + starts_.expected_start(gang.service);
  api_.set(id, std::move(gang));
  starts_.begin(id);
}

void Gangs::serve_warm(model::GangId id) {
  starts_.preload(id);
  serve(id);
}

void Gangs::start_ended(model::GangId id) {
  const Instant containers_started_at = starts_.containers_started_at(id);
  if (!containers_started_at.is_never()) {
    model::Gang gang = rows().gangs.at(id);
    gang.containers_started_at = containers_started_at;
    api_.set(id, std::move(gang));
  }
  serve(id);
}

void Gangs::serve(model::GangId id) {
  Record& record = known_row(gangs_, id);
  record.stage = Stage::ready;
  record.ready_since = now();
  scraper_.begin(id);
  pods_.set_states(id, GpuState::idle);
  pods_.set_phases(id, model::Gang::Phase::ready, model::Pod::Phase::ready);
  const model::Gang& gang = rows().gangs.at(id);
  hook_.ready({id, gang.service, gang.ordinal, starts_.weights_time(id)}, now());
}

void Gangs::retire(model::GangId id) {
  const Stage stage = known_row(gangs_, id).stage;
  const model::ServiceId service = service_of(id);
  const bool sleeps =
      stage == Stage::ready && sleepers_.count(gangs_of(service)) < start_of(service).sleep.max_replicas;
  stage == Stage::ready || stage == Stage::converting ? begin_drain(id) : remove(id);
  if (sleeps) sleepers_.schedule_sleep(id);
}

void Gangs::begin_drain(model::GangId id) {
  Record& record = known_row(gangs_, id);
  if (record.stage == Stage::converting) {
    drains_.leave_instead(id);
    scraper_.resume(id);
  } else {
    end_serving(id);
    drains_.begin(id, DrainPurpose::leave);
  }
  record.stage = Stage::draining;
  pods_.set_states(id, GpuState::draining);
  pods_.set_phases(id, model::Gang::Phase::draining, model::Pod::Phase::terminating);
}

void Gangs::drained(model::GangId id, DrainPurpose purpose) {
  drains_.erase(id);
  if (purpose == DrainPurpose::convert) {
    resume(id, StartChain::Resume::conversion, *start_of(service_of(id)).conversion);
  } else if (sleepers_.will_sleep(id)) {
    fall_asleep(id);
  } else {
    remove(id);
  }
}

void Gangs::fall_asleep(model::GangId id) {
  known_row(gangs_, id).stage = Stage::sleeping;
  const Instant until = now() + start_of(service_of(id)).sleep.max_duration;
  sleepers_.fall_asleep(id, until);
  events_.schedule(until, EventKind::end_sleep, id.value);
  scraper_.pause(id);
  pods_.set_states(id, GpuState::sleeping);
  pods_.set_phases(id, model::Gang::Phase::sleeping, model::Pod::Phase::starting);
}

void Gangs::end_sleep(model::GangId id) {
  if (sleepers_.has_slept_longest(id, now())) remove(id);
}

void Gangs::wake(model::GangId id) {
  sleepers_.erase(id);
  model::Gang gang = rows().gangs.at(id);
  const Latency& latency = start_of(gang.service).sleep.wake;
  gang.resumed = true;
  gang.expected_ready_at = now() + latency.midpoint();
  api_.set(id, std::move(gang));
  pods_.set_phases(id, model::Gang::Phase::starting, model::Pod::Phase::starting);
  resume(id, StartChain::Resume::sleep, latency);
}

void Gangs::resume(model::GangId id, StartChain::Resume after, const Latency& latency) {
  known_row(gangs_, id).stage = Stage::starting;
  pods_.set_states(id, GpuState::starting);
  starts_.resume(id, after, latency);
}

void Gangs::convert(model::GangId id, model::ServiceId to) {
  end_serving(id);
  drains_.begin(id, DrainPurpose::convert);
  known_row(gangs_, id).stage = Stage::converting;
  const model::ServiceId from = service_of(id);
  starts_.share_weights(id, from, to);
  known_row(by_service_, from).erase(id);
  model::Gang gang = rows().gangs.at(id);
  gang.service = to;
  gang.ordinal = free_ordinal(to);
  gang.resumed = true;
  gang.expected_ready_at = now() + start_of(to).conversion->midpoint();
  known_row(by_service_, to).insert(id);
  api_.set(id, std::move(gang));
  scraper_.pause(id);
  pods_.set_phases(id, model::Gang::Phase::starting, model::Pod::Phase::starting);
}

/// Removes a gang that has stopped serving or never served.
void Gangs::remove(model::GangId id) {
  const Record record = known_row(gangs_, id);
  CAPSTAN_ASSERT(record.stage != Stage::ready);
  starts_.remove(id);
  if (record.stage == Stage::binding && now() > record.deferred_at) ++meter_.gangs_deferred;
  const model::Gang gang = rows().gangs.at(id);
  for (model::PodId pod : gang.pods) pods_.erase(pod);
  known_row(by_service_, gang.service).erase(id);
  drains_.erase(id);
  sleepers_.erase(id);
  scraper_.erase(id);
  gangs_.erase(id);
  api_.erase(id);
}

/// Ends a gang at once, in any stage. The workload controller replaces it if the service then lacks a replica.
void Gangs::kill(model::GangId id, Interruption why) {
  Record& record = known_row(gangs_, id);
  const bool drains = record.stage == Stage::draining || record.stage == Stage::converting;
  const bool holds_requests = record.stage == Stage::ready || (drains && !hook_.drained(id));
  if (record.stage == Stage::ready) {
    end_serving(id);
    record.stage = Stage::draining;
  }
  if (holds_requests) {
    hook_.killed(id, now(), why);
    std::int64_t& count = why == Interruption::termination ? meter_.killed_by_termination
                          : why == Interruption::eviction  ? meter_.killed_by_eviction
                                                           : meter_.killed_by_spot;
    ++count;
  }
  const model::ServiceId service = service_of(id);
  remove(id);
  listener_.replica_lost(service);
}

void Gangs::evict(model::PodId id, Interruption why) {
  const model::Pod pod = rows().pods.at(id);
  if (known_row(gangs_, pod.gang).stage != Stage::binding) return kill(pod.gang, why);
  pods_.replace(id);
}

void Gangs::end_serving(model::GangId id) {
  add_served(account_, id, now());
  pods_.end_serving(id);
}

/// Adds the time in which a ready gang has served, split into busy and idle time of its engine.
void Gangs::add_served(GpuAccount& account, model::GangId id, Instant end) const {
  const Duration served = end - known_row(gangs_, id).ready_since;
  const Duration busy = std::clamp(hook_.sample(id, end, false).busy_total, Duration{}, served);
  pods_.add_served(account, id, served, busy);
}

void Gangs::add_unaccounted(GpuAccount& account, ClusterMeter& total, Instant end) const {
  for (const auto& [id, record] : gangs_) {
    if (record.stage == Stage::ready) {
      add_served(account, id, end);
      continue;
    }
    if (record.stage == Stage::binding && end > record.deferred_at) ++total.gangs_deferred;
    pods_.add_unaccounted(account, id, end);
  }
}

void Gangs::check_invariants() const {
  for (const auto& [id, record] : gangs_) {
    const model::Gang& gang = rows().gangs.at(id);
    CAPSTAN_ASSERT(gangs_of(gang.service).contains(id));
    bool is_bound = true;
    for (model::PodId pod : gang.pods) {
      CAPSTAN_ASSERT(rows().pods.at(pod).gang == id);
      is_bound = is_bound && rows().pods.at(pod).node.valid();
    }
    CAPSTAN_ASSERT(is_bound == (record.stage != Stage::binding));
    CAPSTAN_ASSERT(is_bound == (gang.phase != model::Gang::Phase::pending));
    CAPSTAN_ASSERT(drains_.contains(id, DrainPurpose::leave) == (record.stage == Stage::draining));
    CAPSTAN_ASSERT(drains_.contains(id, DrainPurpose::convert) == (record.stage == Stage::converting));
    CAPSTAN_ASSERT(sleepers_.is_asleep(id) == (record.stage == Stage::sleeping));
  }
}

}  // namespace capstan::sim
