#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/random.h"
#include "base/time.h"
#include "model/catalog.h"

namespace capstan::sim {

/// The distribution of a duration.
struct Latency {
  enum class Shape : std::uint8_t {
    uniform,
    log_normal,  ///< 5 % of draws are below `low`, 5 % above `high`, none above 10 years; low > 0
  };
  Duration low{};
  Duration high{};
  Shape shape = Shape::uniform;

  static constexpr Latency exactly(Duration d) { return {d, d, Shape::uniform}; }
  static constexpr Latency between(Duration low, Duration high) { return {low, high, Shape::uniform}; }

  Duration draw(RandomStream& stream) const;
  Duration midpoint() const { return (low + high) / 2; }
};

/// The behaviour of the cloud provider. The time from a request to a node that takes pods is decision + boot + driver.
/// The scenario sets these three times, for example to a sum of 45-60 s (Karpenter) or 90-120 s (Cluster Autoscaler),
/// see data/cold_start.csv.
struct ProviderConfig {
  /// Time until the node is bought.
  Latency decision = Latency::between(std::chrono::seconds(3), std::chrono::seconds(6));
  Latency boot = Latency::between(std::chrono::seconds(30), std::chrono::seconds(40));  ///< boot time of the machine
  /// Start time of driver and plugin.
  Latency driver = Latency::between(std::chrono::seconds(12), std::chrono::seconds(14));
  std::vector<std::uint32_t> refused_ppm;    ///< share of failing launches by offering; absent = 0
  std::int64_t nodes_per_nvlink_domain = 1;  ///< machines that fit into one domain
  bool scatter = true;                       ///< a node lands in a random fitting domain; false: in the first
  /// Time from the end of a node's pods until the machine is no longer paid for. It does not apply to a node that the
  /// provider takes.
  Duration removal = std::chrono::seconds(30);
  std::uint32_t spot_interruptions_per_million_hours = 0;  ///< interruptions of one spot node per million hours
  Duration spot_notice = std::chrono::seconds(120);        ///< time from the cordon to the kill
  /// An outage of a zone: its nodes end at once, and no node can be bought there until it is over.
  struct Outage {
    model::DomainId zone;
    Instant at;
    Duration length{};
  };
  std::vector<Outage> outages{};
  bool out(model::DomainId zone, Instant now) const {
    return std::ranges::any_of(outages,
                               [&](const Outage& o) { return o.zone == zone && o.at <= now && now < o.at + o.length; });
  }
};

/// The place from which an engine loads its weights on a node that never had them.
enum class WeightTier : std::uint8_t {
  object_store,  ///< the object store, over the node's NIC; all nodes share the store's bandwidth
  disk,          ///< the node's disk: the weights are in the machine's image or on a volume
  host_memory,   ///< the node's memory
  peer,          ///< the GPU of a ready replica, over the fabric; without one, the object store
};

/// The place where a node keeps weights that it loaded.
enum class WeightCache : std::uint8_t { none, disk, host_memory };

/// How retired replicas sleep before they end. The weights of a sleeping engine are in the node's memory. A sleeping
/// replica holds its GPUs, which are still paid for.
struct Sleep {
  ReplicaCount max_replicas = 0;                  ///< replicas of a service that may sleep at once
  Duration max_duration = std::chrono::hours(1);  ///< a replica that sleeps longer ends
  Latency wake = Latency::between(std::chrono::seconds(3), std::chrono::seconds(6));
};

/// How the replicas of one service start.
struct VariantStart {
  model::ServiceId service;
  std::uint32_t image = 0;  ///< number of the image; services with the same number share it
  Bytes image_size;
  Bytes weights;  ///< weights of the whole replica; each node loads the share of its pods
  WeightTier tier = WeightTier::object_store;
  Latency engine_init;         ///< compilation, graph capture and imports on a new node
  Latency engine_init_cached;  ///< the same on a node that has the compile cache
  Latency warm_up;
  std::optional<Latency> conversion{};  ///< time to convert an empty replica of the other role; none: impossible
  Sleep sleep{};
  /// Time from which engine initialization, warm-up, conversion and waking take longer by the factor `slower_ppm`. No
  /// signal reports the change, as with a busy disk.
  Instant slower_from = Instant::never();
  std::int64_t slower_ppm = 2'000'000;  ///< factor, millionths; from 1'000'000 to 10'000'000 (ten times as long)

  Duration slowed(Duration duration) const { return duration / 1'000 * (slower_ppm / 1'000); }
  Duration draw(const Latency& latency, Instant now, RandomStream& stream) const {
    const Duration drawn = latency.draw(stream);
    return now < slower_from ? drawn : slowed(drawn);
  }
};

/// The bandwidths that starts share, in bytes per second, all > 0.
struct BandwidthConfig {
  std::int64_t registry = 10'000'000'000;      ///< all image pulls together
  std::int64_t object_store = 25'000'000'000;  ///< all weight downloads together
  std::int64_t node_nic = 3'125'000'000;       ///< bandwidth of one node for images and weights
  std::int64_t node_disk = 3'000'000'000;
  std::int64_t node_host = 20'000'000'000;
  std::int64_t node_fabric = 20'000'000'000;  ///< bandwidth of one node from its peers
};

/// How metrics reach controllers.
struct ScrapeConfig {
  Duration interval = std::chrono::seconds(15);
  Duration delay = std::chrono::seconds(1);  ///< time from the scrape until a query returns the value
  std::uint32_t loss_ppm = 0;                ///< share of the scrapes of one target that are lost
  Duration blackout{};                       ///< length of an outage of the monitoring system: every scrape is lost
  Duration blackout_every = std::chrono::minutes(30);  ///< time from the start of one outage to the next; > blackout

