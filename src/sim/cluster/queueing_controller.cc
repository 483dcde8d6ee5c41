#include "sim/cluster/queueing_controller.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/known_row.h"
#include "sim/cluster/domain_key.h"
#include "sim/cluster/pod_fit.h"

namespace capstan::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kInterval = 5s;
/// Time in which the scheduler may place a gang before jobs are ended to make room for the gang.
constexpr Duration kPreemptionDelay = 5s;
/// Time for which an elastic job asks for all its pods, so that nodes are bought for them, before it takes fewer pods.
constexpr Duration kShrinkingDelay = 1min;
/// Time for which room is kept for a gang. After this time, more jobs may end for the gang.
constexpr Duration kMaxReservation = 1min;

}  // namespace

QueueingController::QueueingController(Basics& basics, const NodeProvider& nodes, Jobs& jobs)
    : Component(basics), nodes_(nodes), jobs_(jobs) {
  has_preemptible_ = std::ranges::any_of(config_.job_classes, &JobClass::preemptible);
  has_elastic_ = std::ranges::any_of(config_.jobs, &Job::is_elastic);
  for (std::uint32_t job = 0; job < config_.jobs.size() && !has_choice_of_gpu_; ++job) {
    has_choice_of_gpu_ = has_several_gpus(job);
  }
  if (has_preemptible_ || has_elastic_ || has_choice_of_gpu_) events_.schedule(now() + kInterval, EventKind::queueing);
}

void QueueingController::fit_and_preempt(const std::set<model::NodeId>& ending) {
  events_.schedule(now() + kInterval, EventKind::queueing);
  forget_placed();
  std::vector<WaitingGang> waiting = waiting_gangs();
  if (has_elastic_) add_pods(waiting, ending);
  if (waiting.empty()) return;
  const auto priority = [](const WaitingGang& gang) { return gang.spec.priority; };
  std::ranges::stable_sort(waiting, std::ranges::greater{}, priority);
  if (has_choice_of_gpu_) {
    FreeRoom room(rows(), nodes_);
    unsatisfiable_.clear();
    for (const WaitingGang& gang : waiting) choose_gpu(gang, room);
    for (WaitingGang& gang : waiting) gang.spec.pods.gpu = rows().gangs.at(gang.id).spec.pods.gpu;
  }
  if (!has_preemptible_ && !has_elastic_) return;
  FreeRoom room(rows(), nodes_);
  unsatisfiable_.clear();
  for (const WaitingGang& gang : waiting) preempt_for(gang, room, waiting);
  for (const WaitingGang& gang : waiting) fit_pod_count(gang, room);
}

/// Returns the pending gangs, oldest first. Gangs are left out until a placement has had time to place them.
std::vector<WaitingGang> QueueingController::waiting_gangs() const {
  std::vector<WaitingGang> waiting;
  rows().gangs.for_each([&](model::GangId id, const model::Gang& gang) {
    if (gang.phase != model::Gang::Phase::pending || now() - gang.created_at < kPreemptionDelay) return;
    WaitingGang found = waiting_gang(id, gang);
    if (found.spec.pods.count > 0) waiting.push_back(std::move(found));
  });
  return waiting;
}

WaitingGang QueueingController::waiting_gang(model::GangId id, const model::Gang& row) const {
  WaitingGang found{.id = id, .spec = row.spec};
  for (const model::PodId pod : row.pods) {
    const model::NodeId node = rows().pods.at(pod).node;
    if (!node.valid()) continue;
    --found.spec.pods.count;
    found.domain = domain_key(rows(), node, row.spec.required_level);
  }
  return found;
}

bool QueueingController::has_several_gpus(std::uint32_t job) const {
  const Job& what = known_row(config_.jobs, job);
  return what.gpus.empty() ? !known_row(config_.job_classes, what.job_class).other_gpus.empty() : what.gpus.size() > 1;
}

