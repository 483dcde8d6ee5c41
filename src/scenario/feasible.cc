#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/unit_text.h"
#include "engine/instances.h"
#include "manifest/path.h"
#include "model/queue_path.h"
#include "model/role_names.h"
#include "model/topology_names.h"
#include "scenario/idle_bounds.h"
#include "scenario/read_parts.h"
#include "sim/cluster/pod_fit.h"
#include "sim/cluster/topology.h"

namespace capstan::scenario {

using manifest::ErrorList;
using manifest::Node;

namespace {

using Paths = std::vector<std::string>;

/// Returns whole GPUs without decimals, and three decimals otherwise.
std::string gpus_text(MilliGpu gpus) {
  return gpus.count % 1000 == 0 ? fmt::format("{}", gpus.count / 1000)
                                : fmt::format("{}.{:03}", gpus.count / 1000, gpus.count % 1000);
}

/// Returns "1 h100_sxm GPU" or "8 h100_sxm GPUs".
std::string counted_gpus(MilliGpu gpus, const std::string& kind) {
  return fmt::format("{} {} {}", gpus_text(gpus), kind, gpus == whole_gpus(1) ? "GPU" : "GPUs");
}

/// Nodes that exist or can be bought, and the class of their labels.
struct UsableNode {
  model::OfferingId offering;
  model::NodeClassId node_class;
  auto operator<=>(const UsableNode&) const = default;
};

using UsableNodes = std::set<UsableNode>;

/// Returns the nodes that exist or can be bought.
UsableNodes usable_nodes(const Scenario& scenario) {
  const model::Catalog& catalog = *scenario.catalog;
  UsableNodes usable;
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    for (const model::OfferingId id : catalog.pools[p].offerings) {
      if (catalog.nodes_within_limits({p}, id) > 0) usable.insert({id, sim::node_class_of(catalog, {{p}, id})});
    }
  }
  for (const sim::ExistingNodes& nodes : scenario.cluster.existing) usable.insert({nodes.offering, nodes.node_class});
  return usable;
}

/// Returns how many nodes one domain of a level can hold.
std::int64_t nodes_of_domain(const Scenario& scenario, model::Level level) {
  if (level == model::TopologyLevel::node) return 1;
  return sim::nvlink_domains_in(*scenario.catalog, level) * scenario.cluster.provider.nodes_per_nvlink_domain;
}

/// Returns the most GPUs of a kind that one domain of a level can hold.
GpuCount largest_domain(const Scenario& scenario, const UsableNodes& nodes, model::GpuKindId gpu, model::Level level) {
  GpuCount node = 0;
  for (const UsableNode& usable : nodes) {
    const model::Offering& offering = scenario.catalog->offering(usable.offering);
    if (offering.gpu == gpu) node = std::max(node, offering.gpus);
  }
  return node == 0 ? 0 : node * nodes_of_domain(scenario, level);
}

/// Returns amounts as people read them: "96 CPUs and 512 GiB".
std::string amounts_text(const model::Resources& amounts) {
  const auto cpus = static_cast<double>(amounts.cpu_milli) / 1000;
  const auto gib = static_cast<double>(amounts.memory_mib) / 1024;
  if (amounts.memory_mib == 0) return fmt::format("{:g} CPUs", cpus);
  if (amounts.cpu_milli == 0) return fmt::format("{:g} GiB", gib);
  return fmt::format("{:g} CPUs and {:g} GiB", cpus, gib);
}

/// Checks the needs of pods other than GPUs: labels, CPU and memory. If no node with enough GPUs meets them, or no
/// domain has room for all pods, returns the key in the file that states the unmet need, and the reason.
std::optional<std::pair<std::string, std::string>> missing_besides_gpus(const Scenario& scenario,
                                                                        const UsableNodes& nodes,
                                                                        const model::PodSet& pods,
                                                                        std::int64_t pods_in_domain,
                                                                        model::Level level) {
  if (!pods.pod_class.valid()) return std::nullopt;
  const model::Catalog& catalog = *scenario.catalog;
  const PodNeeds& needs = scenario.pod_needs[pods.pod_class.value];
  const std::string node = "with " + counted_gpus(pods.gpus_per_pod, catalog.gpu_kind(pods.gpu));
  std::int64_t most = 0;
  bool is_admitted = false;
  model::Resources largest;
  for (const UsableNode& usable : nodes) {
    const model::Offering& offering = catalog.offering(usable.offering);
    if (offering.gpu != pods.gpu || whole_gpus(offering.gpus) < pods.gpus_per_pod) continue;
    if (!catalog.eligibility.find(pods.pod_class)->admits(usable.node_class)) continue;
    is_admitted = true;
    const std::optional<model::Resources> empty = catalog.resources_of_new_node(usable.offering);
    const std::int64_t by_gpus = whole_gpus(offering.gpus).count / pods.gpus_per_pod.count;
    most = std::max(most, sim::pods_besides_gpus(catalog, pods, usable.node_class, empty, by_gpus));
    if (!empty) continue;
    if (empty->cpu_milli < model::kUnlimited) largest.cpu_milli = std::max(largest.cpu_milli, empty->cpu_milli);
    if (empty->memory_mib < model::kUnlimited) largest.memory_mib = std::max(largest.memory_mib, empty->memory_mib);
  }
  if (!is_admitted) {
    std::vector<std::string> labels;
    for (const auto& [name, value] : needs.selector) labels.push_back(fmt::format("{}={}", name, value));
    return std::pair("node_selector", fmt::format("no node {} has the {} {}", node,
                                                  labels.size() == 1 ? "label" : "labels", fmt::join(labels, ", ")));
  }
  const std::string key =
      needs.requests.cpu_milli > largest.cpu_milli || needs.requests.memory_mib == 0 ? "cpu" : "memory";
  if (most == 0) {
    if (needs.requests.cpu_milli == 0) largest.cpu_milli = 0;
    if (needs.requests.memory_mib == 0) largest.memory_mib = 0;
    return std::pair(key, fmt::format("a pod needs {}, but no node {} has them, the most is {}",
                                      amounts_text(needs.requests), node, amounts_text(largest)));
  }
  if (const std::int64_t room = most * nodes_of_domain(scenario, level); room < pods_in_domain) {
    return std::pair(key, fmt::format("{} pods with {} each must share one {}, which has room for {} of them",
                                      pods_in_domain, amounts_text(needs.requests), catalog.level_words(level), room));
  }
  return std::nullopt;
}

/// Returns the most GPUs of a kind that the cluster can ever have.
GpuCount most_gpus(const Scenario& scenario, model::GpuKindId gpu) {
  const model::Catalog& catalog = *scenario.catalog;
  GpuCount most = 0;
  for (const sim::ExistingNodes& nodes : scenario.cluster.existing) {
    const model::Offering& offering = catalog.offering(nodes.offering);
    if (!nodes.pool.valid() && offering.gpu == gpu) most += nodes.count * offering.gpus;
  }
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    const model::Pool& pool = catalog.pools[p];
    GpuCount by_nodes = 0;
    for (const model::OfferingId id : pool.offerings) {
      const model::Offering& offering = catalog.offering(id);
      const bool is_bounded = offering.gpu == gpu && pool.limits.nodes < pool.limits.gpus;
      if (offering.gpu == gpu)
        by_nodes = std::max(by_nodes, is_bounded ? pool.limits.nodes * offering.gpus : pool.limits.gpus);
    }
    most += std::min(by_nodes, pool.limits.gpus);
  }
  return most;
}

