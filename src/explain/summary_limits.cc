#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "decide/place/expected_nodes.h"
#include "explain/summary.h"
#include "explain/words.h"
#include "model/pool_limit.h"
#include "model/reason_sentence.h"
#include "model/reason_template.h"
#include "model/topology_names.h"

namespace capstan::explain {
namespace {

using decide::place::PlacementResult;
using model::Gang;
using model::GangId;
using model::Reason;
using model::ReasonCode;
using model::TopologyLevel;

std::string gpus_of_kind(const model::Catalog& catalog, std::int64_t gpus, model::GpuKindId kind) {
  return fmt::format("{} {}", gpus, gpu_name(catalog, kind));
}

/// Returns " in one rack"; nothing for the whole cluster.
std::string in_one(const model::Catalog& catalog, model::Level level) {
  return level == TopologyLevel::cluster ? std::string() : fmt::format(" in one {}", catalog.level_words(level));
}

/// Returns the replicas that the load needs if no request waits.
ReplicaCount needed_without_queue(const decide::scale::Sizing& sizing) {
  return ceil_div(sizing.needed_milli - sizing.backlog_milli, std::int64_t{1'000});
}

/// Returns true if a policy wants more than its maximum, but not because the load without its queue needs more. While
/// replicas start, the queue is then a result of their cold start.
bool maximum_suffices(const decide::scale::Decision& decision) {
  if (decision.why.code != ReasonCode::at_maximum) return false;
  return !decision.sizing || needed_without_queue(*decision.sizing) <= decision.why.numbers[1];
}

/// Returns the change for a maximum that is too low. Only Capstan's own policy computes the replicas that the load
/// needs, of which some may only work off a queue. A rule on a queue or a metric asks for more replicas the longer the
/// backlog is, so the maximum must not be raised to the number that such a rule asks for.
std::string change_of_maximum(const std::string& service, const decide::scale::Decision& decision) {
  const std::int64_t wanted = decision.why.numbers[0], maximum = decision.why.numbers[1];
  if (!decision.sizing) {
    return fmt::format(
        "raise the maximum of {} above {} in small steps, and not to {} at once: that number follows the policy's "
        "metric, not the demand",
        service, maximum, wanted);
  }
  const decide::scale::Sizing& sizing = *decision.sizing;
  const ReplicaCount least = needed_without_queue(sizing);
  const std::string raise = fmt::format("raise the maximum of {} from {} to ", service, maximum);
  if (sizing.backlog_milli <= 0 || least >= wanted) return fmt::format("{}{}", raise, wanted);
  if (least > maximum)
    return fmt::format("{}{} for the load without its queue, or to {} to also work off the queue", raise, least,
                       wanted);
  return fmt::format("the load without its queue needs {}; {}{} only to work off the queue faster",
                     replicas_text(least), raise, wanted);
}

/// Returns what the user can change if signals are missing.
std::string change_of_signals(const std::string& service, ReplicaCount ready, Environment environment) {
  if (ready == 0) return "wait: no replica is ready yet, so none can report its load";
  if (environment == Environment::simulation) {
    return "wait for the next scrape of the simulation; if readings stay missing, the scenario loses them: "
           "cluster.scrape (loss, blackout)";
  }
  return fmt::format("find the lost signal: capstan explain signals {}", service);
}

/// Returns the limit of a service whose stabilization window keeps replicas. If the minimum would keep them after the
/// window, too, the minimum is the limit, because a shorter window would change nothing.
Limit limit_of_window(const model::Catalog& catalog, const decide::scale::Decision& decision, Environment environment) {
  const std::string service = service_name(catalog, decision.service);
  const auto& n = decision.why.numbers;
  const ReplicaCount least = catalog.service(decision.service).min_replicas;
  if (n[0] < n[1] && n[1] <= least) {
    return {Layer::replicas,
            fmt::format("{} has a minimum of {}, {} would be enough", service, replicas_text(least), n[0]),
            n[0] > 0 ? fmt::format("lower the minimum of {} from {} to {}", service, least, n[0])
                     : "none: without a replica, a metric of its pods is gone, and nothing starts one again"};
  }
  return {Layer::replicas,
          fmt::format("{} would be {}, but the stabilization window keeps {}", replicas_text(n[0]),
                      n[0] < n[1] ? "enough" : "needed", n[1]),
          fmt::format("wait at most {}, or shorten the window ({})", time_text(std::chrono::seconds(n[2])),
                      environment == Environment::simulation ? "downscale_stabilization or cool_down"
                                                             : "behavior.coolDown; HPA: stabilizationWindowSeconds")};
}

/// Returns the limit that a reason of the scale layer states; nothing if the reason limits nothing.
/// @param ready  replicas of the service that are ready
std::optional<Limit> limit_of_scale(const model::Catalog& catalog, const decide::scale::Decision& decision,
                                    ReplicaCount ready, Environment environment) {
  const std::string service = service_name(catalog, decision.service);
  const auto& n = decision.why.numbers;
  const auto limit = [](auto text, auto change) { return Limit{Layer::replicas, std::move(text), std::move(change)}; };
  switch (decision.why.code) {
    case ReasonCode::at_maximum:
      return limit(fmt::format("{} has a maximum of {}, {} wanted", service, replicas_text(n[1]), n[0]),
                   change_of_maximum(service, decision));
    case ReasonCode::at_minimum:
      return limit(fmt::format("{} has a minimum of {}, {} would be enough", service, replicas_text(n[1]), n[0]),
                   fmt::format("lower the minimum of {} from {} to {}", service, n[1], n[0]));
    case ReasonCode::above_maximum:
      return limit(
          fmt::format("{} has a maximum of {}, below the {} requested before", service, replicas_text(n[1]), n[0]),
          change_of_maximum(service, decision));
    case ReasonCode::below_minimum:
      return limit(
          fmt::format("{} has a minimum of {}, above the {} requested before", service, replicas_text(n[1]), n[0]),
          fmt::format("lower the minimum of {} from {} to {}", service, n[1], n[0]));
    case ReasonCode::rate_limited:
      return limit(fmt::format("the scaling behavior of {} allows {} in this period, {} wanted", service,
                               replicas_text(n[1]), n[0]),
                   fmt::format("wait for the next period, or raise value in {}.policies {}",
                               n[0] > n[1] ? "behavior.scaleUp" : "behavior.scaleDown",
                               environment == Environment::simulation ? "of the scenario's policy" : "of the HPA"));
    case ReasonCode::cooling_down:
      return limit_of_window(catalog, decision, environment);
    case ReasonCode::surplus_kept:
      return limit(fmt::format("{} would be enough now, but more were needed within the last {}", replicas_text(n[0]),
                               time_text(std::chrono::seconds(n[2]))),
                   fmt::format("wait at most {}", time_text(std::chrono::seconds(n[2]))));
    case ReasonCode::signal_missing:
      return limit(
          fmt::format("{} of {} gave no usable reading, so the number is not lowered", n[0], replicas_text(n[1])),
          change_of_signals(service, ready, environment));
    case ReasonCode::demand_unknown:
    case ReasonCode::no_replica_to_read:
      return limit("no replica reports its load", change_of_signals(service, ready, environment));
    case ReasonCode::fixed_replicas:
      return limit(fmt::format("the policy sets a fixed number of replicas for {}", service),
                   "set another number, or use another policy");
    case ReasonCode::scaling_disabled:
      return limit(fmt::format("{} asks for 0 replicas, which disables the policy, as in an HPA", service),
                   "ask for at least 1 replica");
    case ReasonCode::set_by_autoscaler:
      return limit(fmt::format("another autoscaler sets the replicas of {}", service), "change that autoscaler");
    case ReasonCode::slo_roll_back:
      return limit("after an SLO breach no replica is removed until a person acknowledges it",
                   "run the kubectl command in the condition SLOBreach of the InferenceScaler");
    case ReasonCode::gpus_denied:
      return Limit{Layer::capacity, "the cluster gave no more GPUs of this kind",
                   fmt::format("wait {} for the next attempt, or add a variant on another GPU kind",
                               time_text(std::chrono::seconds(n[1])))};
    case ReasonCode::loss_not_survived:
      return Limit{
          Layer::placement,
          fmt::format("only {} with GPUs of this kind, but the service must hold its SLO after the loss of one",
                      count_text(n[0], "domain", "domains")),
          "add nodes of this GPU kind in another domain"};
    default:
      return std::nullopt;
  }
}

/// Returns the advice to wait for the nodes of a replica and for its start on them.
/// @param why     a `nominated_to_claim`
/// @param serves  time until the replica is expected to serve; none: not known
std::string wait_until_it_serves(const Reason& why, std::optional<Duration> serves) {
  const auto& n = why.numbers;
  const std::string nodes =
      fmt::format("{} ready in {}, and then the replica has to load its image and its model",
                  n[0] == 1 ? "the node is" : "the nodes are", time_text(std::chrono::seconds(n[3])));
  if (!serves) return "wait: " + nodes;
  const Duration whole =
      std::chrono::ceil<std::chrono::seconds>(std::max<Duration>(*serves, std::chrono::seconds(n[3])));
  return fmt::format("wait about {} until it serves: {}", time_text(whole), nodes);
}

/// Returns the name of the object that a reason is about.
std::string subject_name(const model::Catalog& catalog, const Reason& why) {
  const auto subject = subject_of(why, catalog);
  return subject ? subject->name : "unknown";
}

/// Returns the change that helps pods that lack a resource other than GPUs.
std::string change_of_resource(const model::Catalog& catalog, std::int64_t resource) {
  const std::string name = model::fill_template("{0@resource}", {resource}, &catalog);
  return fmt::format("lower the amount of {} that the pods request, or add nodes that have more of it", name);
}

/// Returns the limit of a gang that cannot use GPUs that are free; nothing if too few GPUs are free.
std::optional<Limit> limit_of_unusable_gpus(const model::Catalog& catalog, const Reason& why) {
  switch (why.code) {
    case ReasonCode::resource_short:
      return Limit{Layer::placement, sentence(why, catalog), change_of_resource(catalog, why.numbers[1])};
    case ReasonCode::nodes_exclude_pods:
    case ReasonCode::no_node_admits:
      return Limit{
          Layer::placement, sentence(why, catalog),
          "compare the selectors, tolerations and ResourceClaims of a pod with the labels and taints of nodes"};
    case ReasonCode::pods_kept_apart:
    case ReasonCode::pod_set_kept_apart:
      return Limit{Layer::placement, sentence(why, catalog),
                   "prefer the anti-affinity of the running pods instead of requiring it, or wait until they end"};
    case ReasonCode::gpus_scattered:
      return Limit{Layer::placement, sentence(why, catalog),
                   "free a whole node, or split the replica into pods with fewer GPUs"};
    case ReasonCode::pod_set_short:
      return Limit{Layer::placement, sentence(why, catalog),
                   "lower the requests of these pods, or add nodes with room for them to the domain"};
    default:
      return std::nullopt;
  }
}

/// Returns the limit that the verdict on a pending gang alone states. Returns nothing if the limit also depends on
/// other facts, such as the free GPUs, the limits of pools, or the nodes on their way.
std::optional<Limit> limit_of_verdict(const model::Catalog& catalog, const Reason& why) {
  const auto& n = why.numbers;
  switch (why.code) {
    case ReasonCode::queue_limit: {
      const std::string queue = subject_name(catalog, why);
      return Limit{Layer::queue,
                   fmt::format("queue {} holds {} of its {} GPUs, {} more needed", queue, n[0], n[2], n[1]),
                   fmt::format("raise the limit of queue {} by {} to {}", queue,
                               count_text(n[0] + n[1] - n[2], "GPU", "GPUs"), n[0] + n[1])};
    }
    case ReasonCode::queue_closed: {
      const std::string queue = subject_name(catalog, why);
      return Limit{Layer::queue, fmt::format("no Queue object describes queue {}", queue),
                   fmt::format("create the Queue {}, or name another in the pods", queue)};
    }
    case ReasonCode::queue_parent_missing: {
      const std::string parent = queue_name(catalog, {static_cast<std::uint32_t>(n[1])});
      return Limit{
          Layer::queue,
          fmt::format("no Queue object describes queue {}, the parent of queue {}", parent, subject_name(catalog, why)),
          fmt::format("create the Queue {} or correct spec.parent", parent)};
    }
    case ReasonCode::queue_parent_cycle:
      return Limit{Layer::queue, fmt::format("the parents of queue {} form a loop", subject_name(catalog, why)),
                   "correct spec.parent of one of the queues in the loop"};
    case ReasonCode::pods_leaving:
      return Limit{Layer::placement,
                   fmt::format("{} of the replica still {}", count_text(n[0], "pod", "pods"),
                               n[0] == 1 ? "terminates" : "terminate"),
                   "wait until they are gone"};
    case ReasonCode::pods_missing:
      return Limit{
          Layer::placement,
          fmt::format("{} of the {} pods that the replica needs {}", n[0], n[1], n[0] == 1 ? "exists" : "exist"),
          "wait until the workload has created them, or lower the minimum of the gang"};
    case ReasonCode::no_node_admits:
      return limit_of_unusable_gpus(catalog, why);
    case ReasonCode::pods_gated:
      return Limit{Layer::placement, "scheduling gates hold pods of the replica back",
                   "wait until the controller that set the gates removes them"};
    case ReasonCode::no_gpus_requested:
      return Limit{Layer::placement, "no pod of the gang requests GPUs, and Capstan places only gangs that need some",
                   "leave the pods to kube-scheduler: remove their `schedulerName`"};
    case ReasonCode::rule_not_supported:
      return Limit{Layer::placement,
                   model::fill_template("Capstan does not follow the rule `{0@rule}` of the pods", n, &catalog),
                   "prefer the rule instead of requiring it, or leave the pods to kube-scheduler"};
    case ReasonCode::nodes_not_seen:
      return Limit{Layer::placement,
                   fmt::format("{} of the replica {} on a node whose GPUs are not visible",
                               count_text(n[0], "pod", "pods"), n[0] == 1 ? "runs" : "run"),
                   "check the device plugin of that node"};
    case ReasonCode::gang_broken:
      return Limit{
          Layer::placement, fmt::format("{} of {} needed pods have a node and wait for the others", n[0], n[1]),
          fmt::format("wait: they are evicted {} after the gang broke", time_text(std::chrono::seconds(n[2])))};
    case ReasonCode::gang_given_up:
      return Limit{Layer::placement,
                   fmt::format("only {} of {} needed pods got a node in time, so they are evicted", n[0], n[1]),
                   "wait: the replica is placed as a whole"};
    default:
      return std::nullopt;
  }
}

/// Returns the limit on nodes, CPU or memory that a pool states.
Limit other_limit_of_pool(const model::Catalog& catalog, const Reason& why) {
  const auto& n = why.numbers;
  const std::string pool = subject_name(catalog, why);
  Limit limit{Layer::pool_limit, sentence(why, catalog), {}};
  switch (why.code) {
    case ReasonCode::pool_node_limit:
      limit.change = fmt::format("raise the node limit of pool {} from {} to {}", pool, n[1], n[2] + n[0]);
      break;
    case ReasonCode::pool_cpu_limit:
      limit.change = fmt::format("raise the CPU limit of pool {} to {}", pool, ceil_div(n[2] + n[0], 1'000));
      break;
    case ReasonCode::pool_memory_limit:
      limit.change = fmt::format("raise the memory limit of pool {} to {} GiB", pool, ceil_div(n[2] + n[0], 1'024));
      break;
    default:
      limit.change = "state cpu and memory of the type in instanceTypes[] of the FleetPolicy";
      break;
  }
  return limit;
}

/// Returns the limit of the whole fleet that is too small for one replica, or nothing if every limit is large enough.
std::optional<Limit> limit_of_fleet(const model::FleetLimits& limits, std::int64_t nodes, GpuCount gpus) {
  if (limits.gpus && *limits.gpus < gpus) {
    return Limit{Layer::pool_limit, fmt::format("the replica needs {} GPUs, the fleet may have {}", gpus, *limits.gpus),
                 fmt::format("raise the GPU limit of the fleet from {} to {}", *limits.gpus, gpus)};
  }
  if (limits.nodes && *limits.nodes < nodes) {
    return Limit{
        Layer::pool_limit,
        fmt::format("the replica needs {}, the fleet may have {}", count_text(nodes, "node", "nodes"), *limits.nodes),
        fmt::format("raise the node limit of the fleet from {} to {}", *limits.nodes, nodes)};
  }
  return std::nullopt;
}

}  // namespace

/// Returns the first full pool, or nothing if a pool has room for a node with this GPU. A provisioner that batches pods
/// does not state this limit before its batch closes.
std::optional<Limit> Summarizer::full_pools(model::GpuKindId gpu, GpuCount missing) const {
  std::map<model::PoolId, model::NodeAmounts> used;
  snapshot_.nodes.for_each([&](model::NodeId, const model::Node& node) {
    if (node.pool.valid()) used[node.pool] += catalog_.amounts_of(node.offering, 1);
  });
  snapshot_.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    if (decide::place::in_transit(claim, snapshot_)) used[claim.pool] += catalog_.amounts_of(claim.offering, 1);
  });
  std::optional<Limit> full;
  for (std::uint32_t p = 0; p < catalog_.pools.size(); ++p) {
    const model::Pool& pool = catalog_.pools[p];
    for (const model::OfferingId id : pool.offerings) {
      const model::Offering& offering = catalog_.offering(id);
      if (offering.gpu != gpu) continue;
      const std::optional<Reason> refusal = model::refusal_of_pool(catalog_, {p}, id, 1, used[{p}]);
      if (!refusal) return std::nullopt;
      if (full) continue;
      if (refusal->code != ReasonCode::pool_limit) {
        full = other_limit_of_pool(catalog_, *refusal);
        continue;
      }
      const GpuCount now = used[{p}].gpus;
      const GpuCount enough = now + ceil_div(std::max<GpuCount>(missing, 1), offering.gpus) * offering.gpus;
      full = Limit{
          Layer::pool_limit,
          fmt::format("pool {} has {} of its {} GPUs, {} more needed", pool.name, now, pool.limits.gpus, enough - now),
          fmt::format("raise the GPU limit of pool {} from {} to {}", pool.name, pool.limits.gpus, enough)};
    }
  }
  return full;
}

/// Returns the GPUs of the pods that are not bound, less the free GPUs of the same kind.
GpuCount Summarizer::missing_gpus(const Gang& gang) const {
  MilliGpu missing;
  for (const model::PodId id : gang.pods) {
    const model::Pod* pod = snapshot_.pods.find(id);
    if (pod != nullptr && !pod->node.valid()) missing += pod->gpus;
  }
  return gpus_up(std::max(missing - free_gpus(gang.spec.pods.gpu), MilliGpu{}));
}

MilliGpu Summarizer::free_gpus(model::GpuKindId gpu) const {
  const auto found = free_.find(gpu);
  return found == free_.end() ? MilliGpu{} : found->second;
}

void Summarizer::add_free_gpus() {
  std::map<model::NodeId, MilliGpu> held;
  snapshot_.pods.for_each([&](model::PodId, const model::Pod& pod) {
    if (pod.node.valid()) held[pod.node] += pod.gpus;
  });
  snapshot_.nodes.for_each([&](model::NodeId id, const model::Node& node) {
    if (node.phase == model::Node::Phase::ready) free_[node.gpu] += std::max(node.gpus - held[id], MilliGpu{});
  });
}

/// Returns the limit that a reason of the provision layer states.
/// @param missing  GPUs that the replica lacks
Limit Summarizer::limit_of_nodes(const Reason& why, model::GpuKindId gpu, GpuCount missing) const {
  const auto& n = why.numbers;
  switch (why.code) {
    case ReasonCode::capacity_on_its_way:
      return nodes_booting(gpu);
    case ReasonCode::nominated_to_claim:
    case ReasonCode::nominated_overdue:
    case ReasonCode::nominated_untimed:
      return nomination(why);
    case ReasonCode::pool_limit: {
      const std::string pool = subject_name(catalog_, why);
      return {Layer::pool_limit, fmt::format("pool {} has {} of its {} GPUs, {} more needed", pool, n[2], n[1], n[0]),
              fmt::format("raise the GPU limit of pool {} from {} to {}", pool, n[1], n[2] + n[0])};
    }
    case ReasonCode::pool_node_limit:
    case ReasonCode::pool_cpu_limit:
    case ReasonCode::pool_memory_limit:
    case ReasonCode::pool_amount_unknown:
      return other_limit_of_pool(catalog_, why);
    case ReasonCode::fleet_gpu_limit:
      return {Layer::pool_limit, fmt::format("the fleet has {} of its {} GPUs, {} more needed", n[2], n[1], n[0]),
              fmt::format("raise the GPU limit of the fleet from {} to {}", n[1], n[2] + n[0])};
    case ReasonCode::fleet_node_limit:
      return {Layer::pool_limit, fmt::format("the fleet has {} of its {} nodes, {} more needed", n[2], n[1], n[0]),
              fmt::format("raise the node limit of the fleet from {} to {}", n[1], n[2] + n[0])};
    case ReasonCode::fleet_price_limit:
      return {Layer::pool_limit,
              fmt::format("the budget of the fleet is {}, {} in use, {} more needed", price_text({n[1]}),
                          price_text({n[2]}), price_text({n[0]})),
              fmt::format("raise the budget of the fleet to {}", price_text({n[2] + n[0]}))};
    case ReasonCode::backing_off:
      return {Layer::capacity,
              fmt::format("the last launch of nodes with {} failed {} ago", gpu_name(catalog_, gpu),
                          time_text(std::chrono::seconds(n[0]))),
              fmt::format("wait {} for the next attempt, or add a zone or an instance type to a pool",
                          time_text(std::chrono::seconds(std::max<std::int64_t>(n[1] - n[0], 0))))};
    case ReasonCode::no_offering:
      return {Layer::capacity,
              fmt::format("no pool offers an instance type with {} in one node", gpus_of_kind(catalog_, n[0], gpu)),
              fmt::format("add an instance type with {} to a pool", gpus_of_kind(catalog_, n[0], gpu))};
    case ReasonCode::node_lacks_resource:
      return {Layer::placement, sentence(why, catalog_), change_of_resource(catalog_, n[0])};
    case ReasonCode::domain_not_sold:
      return {Layer::placement,
              fmt::format("{} are needed in one domain, and no pool can launch nodes into a chosen one",
                          gpus_of_kind(catalog_, n[0], gpu)),
              "wait for room in a domain that exists, or allow a wider topology level"};
    case ReasonCode::batching:
      if (std::optional<Limit> full = full_pools(gpu, missing)) return *std::move(full);
      return {Layer::capacity, "nodes are bought when the batch of pending pods closes", "wait a few seconds"};
    default:
      return {Layer::capacity, sentence(why, catalog_), {}};
  }
}

Limit Summarizer::limit_of_shortfall(const decide::place::Shortfall& lack, const Reason* provision) const {
  const bool is_bought_for = provision != nullptr && provision->code != ReasonCode::node_lacks_resource;
  if (auto unusable = limit_of_unusable_gpus(catalog_, lack.why); unusable && !is_bought_for) {
    // If a new node would lack a resource, too, the change is about that resource.
    if (provision != nullptr) unusable->change = limit_of_nodes(*provision, lack.spec.pods.gpu, 0).change;
    return *std::move(unusable);
  }
  if (provision != nullptr) return limit_of_nodes(*provision, lack.spec.pods.gpu, gpus_up(lack.short_by));
  if (provision_.launched_gpus > 0) return nodes_booting(lack.spec.pods.gpu);
  const MilliGpu free = free_gpus(lack.spec.pods.gpu);
  const std::string kind = gpu_name(catalog_, lack.spec.pods.gpu);
  const std::string best = lack.best_node.valid()     ? node_name(lack.best_node)
                           : lack.best_domain.valid() ? domain_name(catalog_, lack.best_domain)
                                                      : std::string();
  const std::string level(catalog_.level_words(lack.spec.required_level));
  if (free >= lack.needed && !best.empty()) {
    return {Layer::placement,
            fmt::format("{} {} are free, but at most {} in one {} ({}), {} needed", gpus_text(free), kind,
                        gpus_text(lack.best_free), level, best, gpus_text(lack.needed)),
            fmt::format("free {} {} in {}, or allow a wider topology level", gpus_text(lack.short_by), kind, best)};
  }
  return {Layer::capacity,
          fmt::format("{} of the {} {} needed are free, and nothing is bought here",
                      gpus_text(std::min(free, lack.needed)), gpus_text(lack.needed), kind),
          best.empty()
              ? fmt::format("add {} {}{}", gpus_text(lack.short_by), kind, in_one(catalog_, lack.spec.required_level))
              : fmt::format("add {} {} in {}", gpus_text(lack.short_by), kind, best)};
}

/// Returns the limit of a gang that is larger than any domain. If a higher limit of the fleet or of a pool would help,
/// the result is that limit. Otherwise no instance type or domain is large enough.
Limit Summarizer::limit_of_size(const Gang& gang, const Reason& why) const {
  const std::int64_t needed = why.numbers[0];
  const std::string level(catalog_.level_words(gang.spec.required_level));
  const std::string kind = gpu_name(catalog_, gang.spec.pods.gpu);
  const std::int64_t pods = gang.spec.other_pods.empty() ? std::ssize(gang.pods) : gang.spec.pods.count;
  std::optional<std::pair<GpuCount, std::uint32_t>> smallest;  // limit to set, and its pool
  for (std::uint32_t p = 0; p < catalog_.pools.size(); ++p) {
    for (const model::OfferingId id : catalog_.pools[p].offerings) {
      const model::Offering& offering = catalog_.offering(id);
      if (offering.gpu != gang.spec.pods.gpu || gang.spec.pods.gpus_per_pod <= MilliGpu{}) continue;
      if (!catalog_.eligibility.admits(gang.spec.pods.pod_class, {{p}, id})) continue;
      const std::int64_t per_node = whole_gpus(offering.gpus).count / gang.spec.pods.gpus_per_pod.count;
      if (per_node == 0 || (gang.spec.required_level == TopologyLevel::node && per_node < pods)) continue;
      const std::int64_t nodes = ceil_div(pods, per_node);
      const GpuCount limit = nodes * offering.gpus;
      if (std::optional<Limit> fleet = limit_of_fleet(catalog_.limits, nodes, limit)) return *std::move(fleet);
      if (limit > catalog_.pools[p].limits.gpus && (!smallest || limit < smallest->first)) smallest = {{limit, p}};
    }
  }
  if (smallest) {
    const model::Pool& pool = catalog_.pools[smallest->second];
    return {Layer::pool_limit,
            fmt::format("the replica needs {} {}{}, pool {} may have {}", needed, kind,
                        in_one(catalog_, gang.spec.required_level), pool.name, pool.limits.gpus),
            fmt::format("raise the GPU limit of pool {} from {} to {}", pool.name, pool.limits.gpus, smallest->first)};
  }
  const std::string text =
      fmt::format("the replica needs {} {}{}, the largest {} has {}, and pools may buy {}", needed, kind,
                  in_one(catalog_, gang.spec.required_level), level, why.numbers[1], why.numbers[2]);
  if (gang.spec.required_level == TopologyLevel::node) {
    return {Layer::placement, text,
            fmt::format("add an instance type with {} {}, or split the replica into more pods", needed, kind)};
  }
  return {Layer::capacity, text,
          fmt::format("add an instance type with {} {} to a pool", gpus_text(gang.spec.pods.gpus_per_pod), kind)};
}

Limit Summarizer::limit_of(GangId id, const decide::scale::Decision& decision) const {
  const Gang& gang = snapshot_.gangs.at(id);
  if (std::ranges::find(decision.drain, id) != decision.drain.end()) {
    return {Layer::replicas, fmt::format("{} wanted, so this one is removed", replicas_text(decision.desired)), {}};
  }
  if (const model::LaunchNodes* launch = launch_for(id)) {
    const model::Offering& offering = catalog_.offering(launch->offering);
    return {Layer::cold_start,
            fmt::format("{} of {} bought now for {}{}", count_text(launch->count, "node", "nodes"),
                        offering.instance_type, price_text(offering.price_per_hour * launch->count),
                        launch->hold > Duration{} ? ", all within " + time_text(launch->hold) + " or none" : ""),
            "wait until the nodes have booted"};
  }
  const Reason* nodes = unchanged(model::Plan::NoAction::Subject::gang, id.value);
  const auto until_it_serves = [&](Limit limit, const Reason& why) {
    if (why.code != ReasonCode::nominated_to_claim || !gang.service.valid()) return limit;
    const bool is_decided = decision.service == gang.service && decision.lead;
    limit.change = wait_until_it_serves(
        why, is_decided ? std::optional(gang.created_at + *decision.lead - snapshot_.at) : std::nullopt);
    return limit;
  };
  const auto found = verdicts_.find(id);
  if (found == verdicts_.end()) {
    if (nodes != nullptr)
      return until_it_serves(limit_of_nodes(*nodes, gang.spec.pods.gpu, missing_gpus(gang)), *nodes);
    return {Layer::placement, "another scheduler binds these pods", "read its Events: kubectl describe pod"};
  }
  const PlacementResult& verdict = *found->second;
  if (std::optional<Limit> stated = limit_of_verdict(catalog_, verdict.why)) return *std::move(stated);
  if (verdict.why.code == ReasonCode::never_fits) return limit_of_size(gang, verdict.why);
  if (verdict.kind == PlacementResult::Kind::placed) return {Layer::none, "nothing: the pods are bound now", {}};
  if (verdict.kind == PlacementResult::Kind::assumed) {
    return {Layer::placement, "the pods are bound, but the API server has not confirmed it", "wait a few seconds"};
  }
  if (verdict.kind == PlacementResult::Kind::nominated && nodes == nullptr) {
    return until_it_serves(nomination(verdict.why), verdict.why);
  }
  if (const auto lack = shortfalls_.find(id); lack != shortfalls_.end()) {
    Limit limit = limit_of_shortfall(*lack->second, nodes);
    return nodes != nullptr ? until_it_serves(std::move(limit), *nodes) : limit;
  }
  if (nodes != nullptr) return until_it_serves(limit_of_nodes(*nodes, gang.spec.pods.gpu, missing_gpus(gang)), *nodes);
  return {Layer::capacity, sentence(verdict.why, catalog_),
          fmt::format("add a node with {} free {}", gpus_text(gang.spec.pods.gpus_per_pod),
                      gpu_name(catalog_, gang.spec.pods.gpu))};
}

Limit Summarizer::limit_of_service(const decide::scale::Decision& decision, Environment environment) const {
  const ReplicaStates& states = states_of(decision.service);
  for (const GangId id : states.waiting) {
    if (std::ranges::find(decision.drain, id) != decision.drain.end()) continue;
    Limit limit = limit_of(id, decision);
    if (limit.layer != Layer::none) return limit;
  }
  for (const decide::place::Shortfall& lack : place_.shortfalls) {
    if (lack.gang.valid() || lack.service != decision.service) continue;
    return limit_of_shortfall(lack, unchanged(model::Plan::NoAction::Subject::service, decision.service.value));
  }
  // A fixed number limits nothing while replicas of it are still missing.
  const bool lacks_fixed = decision.why.code == ReasonCode::fixed_replicas && states.ready < decision.desired;
  const bool only_starts = states.starting > 0 && maximum_suffices(decision);
  std::optional<Limit> scale = limit_of_scale(catalog_, decision, states.ready, environment);
  if (scale && !lacks_fixed && !only_starts) return *std::move(scale);
  if (states.starting > 0) {
    return cold_start(states.next_ready, fmt::format("{} starting", replicas_text(states.starting)));
  }
  const ReplicaCount existing = states.ready + states.starting + states.pending;
  if (decision.desired > existing) return limit_of_creation(decision, existing, environment);
  return {};
}

}  // namespace capstan::explain
