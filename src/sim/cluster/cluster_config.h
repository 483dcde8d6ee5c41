#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "base/random.h"
#include "base/time.h"
#include "model/catalog.h"

namespace capstan::sim {

/// How long something takes: a draw between `low` and `high`.
struct Latency {
  enum class Shape : std::uint8_t {
    uniform,
    log_normal,  ///< one draw in twenty is below `low`, one in twenty above `high`, none above 10 years; low > 0
  };
  Duration low{};
  Duration high{};
  Shape shape = Shape::uniform;

  static constexpr Latency exactly(Duration d) { return {d, d, Shape::uniform}; }
  static constexpr Latency between(Duration low, Duration high) { return {low, high, Shape::uniform}; }

  Duration draw(RandomStream& stream) const;
  Duration midpoint() const { return (low + high) / 2; }
};

/// How nodes come. Time from a request to a node that takes pods is decision + boot + driver; the scenario sets them,
/// so that the sum is e.g. 45-60 s (Karpenter) or 90-120 s (Cluster Autoscaler); see data/cold_start.csv.
struct ProviderConfig {
  Latency decision = Latency::between(std::chrono::seconds(3), std::chrono::seconds(6));  ///< until bought: not paid
  Latency boot = Latency::between(std::chrono::seconds(30), std::chrono::seconds(40));    ///< paid from here on
  Latency driver = Latency::between(std::chrono::seconds(12), std::chrono::seconds(14));  ///< driver and device plugin
  std::vector<std::uint32_t> refused_ppm;       ///< by offering: launches that meet a capacity error; absent = 0
  std::int64_t nodes_per_nvlink_domain = 1;     ///< machines that can stand in one; with the tree: the finite capacity
  bool scatter = true;                          ///< a launched node lands in a random fitting domain; else in the first
  Duration removal = std::chrono::seconds(30);  ///< from the end of its pods until the machine is no longer paid
  std::uint32_t spot_interruptions_per_million_hours = 0;  ///< a spot node, in millionths an hour
  Duration spot_notice = std::chrono::seconds(120);        ///< from cordon to kill
  /// A zone that is lost: its nodes are gone at once, and none comes there until it is over.
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

/// Where the weights are when an engine starts on a node that never had them.
enum class WeightTier : std::uint8_t {
  object_store,  ///< over the node's NIC and the store's total
  disk,          ///< already on the node's disk (baked into its image, or a volume)
  host_memory,   ///< already in the node's memory
  peer,          ///< from a ready replica's GPU over the fabric; from the object store while there is none
};

/// What a node keeps of weights it loaded.
enum class WeightCache : std::uint8_t { none, disk, host_memory };

/// What becomes of replicas that are given up: so many sleep, their engines' weights in the node's memory, before they
/// go. Asleep they hold their GPUs, which are paid for as before.
struct Sleep {
  ReplicaCount most = 0;
  Duration longest = std::chrono::hours(1);
  Latency wake = Latency::between(std::chrono::seconds(3), std::chrono::seconds(6));
};

/// How one variant starts.
struct VariantStart {
  model::ServiceId service;
  model::VariantId variant;
  std::uint32_t image = 0;  ///< variants with one number share the image
  Bytes image_size;
  Bytes weights;  ///< of the whole replica; each node of the gang loads the share of its pods
  WeightTier tier = WeightTier::object_store;
  Latency engine_init;         ///< compile, graph capture, imports, on a node that never ran this variant
  Latency engine_init_cached;  ///< the same with its compile cache on the node
  Latency warm_up;
  std::optional<Latency> conversion{};  ///< of a replica that joins from the other role, once it is empty; none cannot
  Sleep sleep{};
  /// From here on the three take so many times as long, which nobody is told: a new image, a busy disk.
  Instant slower_from = Instant::never();
  std::int64_t slower_ppm = 2'000'000;  ///< at most ten times

  Duration slowed(Duration duration) const { return duration / 1'000 * (slower_ppm / 1'000); }
  Duration draw(const Latency& latency, Instant now, RandomStream& stream) const {
    const Duration drawn = latency.draw(stream);
    return now < slower_from ? drawn : slowed(drawn);
  }
};

/// Bandwidths that starts share, bytes per second, all > 0.
struct BandwidthConfig {
  std::int64_t registry = 10'000'000'000;      ///< all image pulls together
  std::int64_t object_store = 25'000'000'000;  ///< all weight downloads together
  std::int64_t node_nic = 3'125'000'000;       ///< one node: images and weights share it
  std::int64_t node_disk = 3'000'000'000;
  std::int64_t node_host = 20'000'000'000;
  std::int64_t node_fabric = 20'000'000'000;  ///< one node from its peers
};

/// How numbers reach controllers.
struct ScrapeConfig {
  Duration interval = std::chrono::seconds(15);
  Duration delay = std::chrono::seconds(1);            ///< from the scrape until a query sees it
  std::uint32_t loss_ppm = 0;                          ///< of one target's scrapes
  Duration blackout{};                                 ///< every scrape of so long is lost ...
  Duration blackout_every = std::chrono::minutes(30);  ///< ... so often, first after this time; > blackout

  bool dark(Instant at) const { return at.since_start >= blackout_every && at.since_start % blackout_every < blackout; }
  Duration stale_after = std::chrono::seconds(60);     ///< an older number is stale
  Duration missing_after = std::chrono::seconds(300);  ///< an older number is missing; > stale_after
};

/// Nodes that stand at the start and that somebody pays for from then on.
struct ExistingNodes {
  model::OfferingId offering;
  std::int64_t count = 0;
  model::PoolId pool;  ///< none = nobody here may give them back
};

/// Replicas that the workload object asks for at the start.
struct InitialReplicas {
  model::ServiceId service;
  model::VariantId variant;
  ReplicaCount replicas = 0;
  bool ready = true;  ///< bound and warm at time 0 where they fit; else pods that wait for a scheduler
};

/// A cluster that does not exist. Everything random about it comes from the seed.
struct ClusterConfig {
  std::shared_ptr<const model::Catalog> catalog;  ///< its domains are where nodes can stand (add_topology)
  std::vector<ExistingNodes> existing;
  std::vector<InitialReplicas> initial;
  std::vector<VariantStart> starts;  ///< one for each (service, variant) of the catalog
  ProviderConfig provider;
  BandwidthConfig bandwidth;
  WeightCache weight_cache = WeightCache::disk;
  bool image_cached_on_boot = false;  ///< every image is part of the machine's image
  ScrapeConfig scrape;

  Latency pod_creation = Latency::exactly(std::chrono::seconds(2));  ///< from /scale to pods
  Duration bind_latency = std::chrono::milliseconds(100);            ///< scheduler to kubelet
  Duration action_latency = std::chrono::milliseconds(50);           ///< every other action
  Duration unknown_after = std::chrono::seconds(10);                 ///< an unknown outcome is told this late
  std::uint32_t refused_ppm = 0;                                     ///< of actions, conflicts and webhooks
  std::uint32_t unknown_ppm = 0;                                     ///< of actions; half of these did happen
  Duration termination_grace = std::chrono::seconds(120);            ///< a drain that lasts longer is cut
  Duration drain_poll = std::chrono::seconds(1);                     ///< how soon an empty replica is noticed
  Duration scheduling_cycle = std::chrono::seconds(1);               ///< pending longer counts as deferred
  /// A bind that would spread a gang over several domains of its level is refused. No API server does that, but a
  /// placement that knows the level is held to it.
  bool enforce_together = true;
  std::int64_t memory_used_percent = 92;  ///< of an engine that has preallocated its KV cache, whatever its load
};

}  // namespace capstan::sim