/// Returns the paths of a key in each item of a list: `cluster.pools.0.gpu_limit`, `cluster.pools.1.gpu_limit`, ...
Paths item_paths(const Node& root, const std::string& list, const std::string& key) {
  Paths paths;
  const Node* items = manifest::at_path(root, list);
  for (std::size_t i = 0; items != nullptr && i < items->items.size(); ++i) {
    paths.push_back(fmt::format("{}.{}.{}", list, i, key));
  }
  return paths;
}

/// Returns the GPUs of a kind that the minimum replicas of all services need together.
GpuCount least_gpus(const Scenario& scenario, model::GpuKindId gpu) {
  GpuCount least = 0;
  for (const model::Service& service : scenario.catalog->services) {
    const model::Workload& workload = service.workload;
    if (workload.gpu == gpu) least += service.min_replicas * workload.gpus_per_replica;
  }
  return least;
}

/// Returns the number of characters with which both names begin.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// Returns the clouds of the instances that the scenario uses.
std::set<std::string> clouds_of(const model::Catalog& catalog) {
  std::set<std::string> clouds;
  for (const model::Offering& offering : catalog.offerings) {
    if (const engine::Instance* known = engine::find_instance(offering.instance_type)) clouds.insert(known->cloud);
  }
  return clouds;
}

