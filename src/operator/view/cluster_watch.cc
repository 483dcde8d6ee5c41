#include "operator/view/cluster_watch.h"

#include <algorithm>
#include <utility>

namespace capstan::op {
namespace {

namespace kinds = kube::resources;

/// Sets the kind, which the objects of a list do not state.
kube::Workload read_deployment(kube::Json object) {
  kube::Workload workload = kube::read_workload(object);
  workload.kind = "Deployment";
  return workload;
}

kube::Workload read_stateful_set(kube::Json object) {
  kube::Workload workload = kube::read_workload(object);
  workload.kind = "StatefulSet";
  return workload;
}

}  // namespace

ClusterWatch::ClusterWatch(kube::Client& client, net::Clock clock, RandomStream random)
    : client_(client),
      clock_(clock),
      random_(random),
      discovery_(client, std::move(clock)),
      deployments_(read_deployment),
      stateful_sets_(read_stateful_set),
      scaled_(client, clock_) {
  follow(kInferenceScalers, scalers_);
  follow(kFleetPolicies, fleet_);
  follow(kinds::kDeployments, deployments_);
  follow(kinds::kStatefulSets, stateful_sets_);
  follow(kinds::kPods, pods_);
  follow(kinds::kNodes, nodes_);
  follow(kinds::kHorizontalPodAutoscalers, autoscalers_);
  required_ = watchers_.size();
}

void ClusterWatch::follow(const kube::Resource& resource, kube::Sink& sink) {
  watchers_.push_back(std::make_unique<kube::Watcher>(client_, document_, kube::Collection{resource}, sink,
                                                      kube::Reflector::Options(),
                                                      RandomStream(random_.bits(), resource.plural), clock_));
}

void ClusterWatch::follow_optional(const kube::Resource& resource, kube::Sink& sink) {
  const kube::ServedResource* served = discovery_.served().find_plural(resource.group, resource.plural);
  const bool followed = std::ranges::any_of(watchers_, [&](const auto& watcher) {
    return watcher->resource().group == resource.group && watcher->resource().plural == resource.plural;
  });
  if (served != nullptr && !followed) follow(served->resource, sink);
}

void ClusterWatch::run_once() {
  discovery_.run_once();
  if (discovery_.known()) {
    follow_optional(kinds::kLeaderWorkerSets, leader_worker_sets_);
    follow_optional(kinds::kNodeClaims, claims_);
    follow_optional(kinds::kNodePools, pools_);
    follow_optional(kinds::kKaiPodGroups, kai_groups_);
    follow_optional(kinds::kKaiQueues, kai_queues_);
    follow_optional(kQueues, queues_);
    follow_optional(kinds::kScaledObjects, scaled_objects_);
    follow_optional(kinds::kVariantAutoscalings, variant_autoscalings_);
    follow_optional(kinds::kResourceSlices, resource_slices_);
    follow_optional(kinds::kResourceClaims, resource_claims_);
  }
  for (const auto& watcher : watchers_) watcher->run_once();
  if (!discovery_.known()) return;
  const std::pair now(scalers_.snapshot().version, discovery_.served().all().size());
  if (std::exchange(scaled_of_, now) != now) scaled_.follow(scalers_.snapshot(), discovery_.served());
  scaled_.run_once();
}

Instant ClusterWatch::next_deadline() const {
  Instant next = std::min(discovery_.next_deadline(), scaled_.next_deadline());
  for (const auto& watcher : watchers_) next = std::min(next, watcher->next_deadline());
  return next;
}

bool ClusterWatch::synced() const { return waiting_for().empty(); }

std::vector<std::string> ClusterWatch::waiting_for() const {
  std::vector<std::string> lines;
  for (const UnreadCollection& unread : this->unread()) {
    lines.push_back(unread.name + (unread.error ? ": " + unread.error->text() : ""));
  }
  return lines;
}

std::vector<ClusterWatch::UnreadCollection> ClusterWatch::unread() const {
  std::vector<UnreadCollection> unread;
  if (!discovery_.known()) unread.push_back({"the list of APIs (discovery)", discovery_.error()});
  for (const auto& watcher : watchers_) {
    const kube::Reflector& reflector = watcher->reflector();
    if (reflector.synced()) continue;
    unread.push_back({watcher->resource().name(),
                      reflector.failures() > 0 ? std::optional<kube::ApiError>(reflector.last_error()) : std::nullopt});
  }
  if (!scaled_.synced()) unread.push_back({"the /scale of every target", std::nullopt});
  return unread;
}

std::map<std::string, std::string> ClusterWatch::refusals() const {
  std::map<std::string, std::string> refusals;
  for (const auto& watcher : watchers_) {
    const kube::ApiError& error = watcher->reflector().last_error();
    if (error.code == 403 || error.code == 404) refusals[watcher->resource().name()] = error.text();
  }
  return refusals;
}

/// Returns true if the copy of a watcher can be used: it was complete once, and the server still has the kind.
bool ClusterWatch::is_usable(std::size_t watcher) const {
  const kube::Reflector& reflector = watchers_[watcher]->reflector();
  return reflector.synced() && (watcher < required_ || !reflector.last_error().not_found());
}

std::map<std::string, Duration> ClusterWatch::ages(Instant now) const {
  std::map<std::string, Duration> ages;
  for (std::size_t i = 0; i < watchers_.size(); ++i) {
    if (is_usable(i)) ages[watchers_[i]->resource().name()] = now - watchers_[i]->reflector().fresh_at();
  }
  return ages;
}

Duration ClusterWatch::oldest(Instant now) const {
  Duration oldest{};
  for (std::size_t i = 0; i < watchers_.size(); ++i) {
    if (is_usable(i)) oldest = std::max(oldest, now - watchers_[i]->reflector().fresh_at());
  }
  return oldest;
}

ClusterView ClusterWatch::view() const {
  return {.scalers = scalers_.snapshot(),
          .fleet = fleet_.snapshot(),
          .deployments = deployments_.snapshot(),
          .stateful_sets = stateful_sets_.snapshot(),
          .leader_worker_sets = leader_worker_sets_.snapshot(),
          .pods = pods_.snapshot(),
          .nodes = nodes_.snapshot(),
          .claims = claims_.snapshot(),
          .pools = pools_.snapshot(),
          .kai_groups = kai_groups_.snapshot(),
          .kai_queues = kai_queues_.snapshot(),
          .queues = queues_.snapshot(),
          .autoscalers = autoscalers_.snapshot(),
          .scaled_objects = scaled_objects_.snapshot(),
          .variant_autoscalings = variant_autoscalings_.snapshot(),
          .resource_slices = resource_slices_.snapshot(),
          .resource_claims = resource_claims_.snapshot(),
          .scaled = scaled_.targets()};
}

std::uint64_t ClusterWatch::version() const {
  return scalers_.snapshot().version + fleet_.snapshot().version + deployments_.snapshot().version +
         stateful_sets_.snapshot().version + leader_worker_sets_.snapshot().version + pods_.snapshot().version +
         kai_groups_.snapshot().version + autoscalers_.snapshot().version + scaled_objects_.snapshot().version +
         variant_autoscalings_.snapshot().version + resource_claims_.snapshot().version + scaled_.version();
}

ClusterWatch::Counters ClusterWatch::counters() const {
  Counters sum;
  for (const auto& watcher : watchers_) {
    sum.events += watcher->counters().events;
    sum.rejected += watcher->counters().rejected;
    sum.relists += watcher->reflector().relists();
  }
  return sum;
}

}  // namespace capstan::op
