#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "experiment/run/lower_decisions.h"
#include "experiment/run/replica_use.h"
#include "model/gang.h"
#include "model/names.h"
#include "model/offering.h"
#include "ports/world.h"
#include "sim/cluster/cluster_config.h"
#include "sim/cluster/cluster_meter.h"

// The history of every node and replica of a run, for the map of the fleet, the waiting gangs and the cold starts.
namespace capstan::experiment {

/// One node from its request to its end. A moment that never came is Instant::never().
struct NodeHistory {
  /// Number of the node. A node that has not registered has a number from kClaimNumbers on.
  std::uint32_t number = 0;
  static constexpr std::uint32_t kClaimNumbers = std::uint32_t{1} << 30;
  std::string pool;  ///< empty: it belongs to no pool
  std::string instance_type;
  std::string gpu;
  std::string zone;
  std::string rack;
  std::string nvlink;  ///< NVLink domain
  GpuCount gpus = 0;
  std::string name{};                             ///< name in the cluster; empty in a simulation
  std::optional<model::CapacityType> capacity{};  ///< no value: it is unknown
  std::optional<MicroUsd> per_hour{};             ///< price; no value: it is unknown
  std::int64_t revision = 0;                      ///< number of the observation that changed the row last
  Instant requested_at = Instant::never();        ///< time of its request; never: it existed at the start
  Instant launched_at = Instant::never();         ///< time from which it is paid for; never: it existed at the start
  Instant ready_at = Instant::never();
  Instant leaving_at = Instant::never();  ///< time from which it takes no new pods
  Instant ended_at = Instant::never();
};

/// One replica or job from the creation of its pods to their end. A replica that changes its service ends one history
/// and begins another.
struct GangHistory {
  struct Step {
    Instant at;
    model::Gang::Phase phase{};
  };
  /// The GPUs that one pod held on a node.
  struct PodGpus {
    std::uint32_t node = 0;  ///< number of the node (NodeHistory::number)
    MilliGpu gpus;
    Instant from;
    Instant until = Instant::never();
  };
  /// A reason why the replica waited, from `at` until the next one or until all its pods were bound.
  struct Wait {
    Instant at;
    decide::place::PlacementResult::Kind kind{};
    std::string reason;    ///< code of the placement's reason
    std::string sentence;  ///< sentence of the reason, with the numbers at `at`
    std::string supply;    ///< reason why no node is bought for it, or the node on its way; may be empty
  };
  static constexpr std::size_t kNoUser = std::numeric_limits<std::size_t>::max();

  /// Position of its service in the catalog; a class of jobs comes after all services. kNoUser: a workload that Capstan
  /// does not scale.
  std::size_t user = 0;
  std::uint32_t ordinal = 0;  ///< number of the replica in its service, or of the job
  MilliGpu gpus;              ///< GPUs that the pods of its first set request
  Instant created_at;
  Instant ended_at = Instant::never();
  Instant initialized_at = Instant::never();         ///< first known value of model::Gang::initialized_at
  Instant containers_started_at = Instant::never();  ///< first known value of model::Gang::containers_started_at
  Duration weights{};  ///< time in which its engine loaded the weights, as the engine reports it; 0: not known
  std::string name{};  ///< name in the cluster, only if it belongs to no service; may be empty
  std::vector<Step> steps;
  std::vector<PodGpus> held;
  std::vector<Wait> waits;
  model::QueueId queue{};     ///< queue of its pods
  std::int64_t revision = 0;  ///< number of the observation that changed the row last
};

/// The signals that the controller saw in one minute, of all services together.
struct SignalMinute {
  std::int64_t silent = 0;  ///< ready replicas without a usable reading, at the first observation of the minute
  Duration oldest{};        ///< age of the oldest reading at that moment
};

/// A decision about pods or nodes, and the service or class of jobs that it is about.
struct HistoryDecision {
  LowerDecision decided;
  std::optional<std::size_t> user{};  ///< as in GangHistory; none: not about a gang
};

/// The nodes and replicas of a run in the order in which they were first seen. The size is bounded.
struct RunHistory {
  static constexpr std::size_t kMaxRows = 20'000;       ///< largest number of nodes, of replicas, and of starts
  static constexpr std::size_t kMaxSteps = 200;         ///< largest number of steps, and of waits, of one replica
  static constexpr std::size_t kMaxDecisions = 10'000;  ///< largest number of decisions about pods and nodes