/// Returns the instances that have enough GPUs of one kind. Instances with a known price come first, because for the
/// others the scenario must state a price; then those of the scenario's clouds, and small ones.
std::vector<const engine::Instance*> fitting_instances(const model::Catalog& catalog, const std::string& gpu,
                                                       GpuCount needed) {
  const std::set<std::string> clouds = clouds_of(catalog);
  std::vector<const engine::Instance*> fitting;
  for (const engine::Instance& instance : engine::instances()) {
    if (instance.gpu == gpu && instance.gpus >= needed) fitting.push_back(&instance);
  }
  std::ranges::stable_sort(fitting, {}, [&](const engine::Instance* instance) {
    return std::tuple(!instance->on_demand_per_hour, !clouds.contains(instance->cloud), instance->gpus);
  });
  return fitting;
}

/// Returns which instances have enough GPUs of one kind in one node: ", expected instances with at least 2 such as
/// p5.48xlarge".
std::string larger_instances(const model::Catalog& catalog, const std::string& gpu, GpuCount needed) {
  constexpr std::size_t kMaxShown = 3;
  const std::vector<const engine::Instance*> fitting = fitting_instances(catalog, gpu, needed);
  if (fitting.empty()) {
    GpuCount most = 0;
    for (const engine::Instance& instance : engine::instances()) {
      if (instance.gpu == gpu) most = std::max(most, instance.gpus);
    }
    return most == 0 ? "" : fmt::format(" (no instance of data/instances.csv has more than {})", most);
  }
  std::vector<std::string_view> names;
  for (const engine::Instance* instance : fitting) names.push_back(instance->name);
  if (names.size() > kMaxShown) names.resize(kMaxShown);
  return fmt::format(", expected instances with at least {} such as {}", needed, manifest::one_of(names));
}

/// Returns suggestions for a GPU that no node has: the most similar GPU that the scenario's nodes have, and an
/// instance that fits.
/// @param needed  GPUs that the instance must have
std::string nearest_gpu(const model::Catalog& catalog, const std::string& gpu, GpuCount needed) {
  const model::Offering* nearest = nullptr;
  std::size_t most = 0;
  for (const model::Offering& offering : catalog.offerings) {
    const std::size_t common = common_prefix(catalog.gpu_kind(offering.gpu), gpu);
    if (nearest == nullptr || common > most) nearest = &offering;
    most = std::max(most, common);
  }
  std::string text;
  if (nearest != nullptr) {
    text = fmt::format("; {0} has {1}, expected gpu: {1}", nearest->instance_type, catalog.gpu_kind(nearest->gpu));
  }
  const std::vector<const engine::Instance*> fitting = fitting_instances(catalog, gpu, needed);
  if (!fitting.empty()) {
    text += fmt::format("{} an instance with {}{} such as {}", nearest == nullptr ? ", expected" : ", or",
                        needed == 1 ? "" : fmt::format("at least {} ", needed), gpu, fitting.front()->name);
  }
  return text;
}

/// Checks that some policy could run the scenario. Reports the first fault of each service and each class of jobs, and
/// all queues with too low a limit, with their places in the file.
class Feasibility {
 public:
  Feasibility(const Scenario& scenario, const Node& root, ErrorList& errors)
      : scenario_(scenario), root_(root), errors_(errors), usable_(usable_nodes(scenario)) {}