/// Returns true if an empty node that exists or can be bought could hold one of the pods.
bool QueueingController::may_exist(const model::PodSet& pods) const {
  const auto holds = [&](model::OfferingId id, model::NodeClassId node_class) {
    const model::Offering& offering = catalog().offering(id);
    if (offering.gpu != pods.gpu || whole_gpus(offering.gpus) < pods.gpus_per_pod) return false;
    return pods_besides_gpus(catalog(), pods, node_class, catalog().resources_of_new_node(id), 1) == 1;
  };
  for (const ExistingNodes& nodes : config_.existing) {
    if (holds(nodes.offering, nodes.node_class)) return true;
  }
  for (std::uint32_t p = 0; p < catalog().pools.size(); ++p) {
    for (const model::OfferingId id : catalog().pools[p].offerings) {
      if (holds(id, node_class_of(catalog(), {{p}, id}))) return true;
    }
  }
  return false;
}

void QueueingController::choose_gpu(model::GangId id) {
  const model::Gang& row = rows().gangs.at(id);
  if (!has_several_gpus(row.ordinal)) return;
  FreeRoom room(rows(), nodes_);
  unsatisfiable_.clear();
  choose_gpu(waiting_gang(id, row), room);
}

/// For a job without a bound pod, chooses the first kind of GPU that has room for all its pods, and takes the room. If
/// no kind has room, chooses the first kind of which some node could hold one of the pods.
void QueueingController::choose_gpu(WaitingGang gang, FreeRoom& room) {
  if (!jobs_.owns(gang.id) || gang.domain || !has_several_gpus(rows().gangs.at(gang.id).ordinal)) return;
  std::optional<model::GpuKindId> possible;
  for (const model::GpuKindId gpu : jobs_.gpus_of_gang(gang.id)) {
    gang.spec.pods.gpu = gpu;
    if (!possible && may_exist(gang.spec.pods)) possible = gpu;
    const Request request{gang.spec, gang.domain};
    if (unsatisfiable_.contains(request)) continue;
    for (const FreeRoom::Domain& domain : room.domains(gang)) {
      if (!room.fits(gang, domain)) continue;
      room.take(gang, domain);
      return jobs_.set_gpu(gang.id, gpu);
    }
    unsatisfiable_.insert(request);
  }
  if (possible) jobs_.set_gpu(gang.id, *possible);
}

void QueueingController::fit_pod_count(const WaitingGang& gang, const FreeRoom& room) {
  const model::Gang* row = rows().gangs.find(gang.id);
  if (row == nullptr || row->service.valid() || gang.domain || now() - row->created_at < kShrinkingDelay) return;
  const Job& job = config_.jobs[row->ordinal];
  if (!job.is_elastic()) return;
  std::int64_t most = 0;
  for (const FreeRoom::Domain& domain : room.domains(gang)) most = std::max(most, room.most_pods(gang, domain));
  if (most >= job.min_pods)
    jobs_.set_pod_count(gang.id, static_cast<std::int32_t>(std::min<std::int64_t>(most, job.pods)));
}

/// Gives more pods to elastic jobs that have just saved a checkpoint, in the domain of their pods. A job does not grow
/// while a gang waits for GPUs of its kind. It does not grow onto nodes that are being given back either, because a
/// scheduler that knows about these nodes would bind no pods to them.
void QueueingController::add_pods(const std::vector<WaitingGang>& waiting, const std::set<model::NodeId>& ending) {
  const std::vector<UndersizedJob> narrow = jobs_.undersized_at_checkpoint(kInterval);
  if (narrow.empty()) return;
  FreeRoom room(rows(), nodes_, ending);
  for (const UndersizedJob& job : narrow) {
    const model::Gang& row = rows().gangs.at(job.gang);
    const auto is_same_kind = [&](const WaitingGang& gang) { return gang.spec.pods.gpu == row.spec.pods.gpu; };
    if (std::ranges::any_of(waiting, is_same_kind)) continue;
    std::vector<model::NodeId> nodes;
    for (const model::PodId pod : row.pods) nodes.push_back(rows().pods.at(pod).node);
    WaitingGang more{.id = job.gang, .spec = row.spec};
    more.domain = domain_key(rows(), nodes.front(), row.spec.required_level);
    const std::vector<FreeRoom::Domain> domains = room.domains(more);
    if (domains.empty()) continue;  // the nodes of the domain take no pods
    const std::int64_t most = std::min<std::int64_t>(room.most_pods(more, domains.front()), job.missing);
    if (most == 0) continue;
    more.spec.pods.count = static_cast<std::int32_t>(most);
    const std::vector<model::NodeId> added = room.take(more, domains.front());
    nodes.insert(nodes.end(), added.begin(), added.end());
    jobs_.resize(job.gang, nodes);
  }
}

