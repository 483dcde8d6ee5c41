#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive/redecide.h"
#include "archive/saved_state.h"
#include "base/quantity.h"
#include "base/time.h"
#include "explain/summary.h"
#include "model/gang.h"
#include "model/node.h"

// The state of a cluster as a terminal shows it: machines, replicas, services and their sums.
namespace capstan::top {

/// The use of a GPU.
enum class GpuUse : std::uint8_t {
  serving,   ///< a ready replica holds it
  starting,  ///< its replica loads its model
  held,      ///< a pod holds it and waits for the other pods of its replica
  draining,  ///< its replica finishes its requests, or its pod was asked to stop
  sleeping,  ///< its replica sleeps
  other,     ///< a workload that Capstan does not scale holds it
  free,      ///< free, and a replica of a service fits here
  stranded,  ///< free, but no replica of any service fits into the free GPUs of its domain
  unusable,  ///< free, but its node takes no pods or does not run yet
};
inline constexpr std::size_t kGpuUses = 9;
using GpuUses = std::array<MilliGpu, kGpuUses>;

constexpr MilliGpu& at(GpuUses& uses, GpuUse use) { return uses[static_cast<std::size_t>(use)]; }
constexpr MilliGpu at(const GpuUses& uses, GpuUse use) { return uses[static_cast<std::size_t>(use)]; }
/// Returns the GPUs that pods hold.
MilliGpu allocated(const GpuUses& uses);

struct NodeFacts {
  enum class State : std::uint8_t { ready, cordoned, terminating, launching };
  std::string name;
  State state = State::ready;
  std::string gpu;            ///< GPU kind
  std::string instance_type;  ///< empty: unknown
  std::string zone;
  std::string capacity;                ///< "on-demand", "spot" or "reserved"; empty: unknown
  std::optional<MicroUsd> per_hour{};  ///< no value: the price is unknown
  bool is_paid = true;                 ///< false: it was requested and does not exist yet
  GpuUses uses{};                      ///< their sum is the allocatable GPUs
  std::int64_t pods = 0;               ///< pods with GPUs
  Duration age{};                      ///< time since it was ready; of a launching node, since it was requested
  std::optional<Duration> ready_in{};  ///< of a launching node: predicted time until it is ready
  std::string reason{};                ///< reason why the node is given back; empty if it stays
};

struct ReplicaFacts {
  std::string name;
  model::Gang::Phase phase{};
  std::int64_t pods = 0;
  std::int64_t bound = 0;              ///< pods with a node
  MilliGpu gpus;                       ///< GPUs that all its pods ask for
  std::string gpu;                     ///< GPU kind
  Duration age{};                      ///< time since it was created
  std::optional<Duration> ready_in{};  ///< of a starting replica: predicted time until it serves
  std::string nodes{};                 ///< first node of its pods, and the number of others
  explain::Limit limit{};              ///< of a pending replica: why it waits
};

struct ServiceFacts {
  std::string name;
  ReplicaCount desired = 0;
  explain::ReplicaStates replicas{};
  std::optional<RequestCount> waiting{};      ///< requests in queues of replicas and of the gateway; no value: unknown
  std::optional<std::int64_t> late_ppm{};     ///< mean share of late requests of the replicas; no value: unknown
  std::int64_t late_allowed_ppm = 0;          ///< share that the SLO allows
  std::optional<std::int64_t> ttft_p99_us{};  ///< p99 TTFT of the slowest replica; no value: unknown
  std::string why{};                          ///< reason for the wanted replicas
};

struct Sums {
  std::int64_t nodes = 0;      ///< machines that are paid for
  std::int64_t launching = 0;  ///< requested machines that are not ready yet; the paid ones count in `nodes`, too
  std::int64_t leaving = 0;    ///< nodes that take no more pods
  GpuUses uses{};
  MicroUsd per_hour{};        ///< price of the paid machines whose price is known
  std::int64_t unpriced = 0;  ///< machines without a known price
  /// The gangs of a kind, by phase.
  struct Gangs {
    std::int64_t ready = 0;
    std::int64_t starting = 0;
    std::int64_t waiting = 0;
    std::int64_t all() const { return ready + starting + waiting; }
  };
  Gangs replicas{};  ///< replicas of services
  Gangs others{};    ///< gangs of no service: batch jobs, and workloads that Capstan does not scale
};

/// Everything that a frame shows.
struct Facts {
  std::string policy{};
  Instant at{};
  std::vector<ServiceFacts> services{};  ///< in the order of the catalog
  /// Waiting replicas first, then starting, draining, sleeping and ready replicas. Within a phase, the oldest is first.
  std::vector<ReplicaFacts> replicas{};
  std::vector<NodeFacts> nodes{};  ///< nodes by id, then the machines that have not registered yet
  Sums totals{};
};

/// Collects the facts of a state. The function decides nothing: every reason comes from `decided`.
Facts facts_of(const archive::SavedState& state, const archive::RepeatedDecisions& decided);

}  // namespace capstan::top
