#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "model/names.h"
#include "model/snapshot.h"

namespace capstan::explain {

/// The layer at fault: the part of the system that prevents the wanted state of an object.
enum class Layer : std::uint8_t {
  none,        ///< nothing limits the object
  replicas,    ///< the number of replicas: a bound, a rate limit, a hold or missing signals
  queue,       ///< the limit of a queue
  placement,   ///< GPUs are free, but not together in one domain; or another scheduler binds the pods
  pool_limit,  ///< the limit of a node pool or of the whole fleet
  capacity,    ///< no free GPUs, and none can be bought now
  cold_start,  ///< nodes boot, or engines load their model
};
/// "replicas", "queue", "placement", "pool limit", "capacity", "cold start"; "nothing" for `none`.
std::string_view name(Layer layer);
/// Returns the metric that shows this layer at fault, with its labels; empty for `none`. Each is a metric of
/// `capstan run` (docs/reference/metrics.md), Karpenter, KAI or kube-scheduler.
std::string_view metric(Layer layer);

/// A limit of an object.
struct Limit {
  Layer layer = Layer::none;
  std::string text = "nothing";
  std::string change{};  ///< the smallest change that would help, as an instruction; empty: none is needed or known
};

/// The answer about one object in three lines.
struct Summary {
  std::string wanted;   ///< what is wanted and why
  std::string present;  ///< replicas or pods by state, held GPUs and their price
  Limit limit;
};

/// Returns three lines that begin with "wanted:", "present:" and "limit:". The third has the change, and the metric if
/// a layer is at fault. No line is cut, whatever its length.
std::string lines(const Summary& summary);
/// Returns the summary as one line for a status message, an Event or a log.
std::string one_line(const Summary& summary);

/// The kind of system in which a decision was made. Advice that fits a cluster may be useless in a simulation.
enum class Environment : std::uint8_t {
  cluster,     ///< a cluster; it is not known whether Capstan may act there
  active,      ///< a cluster in which Capstan sets the replicas
  shadow,      ///< a cluster in which Capstan only shows what it would do
  simulation,  ///< a scenario
};

/// GPUs that a replica or a service holds, and their price.
struct HeldGpus {
  MilliGpu gpus;
  MicroUsd per_hour;  ///< price of the GPUs whose price is known
  MilliGpu unpriced;  ///< GPUs among `gpus` whose price is unknown
  model::GpuKindId kind{};

  void add(const HeldGpus& other);
};

/// Replicas of a service by state.
struct ReplicaStates {
  ReplicaCount ready = 0;
  ReplicaCount starting = 0;
  ReplicaCount pending = 0;
  ReplicaCount draining = 0;
  ReplicaCount sleeping = 0;
  HeldGpus held;
  std::vector<model::GangId> waiting{};   ///< pending replicas, oldest first
  Instant next_ready = Instant::never();  ///< time at which the next starting replica is expected to serve
};

/// Summarizes objects of one snapshot from the decisions about it. It makes no decision itself.
class Summarizer {
 public:
  /// Walks all replicas and nodes once. The arguments must outlive the summarizer.
  Summarizer(const model::Snapshot& snapshot, const model::Names& names, const decide::place::Decision& place,
             const decide::provision::Decision& provision);

  /// @param decision  decision about this service
  Summary service(const decide::scale::Decision& decision, Environment environment = Environment::cluster) const;
  /// @param decision  decision about the service of the gang
  Summary gang(model::GangId id, const decide::scale::Decision& decision) const;
  Summary pod(model::PodId id, const decide::scale::Decision& decision) const;
  Summary node(model::NodeId id) const;

  /// Returns the limit of a gang whose pods are not all bound.
  Limit limit_of(model::GangId id, const decide::scale::Decision& decision) const;

  /// Returns the replicas of a service. The reference is valid as long as the summarizer exists.
  const ReplicaStates& states_of(model::ServiceId service) const;

 private:
  HeldGpus held_by(const model::Pod& pod) const;
  HeldGpus held_by(const model::Gang& gang) const;
  std::string node_name(model::NodeId id) const;
  std::string held_text(const HeldGpus& held) const;
  std::string pods_text(const model::Gang& gang) const;
  Limit limit_of_service(const decide::scale::Decision& decision, Environment environment) const;
  Limit limit_of_creation(const decide::scale::Decision& decision, ReplicaCount existing,
                          Environment environment) const;
  Limit limit_of_shortfall(const decide::place::Shortfall& lack, const model::Reason* provision) const;
  Limit limit_of_nodes(const model::Reason& why, model::GpuKindId gpu, GpuCount missing) const;
  std::optional<Limit> full_pools(model::GpuKindId gpu, GpuCount missing) const;
  GpuCount missing_gpus(const model::Gang& gang) const;
  MilliGpu free_gpus(model::GpuKindId gpu) const;
  void add_free_gpus();
  Limit limit_of_size(const model::Gang& gang, const model::Reason& why) const;
  Limit cold_start(Instant ready_at, std::string what) const;
  Limit nodes_booting(model::GpuKindId gpu) const;
  Limit nomination(const model::Reason& why) const;
  const model::Reason* unchanged(model::Plan::NoAction::Subject subject, std::uint32_t id) const;
  const model::LaunchNodes* launch_for(model::GangId id) const;

  const model::Snapshot& snapshot_;
  const model::Catalog& catalog_;
  const model::Names& names_;
  const decide::place::Decision& place_;
  const decide::provision::Decision& provision_;
  std::map<model::ServiceId, ReplicaStates> states_;
  std::map<model::GpuKindId, MilliGpu> free_;  ///< free GPUs of the nodes that take pods
  std::map<model::GangId, const decide::place::PlacementResult*> verdicts_;
  std::map<model::GangId, const decide::place::Shortfall*> shortfalls_;
};

}  // namespace capstan::explain