/// Takes room for the gang. If there is too little room, ends jobs with a lower priority, provided that this makes
/// enough.
void QueueingController::preempt_for(const WaitingGang& gang, FreeRoom& room, const std::vector<WaitingGang>& waiting) {
  if (rows().gangs.find(gang.id) == nullptr) return;  // it was withheld for a gang with a higher priority
  const Request request{gang.spec, gang.domain};
  if (unsatisfiable_.contains(request)) return;
  for (const FreeRoom::Domain& domain : room.domains(gang)) {
    if (!room.fits(gang, domain)) continue;
    room.take(gang, domain);
    return;
  }
  if (promised_.contains(gang.id)) return;
  const std::optional<Choice> choice = choose(gang, room);
  if (!choice) {
    unsatisfiable_.insert(request);
    return;
  }
  for (const Victim& victim : choice->victims) {
    for (const model::PodId pod : victim.lost) room.give_back(rows().pods.at(pod));
    if (victim.kept.empty()) {
      jobs_.preempt(victim.job.gang);
      continue;
    }
    std::vector<model::NodeId> nodes;
    for (const model::PodId pod : victim.kept) nodes.push_back(rows().pods.at(pod).node);
    jobs_.resize(victim.job.gang, nodes);
  }
  room.take(gang, choice->domain);
  promised_.emplace(gang.id, now());
  for (const WaitingGang& other : waiting) {
    const bool would_be_first = other.id < gang.id && other.spec.priority < gang.spec.priority;
    if (!would_be_first || other.spec.pods.gpu != gang.spec.pods.gpu || !jobs_.owns(other.id)) continue;
    // The other gang would take the room first, so it is withheld. A job that is not preemptible and has bound pods
    // keeps their GPUs and is not withheld.
    if (!other.domain || other.spec.preemptible) jobs_.withhold(other.id);
  }
}

std::optional<QueueingController::Choice> QueueingController::choose(const WaitingGang& gang, FreeRoom& room) const {
  std::map<std::uint32_t, std::vector<RunningJob>> by_domain;
  for (const RunningJob& job : jobs_.preemptible_below(gang.spec.priority, gang.spec.pods.gpu)) {
    std::set<std::uint32_t> keys;
    for (const model::PodId pod : rows().gangs.at(job.gang).pods) {
      keys.insert(domain_key(rows(), rows().pods.at(pod).node, gang.spec.required_level));
    }
    for (const std::uint32_t key : keys) by_domain[key].push_back(job);
  }
  std::optional<Choice> best;
  if (by_domain.empty()) return best;
  for (const FreeRoom::Domain& domain : room.domains(gang)) {
    const auto found = by_domain.find(domain_key(rows(), domain.front(), gang.spec.required_level));
    if (found == by_domain.end()) continue;
    std::optional<Choice> choice = choose_in(gang, domain, found->second, room);
    if (choice && (!best || choice->rank() < best->rank())) best = std::move(choice);
  }
  return best;
}