  void check() {
    if (scenario_.bound && !scenario_.is_alone()) {
      return errors_.fail(manifest::place_for_error(root_, Paths{"bound", "services", "jobs"}),
                          "bound: found true, but the lower bound is computed for one service, expected a scenario "
                          "with one service and without jobs");
    }
    if (scenario_.bound && scenario_.endpoint().is_disaggregated()) {
      return errors_.fail(manifest::place_for_error(root_, Paths{"bound", "service.roles"}),
                          "bound: found true, but the lower bound is computed only for replicas that do both, "
                          "expected a service without roles");
    }
    if (scenario_.bound && scenario_.endpoint().has_variants()) {
      return errors_.fail(manifest::place_for_error(root_, Paths{"bound", "service.variants"}),
                          "bound: found true, but the lower bound is computed only for replicas of one kind, "
                          "expected a service without variants");
    }
    if (!something_serves()) return;
    for (std::size_t e = 0; e < scenario_.endpoints.size(); ++e) {
      for (std::size_t r = 0; r < scenario_.endpoints[e].roles.size(); ++r) check({e, r});
      if (errors_.ok()) check_bounds({e, 0});
    }
    for (std::size_t q = 0; q < scenario_.catalog->queues.size(); ++q) check_queue(q);
    for (std::size_t j = 0; j < scenario_.jobs.size(); ++j) check_jobs(j);
  }

 private:
  /// One role or variant of an endpoint.
  struct EndpointRole {
    std::size_t endpoint;
    std::size_t role;
  };
  const EndpointSpec& endpoint_of(const EndpointRole& part) const { return scenario_.endpoints[part.endpoint]; }
  const model::Service& service_of(const EndpointRole& part) const {
    return scenario_.catalog->service(endpoint_of(part).service_of(part.role));
  }

  void check(const EndpointRole& part) {
    const model::Service& service = service_of(part);
    const model::Workload& workload = service.workload;
    const std::string& gpu = scenario_.catalog->gpu_kind(workload.gpu);
    const GpuCount node = largest_domain(scenario_, usable_, workload.gpu, model::TopologyLevel::node);
    if (node == 0) return no_node(part);
    const GpuCount per_pod = workload.gpus_per_replica / workload.pods;
    if (per_pod > node) {
      return refuse(paths_of(part, {"tensor_parallel", "pods_per_replica"}), instance_paths(),
                    fmt::format("{}a pod needs {}, the largest node has {}{}", subject(part),
                                counted_gpus(whole_gpus(per_pod), gpu), node,
                                larger_instances(*scenario_.catalog, gpu, per_pod)));
    }
    const GpuCount domain = largest_domain(scenario_, usable_, workload.gpu, workload.required_level);
    if (workload.gpus_per_replica > domain) {
      const bool is_node = workload.required_level == model::TopologyLevel::node;
      return refuse(
          paths_of(part, {"tensor_parallel", "together"}), instance_paths(),
          fmt::format("{}a replica is a gang of {} {} GPUs that must share one {}, the largest has {}{}", subject(part),
                      workload.gpus_per_replica, gpu, scenario_.catalog->level_words(workload.required_level), domain,
                      is_node ? larger_instances(*scenario_.catalog, gpu, workload.gpus_per_replica) : ""));
    }
    const model::PodSet pods = workload.gang().pods;
    if (const auto missing = missing_besides_gpus(scenario_, usable_, pods, pods.count, workload.required_level)) {
      return refuse(paths_of(part, {missing->first}), {}, subject(part) + missing->second);
    }
    const Duration front_end = endpoint_of(part).roles.front().front_end;
    if (service.slo.ttft > Duration{} && service.slo.ttft_prefills_milli == 0 && front_end >= service.slo.ttft) {
      return refuse(paths_of(part, {"engine_settings.front_end", "slo.ttft"}), {},
                    fmt::format("{}the front end alone takes {} of every first token, the SLO allows {}", subject(part),
                                manifest::duration_text(front_end), manifest::duration_text(service.slo.ttft)));
    }
    const GpuCount most = most_gpus(scenario_, workload.gpu);
    const GpuCount least = least_gpus(scenario_, workload.gpu);
    if (least <= most) return;
    const std::string needed =
        scenario_.catalog->services.size() > 1
            ? fmt::format("the minimum replicas of all services need {} GPUs", least)
            : fmt::format("the minimum is {} of {}", count_text(service.min_replicas, "replica", "replicas"),
                          count_text(workload.gpus_per_replica, "GPU", "GPUs"));
    refuse(paths_of(part, {"replicas.min", "tensor_parallel"}), item_paths(root_, "cluster.pools", "gpu_limit"),
           fmt::format("{}, but nodes and pool limits allow only {} GPUs", needed, most));
  }

