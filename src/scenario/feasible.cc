#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manifest/path.h"
#include "model/role_names.h"
#include "model/topology_names.h"
#include "scenario/instances.h"
#include "scenario/read_parts.h"

namespace capstan::scenario {

using manifest::ErrorList;
using manifest::Node;

namespace {

using Paths = std::vector<std::string>;

/// Returns the most GPUs of a kind that one domain of a level can hold.
GpuCount largest_domain(const Scenario& scenario, model::GpuKindId gpu, model::Level level) {
  const model::Catalog& catalog = *scenario.catalog;
  GpuCount node = 0;
  std::set<model::OfferingId> usable;
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    for (const model::OfferingId id : catalog.pools[p].offerings) {
      if (catalog.nodes_within_limits({p}, id) > 0) usable.insert(id);
    }
  }
  for (const sim::ExistingNodes& nodes : scenario.cluster.existing) usable.insert(nodes.offering);
  for (const model::OfferingId id : usable) {
    if (catalog.offering(id).gpu == gpu) node = std::max(node, catalog.offering(id).gpus);
  }
  if (level == model::TopologyLevel::node || node == 0) return node;
  const std::int64_t per_nvlink = scenario.cluster.provider.nodes_per_nvlink_domain;
  std::int64_t nvlinks = 0;  // NVLink domains of the whole cluster; all domains of a level have equally many
  std::int64_t domains = 0;
  for (const model::Domain& domain : catalog.domains) {
    nvlinks += domain.level == model::TopologyLevel::nvlink;
    domains += domain.level == level;
  }
  return node * per_nvlink * (nvlinks / std::max<std::int64_t>(domains, 1));
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
    if (workload.gpu == gpu) least += service.min_replicas * workload.tensor_parallel;
  }
  return least;
}

/// Returns the number of characters with which both names begin.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// Returns suggestions for a service whose GPU no node has: the most similar GPU that the scenario's nodes have, and an
/// instance with the service's GPU, from a cloud that the scenario uses if there is one.
std::string nearest_gpu(const model::Catalog& catalog, const std::string& gpu) {
  const model::Offering* nearest = nullptr;
  std::size_t most = 0;
  std::set<std::string> clouds;
  for (const model::Offering& offering : catalog.offerings) {
    const std::size_t common = common_prefix(catalog.gpu_kind(offering.gpu), gpu);
    if (nearest == nullptr || common > most) nearest = &offering;
    most = std::max(most, common);
    if (const Instance* known = find_instance(offering.instance_type)) clouds.insert(known->cloud);
  }
  std::string text;
  if (nearest != nullptr) {
    text = fmt::format("; {} has {}", nearest->instance_type, catalog.gpu_kind(nearest->gpu));
  }
  const Instance* fitting = nullptr;
  for (const Instance& instance : instances()) {
    if (instance.gpu != gpu) continue;
    if (fitting == nullptr || (!clouds.contains(fitting->cloud) && clouds.contains(instance.cloud)))
      fitting = &instance;
  }
  if (nearest != nullptr) text += fmt::format(", expected gpu: {}", catalog.gpu_kind(nearest->gpu));
  if (fitting != nullptr) {
    text += fmt::format("{} an instance with {} such as {}", nearest == nullptr ? ", expected" : ", or", gpu,
                        fitting->name);
  }
  return text;
}

/// Returns whole GPUs without decimals, and three decimals otherwise.
std::string gpus_text(MilliGpu gpus) {
  return gpus.count % 1000 == 0 ? fmt::format("{}", gpus.count / 1000)
                                : fmt::format("{}.{:03}", gpus.count / 1000, gpus.count % 1000);
}

/// Checks that some policy could run the scenario, and reports the first fault with its place in the file.
class Feasibility {
 public:
  Feasibility(const Scenario& scenario, const Node& root, ErrorList& errors)
      : scenario_(scenario), root_(root), errors_(errors) {}

  void check() {
    if (scenario_.bound && !scenario_.is_alone()) {
      return errors_.fail(manifest::place_for_error(root_, Paths{"bound", "services", "jobs"}),
                          "bound: found true, but the lower bound is computed for one service, expected a scenario "
                          "with one service and without jobs");
    }
    if (scenario_.bound && scenario_.endpoint().split()) {
      return errors_.fail(manifest::place_for_error(root_, Paths{"bound", "service.roles"}),
                          "bound: found true, but the lower bound is computed only for replicas that do both, "
                          "expected a service without roles");
    }
    if (scenario_.bound && scenario_.endpoint().mixed()) {
      return errors_.fail(manifest::place_for_error(root_, Paths{"bound", "service.variants"}),
                          "bound: found true, but the lower bound is computed only for replicas of one kind, "
                          "expected a service without variants");
    }
    if (!something_serves()) return;
    for (std::size_t e = 0; e < scenario_.endpoints.size(); ++e) {
      for (std::size_t r = 0; r < scenario_.endpoints[e].roles.size(); ++r) check({e, r});
    }
    for (std::size_t q = 0; q < scenario_.catalog->queues.size(); ++q) check_queue(q);
    for (std::size_t j = 0; j < scenario_.jobs.size(); ++j) check_jobs(j);
  }