/// Chooses the jobs of one domain that end for the gang. The room is the same before and after the call.
std::optional<QueueingController::Choice> QueueingController::choose_in(const WaitingGang& gang,
                                                                        const FreeRoom::Domain& domain,
                                                                        std::vector<RunningJob> victims,
                                                                        FreeRoom& room) const {
  std::ranges::sort(victims, [](const RunningJob& a, const RunningJob& b) {
    return std::tuple(a.priority, b.bound_at, b.gang) < std::tuple(b.priority, a.bound_at, a.gang);
  });
  std::size_t count = 0;
  while (count < victims.size() && !room.fits(gang, domain)) give_back(victims[count++], room);
  victims.resize(count);
  if (!room.fits(gang, domain)) {
    for (const RunningJob& victim : victims) take_again(victim, room);
    return std::nullopt;
  }
  Choice choice{.victims = {}, .domain = domain, .highest_priority = 0, .gpus = {}, .first_bound_at = Instant::never()};
  // Some of the victims may be unnecessary, because victims that were added later free enough room. A victim keeps
  // running if the gang fits without its room. The victims with the highest priority are tried first, of these the
  // oldest.
  for (auto victim = victims.rbegin(); victim != victims.rend(); ++victim) {
    take_again(*victim, room);
    if (room.fits(gang, domain)) continue;
    give_back(*victim, room);
    choice.victims.push_back({.job = *victim});
  }
  choice.highest_priority = choice.victims.front().job.priority;
  for (Victim& victim : choice.victims) keep_pods(gang, domain, victim, room);
  for (const Victim& victim : choice.victims) {
    for (const model::PodId pod : victim.lost) {
      choice.gpus += rows().pods.at(pod).gpus;
      room.take_again(rows().pods.at(pod));
    }
    choice.first_bound_at = std::min(choice.first_bound_at, victim.job.bound_at);
  }
  return choice;
}

/// Lets an elastic job keep the pods whose GPUs the gang does not need, if these pods are enough for the job to go on.
/// Before the call, the room of all pods of the job is free. After the call, only the room of its lost pods is free.
void QueueingController::keep_pods(const WaitingGang& gang, const FreeRoom::Domain& domain, Victim& victim,
                                   FreeRoom& room) const {
  const std::vector<model::PodId>& pods = rows().gangs.at(victim.job.gang).pods;
  for (const model::PodId pod : pods) {
    const bool may_keep = victim.job.min_pods > 0;
    if (may_keep) room.take_again(rows().pods.at(pod));
    if (may_keep && room.fits(gang, domain)) {
      victim.kept.push_back(pod);
      continue;
    }
    if (may_keep) room.give_back(rows().pods.at(pod));
    victim.lost.push_back(pod);
  }
  if (std::ssize(victim.kept) >= victim.job.min_pods) return;
  for (const model::PodId pod : victim.kept) room.give_back(rows().pods.at(pod));
  victim.kept.clear();
  victim.lost = pods;
}

void QueueingController::give_back(const RunningJob& job, FreeRoom& room) const {
  for (const model::PodId pod : rows().gangs.at(job.gang).pods) room.give_back(rows().pods.at(pod));
}

void QueueingController::take_again(const RunningJob& job, FreeRoom& room) const {
  for (const model::PodId pod : rows().gangs.at(job.gang).pods) room.take_again(rows().pods.at(pod));
}

/// Forgets the gangs that were placed or ended, and gangs that did not get their room in time. If no gang is left, all
/// jobs may ask for GPUs.
void QueueingController::forget_placed() {
  std::erase_if(promised_, [&](const auto& promise) {
    const model::Gang* gang = rows().gangs.find(promise.first);
    return gang == nullptr || gang->phase != model::Gang::Phase::pending || now() - promise.second >= kMaxReservation;
  });
  if (promised_.empty()) jobs_.release_withheld();
}

void QueueingController::add_to(StateHash& hash) const {
  for (const auto& [gang, since] : promised_) {
    hash.add(gang.value);
    hash.add(static_cast<std::uint64_t>(since.since_start.count()));
  }
}

}  // namespace capstan::sim