  /// Checks that one request on an idle replica can hold the SLO of an endpoint.
  void check_bounds(const EndpointRole& first) {
    const auto found = impossible_bound(endpoint_of(first), service_of(first).slo);
    if (!found) return;
    refuse({fmt::format("{}.slo.{}", path_of_service(first), found->key)}, {},
           fmt::format("{}slo.{}: {}", scenario_.endpoints.size() > 1 ? path_of_service(first) + "." : "", found->key,
                       found->reason));
  }

  const model::Queue& queue(std::size_t number) const { return scenario_.catalog->queues[number]; }

  /// Checks that a queue allows the minimum replicas of all services in it and in the queues below it.
  void check_queue(std::size_t number) {
    if (!queue(number).gpus.limit) return;
    MilliGpu least;
    Paths minima;
    for (std::size_t e = 0; e < scenario_.endpoints.size(); ++e) {
      for (std::size_t r = 0; r < scenario_.endpoints[e].roles.size(); ++r) {
        const model::Service& service = service_of({e, r});
        if (service.min_replicas == 0 || !is_below(service.workload.queue, number)) continue;
        least += whole_gpus(service.min_replicas * service.workload.gpus_per_replica);
        for (std::string& path : paths_of({e, r}, {"replicas.min"})) minima.push_back(std::move(path));
      }
    }
    if (least <= *queue(number).gpus.limit) return;
    const std::string path = path_of_item("queues", number) + ".gpu_limit";
    minima.insert(minima.begin(), path);
    refuse(minima, {},
           fmt::format("{}: found {}, but the minimum replicas of its services need {} GPUs, expected at least {} or "
                       "lower minima",
                       path, gpus_text(*queue(number).gpus.limit), gpus_text(least), gpus_text(least)));
  }

  model::QueuePath queues_from(model::QueueId id) const { return {scenario_.catalog->queues, id}; }
  bool is_below(model::QueueId first, std::size_t above) const {
    for (const model::QueueId id : queues_from(first)) {
      if (id.value == above) return true;
    }
    return false;
  }

  /// Refuses a job that needs more GPUs than its queue, or a queue above it, may hold.
  /// @return true if it was refused
  bool refuse_above_queue_limit(const sim::JobClass& job_class, const std::string& owner, MilliGpu least, Paths paths) {
    for (const model::QueueId id : queues_from(job_class.queue)) {
      const std::optional<MilliGpu>& limit = queue(id.value).gpus.limit;
      if (!limit || least <= *limit) continue;
      const std::string path = path_of_item("queues", id.value) + ".gpu_limit";
      refuse(std::move(paths), {path},
             fmt::format("{}: a job needs {} {}, but {} allows {}, expected smaller jobs or at least {} there", owner,
                         gpus_text(least), least == whole_gpus(1) ? "GPU" : "GPUs", path, gpus_text(*limit),
                         gpus_text(least)));
      return true;
    }
    return false;
  }

  /// The reason why no job of a size can run, and the keys of the class that cause it.
  struct Refusal {
    std::vector<std::string> keys;
    std::string reason;
  };

  /// Checks that each size of a class of jobs can run on the nodes of some domain and within the limits of queues.
  void check_jobs(std::size_t number) {
    const JobSpec& spec = scenario_.jobs[number];
    const std::string owner = path_of_item("jobs", number);
    if (!spec.recorded) {
      for (const workload::JobSize& size : spec.load.sizes) {
        const std::int64_t pods = size.min_pods > 0 ? size.min_pods : size.pods;
        if (refuse_impossible_size(spec, owner, {.pods = pods, .gpus_per_pod = whole_gpus(size.gpus_per_pod)})) return;
      }
      return;
    }
    for (const RecordedJob& job : *spec.recorded) {
      const std::int64_t pods = job.arrival.min_pods > 0 ? job.arrival.min_pods : job.arrival.pods;
      if (refuse_impossible_size(spec, owner, {pods, job.arrival.gpus_per_pod, job.pod_class, job.gpus})) return;
    }
  }