 private:
  /// The replicas of one kind: a role of an endpoint.
  struct Part {
    std::size_t endpoint;
    std::size_t role;
  };
  const EndpointSpec& endpoint_of(const Part& part) const { return scenario_.endpoints[part.endpoint]; }
  const model::Service& service_of(const Part& part) const {
    return scenario_.catalog->service(endpoint_of(part).service_of(part.role));
  }

  void check(const Part& part) {
    const model::Service& service = service_of(part);
    const model::Workload& workload = service.workload;
    const std::string& gpu = scenario_.catalog->gpu_kind(workload.gpu);
    const GpuCount node = largest_domain(scenario_, workload.gpu, model::TopologyLevel::node);
    if (node == 0) return no_node(part);
    const GpuCount per_pod = workload.tensor_parallel / workload.pods;
    if (per_pod > node) {
      return refuse(
          paths_of(part, {"tensor_parallel", "pods_per_replica"}), instance_paths(),
          fmt::format("{}a pod needs {} {} GPUs, the largest node has {}", subject(part), per_pod, gpu, node));
    }
    const GpuCount domain = largest_domain(scenario_, workload.gpu, workload.together);
    if (workload.tensor_parallel > domain) {
      return refuse(
          paths_of(part, {"tensor_parallel", "together"}), instance_paths(),
          fmt::format("{}a replica is a gang of {} {} GPUs that must share one {}, the largest has {}", subject(part),
                      workload.tensor_parallel, gpu, scenario_.catalog->level_words(workload.together), domain));
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
            : fmt::format("the minimum is {} replicas of {} GPUs", service.min_replicas, workload.tensor_parallel);
    refuse(paths_of(part, {"replicas.min", "tensor_parallel"}), item_paths(root_, "cluster.pools", "gpu_limit"),
           fmt::format("{}, but nodes and pool limits allow only {} GPUs", needed, most));
  }

  const model::Queue& queue(std::size_t number) const { return scenario_.catalog->queues[number]; }

  /// Checks that a queue allows the minimum replicas of all services of it and of the queues below it.
  void check_queue(std::size_t number) {
    if (!queue(number).gpus.limit) return;
    MilliGpu least;
    Paths minima;
    for (std::size_t e = 0; e < scenario_.endpoints.size(); ++e) {
      for (std::size_t r = 0; r < scenario_.endpoints[e].roles.size(); ++r) {
        const model::Service& service = service_of({e, r});
        if (service.min_replicas == 0 || !is_below(service.workload.queue, number)) continue;
        least += whole_gpus(service.min_replicas * service.workload.tensor_parallel);
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

  bool is_below(model::QueueId id, std::size_t above) const {
    while (id.valid() && id.value != above) id = queue(id.value).parent;
    return id.valid();
  }

  /// Refuses a job that needs more GPUs than its queue, or a queue above it, may hold.
  /// @return true if it was refused
  bool is_above_queue_limit(const sim::JobClass& job_class, const std::string& owner, MilliGpu least, Paths paths) {
    for (model::QueueId id = job_class.queue; id.valid(); id = queue(id.value).parent) {
      const std::optional<MilliGpu>& limit = queue(id.value).gpus.limit;
      if (!limit || least <= *limit) continue;
      const std::string path = path_of_item("queues", id.value) + ".gpu_limit";
      refuse(std::move(paths), {path},
             fmt::format("{}: a job needs {} GPUs, but {} allows {}, expected smaller jobs or at least {} there", owner,
                         gpus_text(least), path, gpus_text(*limit), gpus_text(least)));
      return true;
    }
    return false;
  }

  /// Checks that some domain can hold each size of a class of jobs.
  void check_jobs(std::size_t number) {
    const sim::JobClass& job_class = scenario_.jobs[number].job_class;
    const std::string& gpu = scenario_.catalog->gpu_kind(job_class.gpu);
    const std::string owner = path_of_item("jobs", number);
    const GpuCount node = largest_domain(scenario_, job_class.gpu, model::TopologyLevel::node);
    if (node == 0) {
      return refuse({owner + ".gpu"}, instance_paths(), fmt::format("{}: no node has {} GPUs", owner, gpu));
    }
    const GpuCount domain = largest_domain(scenario_, job_class.gpu, job_class.together);
    if (const auto& recorded = scenario_.jobs[number].recorded) {
      return check_trace(job_class, owner, *recorded, node);
    }
    for (const workload::JobSize& size : scenario_.jobs[number].load.sizes) {
      if (size.gpus_per_pod > node) {
        return refuse(
            {owner + ".gpus_per_pod", owner + ".sizes"}, instance_paths(),
            fmt::format("{}: a pod needs {} {} GPUs, the largest node has {}", owner, size.gpus_per_pod, gpu, node));
      }
      const GpuCount least = (size.least_pods > 0 ? size.least_pods : size.pods) * size.gpus_per_pod;
      if (least > domain) {
        return refuse({owner + ".pods", owner + ".sizes", owner + ".together"}, instance_paths(),
                      fmt::format("{}: a job needs {} {} GPUs that must share one {}, the largest has {}", owner, least,
                                  gpu, scenario_.catalog->level_words(job_class.together), domain));
      }
      if (const GpuCount most = most_gpus(scenario_, job_class.gpu); least > most) {
        Paths paths = item_paths(root_, "cluster.pools", "gpu_limit");
        paths.insert(paths.begin(), {owner + ".pods", owner + ".gpus_per_pod", owner + ".sizes"});
        return refuse(paths, instance_paths(),
                      fmt::format("{}: a job needs {} {} GPUs, but nodes and pool limits allow only {}", owner, least,
                                  gpu, most));
      }
      if (is_above_queue_limit(job_class, owner, whole_gpus(least),
                               {owner + ".pods", owner + ".gpus_per_pod", owner + ".sizes", owner + ".queue"})) {
        return;
      }
    }
  }

  void check_trace(const sim::JobClass& job_class, const std::string& owner,
                   const std::vector<workload::JobArrival>& jobs, GpuCount node) {
    MilliGpu most, most_of_job;
    for (const workload::JobArrival& job : jobs) {
      most = std::max(most, job.gpus_per_pod);
      most_of_job = std::max(most_of_job, job.gpus_per_pod * (job.least_pods > 0 ? job.least_pods : job.pods));
    }
    if (most <= whole_gpus(node)) {
      is_above_queue_limit(job_class, owner, most_of_job, {owner + ".trace", owner + ".queue"});
      return;
    }
    refuse({owner + ".trace"}, instance_paths(),
           fmt::format("{}: a job of the trace needs {} {} GPUs, the largest node has {}", owner, most.count / 1000,
                       scenario_.catalog->gpu_kind(job_class.gpu), node));
  }

  std::string path_of_item(const std::string& list, std::size_t number) const {
    const Node* items = manifest::at_path(root_, list);
    const bool is_known = items != nullptr && number < items->items.size();
    return is_known ? manifest::item_path(list, items->items[number], number) : fmt::format("{}.{}", list, number);
  }

  std::string path_of_service(const Part& part) const {
    const bool is_listed = manifest::at_path(root_, "services") != nullptr;
    return is_listed ? path_of_item("services", part.endpoint) : "service";
  }

  /// Returns "services.chat: " for one of several services.
  std::string subject(const Part& part) const {
    return scenario_.endpoints.size() > 1 ? path_of_service(part) + ": " : "";
  }

  /// Returns the paths at which the file may state keys of a service: in its role or variant, or for the whole service.
  Paths paths_of(const Part& part, const Paths& keys) const {
    const std::string owner = path_of_service(part);
    const model::Workload& workload = service_of(part).workload;
    Paths paths;
    for (const std::string& key : keys) {
      if (endpoint_of(part).mixed()) paths.push_back(fmt::format("{}.variants.{}.{}", owner, part.role, key));
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
           "the cluster has no node and no pool offers one, so no replica can ever serve");
    return false;
  }

  void no_node(const Part& part) {
    const model::Workload& workload = service_of(part).workload;
    const std::string& gpu = scenario_.catalog->gpu_kind(workload.gpu);
    const auto runs = [&](const model::Offering& offering) { return offering.gpu == workload.gpu; };
    if (std::ranges::any_of(scenario_.catalog->offerings, runs)) {
      refuse(item_paths(root_, "cluster.pools", "gpu_limit"), instance_paths(),
             fmt::format("no pool may buy a node with {}: each is larger than its pool's gpu_limit", gpu));
    } else {
      refuse(
          paths_of(part, {"gpu"}), instance_paths(),
          fmt::format("no node has the GPU that the service runs on, {}{}", gpu, nearest_gpu(*scenario_.catalog, gpu)));
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
};

}  // namespace

void check_feasible(const Scenario& scenario, const Node& root, ErrorList& errors) {
  if (errors.ok()) Feasibility(scenario, root, errors).check();
}

}  // namespace capstan::scenario