  bool is_blackout(Instant at) const {
    return at.since_start >= blackout_every && at.since_start % blackout_every < blackout;
  }
  Duration stale_after = std::chrono::seconds(60);     ///< an older value is stale
  Duration missing_after = std::chrono::seconds(300);  ///< an older value is missing; > stale_after
};

/// Nodes that exist at the start. They are paid for from then on.
struct ExistingNodes {
  model::OfferingId offering;
  std::int64_t count = 0;
  model::PoolId pool;               ///< pool of the nodes; none: a controller cannot give them back
  model::NodeClassId node_class{};  ///< class of their labels; none: they admit every pod
  /// Position of the entry of `cluster.existing` in the scenario that states these nodes. All nodes from one file of
  /// nodes have the same position.
  std::size_t entry = 0;
};

/// The replicas that a workload object asks for at the start.
struct InitialReplicas {
  model::ServiceId service;
  ReplicaCount replicas = 0;
  bool ready = true;  ///< true: replicas that fit are bound and ready at time 0; other pods wait for a scheduler
};

/// The settings that batch jobs of one class share. A job is a gang that computes and then ends.
struct JobClass {
  std::string name;
  model::GpuKindId gpu;  ///< kind of GPU for which a job asks first
  model::Level required_level =
      model::TopologyLevel::node;  ///< all pods of a job must be inside one domain of this level
  model::QueueId queue{};          ///< queue of the pods; none: no queue limits them
  Latency start;                   ///< time from bound to computing, also after a restart
  /// Time of computing between two checkpoints. A job that loses its pods restarts from its last checkpoint; zero: from
  /// the beginning.
  Duration checkpoint_every{};
  /// Gangs with a higher priority are placed first, and they may end preemptible jobs with a lower priority.
  std::int32_t priority = 0;
  bool preemptible = false;       ///< true: its jobs may end for a gang with a higher priority, and wait again
  model::PodClassId pod_class{};  ///< needs of a pod besides GPUs; none: only GPUs, on every node
  std::vector<model::GpuKindId> other_gpus{};  ///< kinds that a job takes if `gpu` has no room, in this order
};

/// One batch job.
struct Job {
  Instant at;                   ///< time of arrival
  std::uint32_t job_class = 0;  ///< position in `ClusterConfig::job_classes`
  std::int32_t pods = 1;
  MilliGpu gpus_per_pod;
  Duration work;                  ///< computing time that it needs with all its pods
  std::int32_t min_pods = 0;      ///< pods with which it may start; 0: all. With fewer pods, it computes for longer
  model::PodClassId pod_class{};  ///< needs of a pod besides GPUs; none: those of the class
  std::vector<model::GpuKindId> gpus{};  ///< kinds of GPU that it may use, in order; empty: those of the class

  bool is_elastic() const { return min_pods > 0 && min_pods < pods; }
};

/// Returns the kinds of GPU that a job may use, in the order in which it asks for them.
inline std::vector<model::GpuKindId> gpus_of(const JobClass& job_class, const Job& job) {
  if (!job.gpus.empty()) return job.gpus;
  std::vector<model::GpuKindId> kinds{job_class.gpu};
  kinds.insert(kinds.end(), job_class.other_gpus.begin(), job_class.other_gpus.end());
  return kinds;
}

/// The configuration of a simulated cluster. All its randomness comes from the seed.
struct ClusterConfig {
  std::shared_ptr<const model::Catalog> catalog;  ///< its domains are the places for nodes (add_topology)
  std::vector<ExistingNodes> existing;
  std::vector<InitialReplicas> initial;
  std::vector<VariantStart> starts;  ///< one per service of the catalog
  std::vector<JobClass> job_classes;
  std::vector<Job> jobs;  ///< by time of arrival
  ProviderConfig provider;
  BandwidthConfig bandwidth;
  WeightCache weight_cache = WeightCache::disk;
  bool image_cached_on_boot = false;  ///< the machine's image contains every container image
  ScrapeConfig scrape;

  Latency pod_creation = Latency::exactly(std::chrono::seconds(2));  ///< time from a higher replica count to new pods
  Duration bind_latency = std::chrono::milliseconds(100);            ///< time from the scheduler to the kubelet
  Duration action_latency = std::chrono::milliseconds(50);           ///< latency of every other action
  Duration unknown_after = std::chrono::seconds(10);  ///< delay until the controller learns that an outcome is unknown
  std::uint32_t refused_ppm = 0;  ///< share of actions refused by chance, as by conflicts and webhooks
  std::uint32_t unknown_ppm = 0;  ///< share of actions with an unknown outcome; half of them took effect
  Duration termination_grace = std::chrono::seconds(120);  ///< a drain that takes longer is cut
  Duration drain_poll = std::chrono::seconds(1);           ///< interval at which drained replicas are noticed
  Duration scheduling_cycle = std::chrono::seconds(1);     ///< a gang that is pending for longer counts as deferred
  /// Refuses a bind that would spread a gang over several domains of its level. A real API server accepts such a bind.
  /// The check finds errors of placements that keep each gang inside one domain.
  bool enforce_together = true;
  std::int64_t memory_used_percent = 92;  ///< GPU memory in use by an engine, which preallocates its KV cache
};

}  // namespace capstan::sim