  /// One size of a job.
  struct SizeOfJob {
    std::int64_t pods = 0;
    MilliGpu gpus_per_pod;
    model::PodClassId pod_class{};
    std::vector<model::GpuKindId> gpus{};
  };

  /// Refuses a size that can run with none of the job's kinds of GPU, or that exceeds the limit of a queue.
  /// @return true if it was refused
  bool refuse_impossible_size(const JobSpec& spec, const std::string& owner, const SizeOfJob& size) {
    const sim::JobClass& job_class = spec.job_class;
    std::optional<Refusal> first;
    sim::Job job;
    job.gpus = size.gpus;
    for (const model::GpuKindId gpu : sim::gpus_of(job_class, job)) {
      model::PodSet pods{.gpu = gpu, .count = size.pods, .gpus_per_pod = size.gpus_per_pod};
      pods.pod_class = size.pod_class.valid() ? size.pod_class : job_class.pod_class;
      std::optional<Refusal> refusal = refusal_of(pods, job_class.required_level, spec.recorded.has_value());
      if (!refusal) {
        return refuse_above_queue_limit(job_class, owner, size.gpus_per_pod * size.pods,
                                        paths_of_class(spec, owner, {"pods", "gpus_per_pod", "sizes", "queue"}));
      }
      if (!first) first = std::move(refusal);
    }
    if (!first) return false;
    Paths more = item_paths(root_, "cluster.pools", "gpu_limit");
    for (std::string& path : instance_paths()) more.push_back(std::move(path));
    refuse(paths_of_class(spec, owner, first->keys), more, fmt::format("{}: {}", owner, first->reason));
    return true;
  }

  /// Returns the paths at which the file states keys of a class. If the class has a trace, they include its path,
  /// because the rows of the trace state sizes and amounts.
  static Paths paths_of_class(const JobSpec& spec, const std::string& owner, const std::vector<std::string>& keys) {
    Paths paths;
    for (const std::string& key : keys) paths.push_back(fmt::format("{}.{}", owner, key));
    if (spec.recorded) paths.push_back(owner + ".trace");
    return paths;
  }

  std::optional<Refusal> refusal_of(const model::PodSet& pods, model::Level required_level, bool is_recorded) const {
    const std::string& gpu = scenario_.catalog->gpu_kind(pods.gpu);
    const std::string job = is_recorded ? "a job of the trace" : "a job";
    const GpuCount node = largest_domain(scenario_, usable_, pods.gpu, model::TopologyLevel::node);
    const GpuCount whole_of_pod = (pods.gpus_per_pod.count + 999) / 1000;
    if (node == 0) {
      return Refusal{{"gpu"},
                     fmt::format("no node has {} GPUs{}", gpu, nearest_gpu(*scenario_.catalog, gpu, whole_of_pod))};
    }
    if (pods.gpus_per_pod > whole_gpus(node)) {
      return Refusal{{"gpus_per_pod", "sizes"},
                     fmt::format("{} needs {} {} GPUs, the largest node has {}{}", is_recorded ? job : "a pod",
                                 gpus_text(pods.gpus_per_pod), gpu, node,
                                 larger_instances(*scenario_.catalog, gpu, whole_of_pod))};
    }
    const MilliGpu least = pods.gpus_per_pod * pods.count;
    if (const GpuCount domain = largest_domain(scenario_, usable_, pods.gpu, required_level);
        least > whole_gpus(domain)) {
      return Refusal{{"pods", "sizes", "together"},
                     fmt::format("{} needs {} {} GPUs that must share one {}, the largest has {}", job,
                                 gpus_text(least), gpu, scenario_.catalog->level_words(required_level), domain)};
    }
    if (const GpuCount most = most_gpus(scenario_, pods.gpu); least > whole_gpus(most)) {
      return Refusal{{"pods", "gpus_per_pod", "sizes"},
                     fmt::format("{} needs {} {} GPUs, but nodes and pool limits allow only {}", job, gpus_text(least),
                                 gpu, most)};
    }
    const auto missing = missing_besides_gpus(scenario_, usable_, pods, pods.count, required_level);
    return missing ? std::optional(Refusal{{missing->first}, missing->second}) : std::nullopt;
  }