  std::vector<NodeHistory> nodes;
  std::vector<GangHistory> gangs;
  std::vector<sim::ColdStart> starts;        ///< completed starts, in the order in which they ended
  std::int64_t left_out = 0;                 ///< nodes, replicas and starts beyond the bound
  std::vector<SignalMinute> signals{};       ///< by minute
  std::vector<HistoryDecision> decisions{};  ///< decisions about pods and nodes, in their order
  std::int64_t decisions_left_out = 0;       ///< later decisions beyond the bound
  std::int64_t revision = 0;                 ///< number of observations
  static constexpr std::size_t kMaxUse = 50'000;
  std::vector<UseMinute> use{};  ///< activity of the replicas, at most kMaxUse rows; empty for a simulation
};

/// Builds the history of a run, of a recording or of a controller from the observations of the control loop. The cost
/// of an observation grows with the number of changed rows; for a recording or a controller, also with the number of
/// gangs.
class HistoryRecorder {
 public:
  /// Returns the position of a gang's service or class of jobs (GangHistory::user).
  using UserOf = std::function<std::size_t(const model::Gang&)>;
  /// A new reason why a gang waits. It differs from the gang's last reason.
  struct NewWait {
    model::GangId gang;
    std::string sentence;
    std::string supply;
  };

  /// @param config  of the observed cluster; must outlive the recorder
  explicit HistoryRecorder(const sim::ClusterConfig& config);
  /// Makes the recorder of a recording or a controller. It also notes nodes that are paid for and have not registered,
  /// and the activity of the replicas.
  explicit HistoryRecorder(UserOf user_of) : user_of_(std::move(user_of)), is_of_cluster_(true) {}

  /// Notes the changed rows of an observation of a simulation, and the signals of its minute. The first observation has
  /// all rows.
  void note(const ports::Observation& seen);
  /// Notes what the controller has decided about pods and nodes since the last call, and why gangs wait.
  void note(const control::Controller& controller, const model::Catalog& catalog, Instant now);
  /// Notes the changed rows of a snapshot. The first one has all rows.
  /// @param names  names of the nodes and gangs; null: they have none
  void note_rows(const model::Snapshot& now, const model::Delta& delta, const model::Names* names = nullptr);
  /// Notes why gangs wait. Returns the reasons that are new.
  std::vector<NewWait> note_waits(const decide::place::Decision& placed, const decide::provision::Decision& provisioned,
                                  const model::Catalog& catalog, Instant now);
  /// Drops the nodes and replicas that have ended, so that there is room for further ones.
  void drop_ended(const model::Snapshot& now);

  const RunHistory& history() const { return history_; }
  RunHistory take(const std::vector<sim::ColdStart>& starts) &&;

 private:
  struct ClaimTimes {
    Instant requested_at;
    Instant launched_at = Instant::never();
  };
  void begin_booting(model::ClaimId id, const model::Claim& claim, const model::Snapshot& now);
  void end_failed_claims(const model::Snapshot& now);
  void note_use(const model::Snapshot& now);
  void note_node(model::NodeId id, const model::Node* row, const model::Catalog& catalog, Instant now,
                 const model::Names* names);
  void begin_node(model::NodeId id, const model::Node& row, const model::Catalog& catalog, Instant now,
                  const model::Names* names);
  void note_gang(model::GangId id, const model::Gang* row, Instant now);
  void note_name(model::GangId id, const model::Names& names);
  void note_pod(model::PodId id, const model::Pod* row, Instant now);
  void begin_gang(model::GangId id, const model::Gang& row, Instant at);
  GangHistory* find_gang(model::GangId id);
  void add(LowerDecision decided);
  void note_signals(const model::Snapshot& now);

  UserOf user_of_;
  bool is_of_cluster_ = false;  ///< false: the history of a simulation
  RunHistory history_;
  std::uint64_t next_action_ = 0;  ///< number in the controller's log of the first action that was not noted
  std::map<model::ClaimId, ClaimTimes> claims_;
  std::map<model::ClaimId, std::size_t> booting_;  ///< index in the history of the nodes that have not registered
  ReplicaUse use_;
  std::map<model::NodeId, std::size_t> nodes_;                            ///< index in the history; present nodes only
  std::map<model::GangId, std::size_t> gangs_;                            ///< index in the history; present gangs only
  std::map<model::PodId, std::pair<model::GangId, model::NodeId>> pods_;  ///< gang and node of each bound pod
};

}  // namespace capstan::experiment