  std::string path_of_item(const std::string& list, std::size_t number) const {
    const Node* items = manifest::at_path(root_, list);
    const bool is_known = items != nullptr && number < items->items.size();
    return is_known ? manifest::item_path(list, items->items[number], number) : fmt::format("{}.{}", list, number);
  }

  std::string path_of_service(const EndpointRole& part) const {
    const bool is_listed = manifest::at_path(root_, "services") != nullptr;
    return is_listed ? path_of_item("services", part.endpoint) : "service";
  }

  /// Returns "services.chat: " for one of several services.
  std::string subject(const EndpointRole& part) const {
    return scenario_.endpoints.size() > 1 ? path_of_service(part) + ": " : "";
  }

  /// Returns the paths at which the file may state keys of a service: in its role or variant, or for the whole service.
  Paths paths_of(const EndpointRole& part, const Paths& keys) const {
    const std::string owner = path_of_service(part);
    const model::Workload& workload = service_of(part).workload;
    Paths paths;
    for (const std::string& key : keys) {
      if (endpoint_of(part).has_variants()) paths.push_back(fmt::format("{}.variants.{}.{}", owner, part.role, key));
      if (workload.role != model::Role::both) {
        paths.push_back(fmt::format("{}.roles.{}.{}", owner, model::name(workload.role), key));
      }
      paths.push_back(owner + "." + key);
    }
    return paths;
  }

  void refuse(Paths paths, const Paths& more, std::string message) {
    paths.insert(paths.end(), more.begin(), more.end());
    errors_.fail(manifest::place_for_error(root_, paths), std::move(message), ErrorKind::infeasible);
  }

  bool something_serves() {
    const auto sells = [](const model::Pool& pool) { return !pool.offerings.empty(); };
    const bool can_buy = std::ranges::any_of(scenario_.catalog->pools, sells);
    if (can_buy || !scenario_.cluster.existing.empty()) return true;
    refuse(item_paths(root_, "cluster.pools", "offerings"), {"cluster.pools", "cluster.existing", "cluster"},
           scenario_.has_only_jobs() ? "the cluster has no node and no pool offers one, so no job can ever run"
                                     : "the cluster has no node and no pool offers one, so no replica can ever serve");
    return false;
  }

  void no_node(const EndpointRole& part) {
    const model::Workload& workload = service_of(part).workload;
    const std::string& gpu = scenario_.catalog->gpu_kind(workload.gpu);
    const auto runs = [&](const model::Offering& offering) { return offering.gpu == workload.gpu; };
    if (std::ranges::any_of(scenario_.catalog->offerings, runs)) {
      refuse(item_paths(root_, "cluster.pools", "gpu_limit"), instance_paths(),
             fmt::format("no pool may buy a node with {}: each is larger than its pool's gpu_limit", gpu));
    } else {
      const bool is_node = workload.required_level == model::TopologyLevel::node;
      const GpuCount needed = is_node ? workload.gpus_per_replica : workload.gpus_per_replica / workload.pods;
      refuse(paths_of(part, {"gpu"}), instance_paths(),
             fmt::format("no node has the GPU that the service runs on, {}{}", gpu,
                         nearest_gpu(*scenario_.catalog, gpu, needed)));
    }
  }

  /// Returns the paths at which the file names instances.
  Paths instance_paths() const {
    Paths paths = item_paths(root_, "cluster.existing", "instance");
    for (const std::string& offerings : item_paths(root_, "cluster.pools", "offerings")) {
      const Paths named = item_paths(root_, offerings, "instance");
      paths.insert(paths.end(), named.begin(), named.end());
    }
    return paths;
  }

  const Scenario& scenario_;
  const Node& root_;
  ErrorList& errors_;
  const UsableNodes usable_;
};

}  // namespace

void check_feasible(const Scenario& scenario, const Node& root, ErrorList& errors) {
  if (errors.ok()) Feasibility(scenario, root, errors).check();
}

}  // namespace capstan::scenario
