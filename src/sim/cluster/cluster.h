#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "model/snapshot.h"
#include "ports/world.h"
#include "sim/cluster/cluster_config.h"
#include "sim/cluster/cluster_meter.h"
#include "sim/cluster/flow_network.h"
#include "sim/cluster/serving_hook.h"

namespace capstan::sim {

/// A cluster behind the port of the control loop: nodes that are bought, boot, and go; pods that a workload controller
/// makes some time after a scale-up; gangs that start when all their pods are bound, through a chain of phases that
/// share bandwidth; actions that take time, are refused, or whose outcome stays unknown; metrics that are scraped.
///
/// What a controller may rely on:
/// - A claim becomes `registered` at the moment its node takes pods, and stays as long as the node does. Before that it
///   is capacity on its way. A failed one is seen in exactly one observation.
/// - A gang's ordinal is the lowest that no gang of its (service, variant) has, draining ones included.
/// - A restarted replica (its node went, or a pod of it was evicted) is a new gang with new pods, made by the workload
///   controller as after a scale-up. An evicted pod of a gang that never had all its pods bound is replaced at once.
/// - A replica that changes its role keeps its gang, pods and nodes; its engine's counters begin anew in the other.
/// - A signal's age is as of the last publication of its scrape round, so rows change once a scrape interval; nothing
///   in a snapshot is newer than its scrape. A lost scrape keeps the old number and ages it: value, then stale, then
///   missing.
/// - A replica that has not been ready yet is not scraped: its signals are missing.
///
/// The order of a run: advance the serving side to next_event(), then advance(next_event()); observe and submit at any
/// time in between. Same configuration, seed and calls: same bytes.
class Cluster final : public ports::World {
 public:
  /// Claims of one LaunchNodes; a longer request is refused.
  static constexpr std::int64_t kMaxLaunch = 1024;

  /// `hook` outlives the cluster and is first called by advance().
  Cluster(ClusterConfig config, std::uint64_t seed, ServingHook& hook);

  Instant next_event();      ///< never() when nothing more will happen by itself (scrapes go on for ever)
  void advance(Instant to);  ///< handles every event at or before `to`, in the order of time, kind and sequence

  Instant now() const override { return now_; }
  ports::Observation observe() override;
  model::ActionToken submit(const model::Action& action) override;

  /// Totals up to `end` >= now(), as if nothing happened between.
  ClusterMeter meter(Instant end);
  const std::vector<ColdStart>& cold_starts() const { return cold_starts_; }  ///< completed ones, in order
  const model::Snapshot& truth() const { return seen_; }  ///< for reports and tests, never for a controller

  void check_invariants();  ///< asserts: no GPU given twice, sums, ids that point both ways; linear in the cluster
  std::uint64_t state_hash();

 private:
  /// At one moment they happen in this order: first what frees, then what arrives, then who looks.
  enum class EventKind : std::uint8_t {
    node_gone,
    spot_kill,
    spot_notice,
    drain_deadline,
    drain_poll,
    sleep_over,
    claim_decided,
    node_booted,
    node_ready,
    action_effect,
    unknown_told,
    reconcile,
    initial,
    engine_ready,
    warm,
    scrape,
    publish,
    outage,
  };
  struct Event {
    Instant at;
    EventKind kind{};
    std::uint64_t sequence = 0;
    std::uint32_t id = 0;
    friend auto operator<=>(const Event&, const Event&) = default;
  };

  /// The part of a claim that no controller sees.
  struct ClaimRecord {
    model::DomainId place;                 ///< NVLink domain, once bought
    Instant bought_at = Instant::never();  ///< paid from here until its node takes over
    Instant booted_at;
    bool bought() const { return !bought_at.is_never(); }
  };
  struct Image {
    std::uint32_t number = 0;
    bool cached = false;
  };
  using WorkloadKey = std::pair<model::ServiceId, model::VariantId>;
  struct Weights {
    WorkloadKey of;
    Bytes loaded;           ///< the largest share that was loaded here
    bool compiled = false;  ///< the engine's compile cache is here
  };
  struct NodeRecord {
    MilliGpu allocated;
    Instant allocated_since;  ///< free GPU time is accounted up to here
    Instant paid_since;
    model::DomainId place;
    std::vector<model::PodId> pods;
    std::vector<Image> images;
    std::vector<Weights> weights;
    LinkId nic, disk, host, fabric;
  };
  enum class Stage : std::uint8_t {
    binding,
    images,
    weights,
    init,
    warm,
    ready,
    draining,
    sleeping,
    converting,  ///< of another role already, while it finishes what it holds of the one that it had
  };
  struct GangRecord {
    Stage stage = Stage::binding;
    Instant deferred_at;  ///< pending after this counts as deferred
    ColdStart start;
    std::vector<FlowId> loads;
    Instant ready_since;
    bool to_sleep = false;  ///< once it holds nothing more
    bool woken = false;
    bool is_spread = false;  ///< its pods stand in several domains of its level
    Instant asleep_until;
    Instant cut_at;  ///< when the grace of the drain under way is over
    // What was scraped: the reading of the scrape before, and the last that arrived.
    Instant scraped_at;
    Duration scraped_busy{};
    bool has_reading = false;
    Instant reading_at;
    model::ReplicaSignals reading;
  };
  struct PodRecord {
    GpuState state = GpuState::held;
    Instant since;  ///< GPU time accounted up to here, while bound
  };
  struct Workload {
    ReplicaCount desired = 0;
    Instant raised_at;
    Duration expected_start{};  ///< bind to ready, learned from earlier starts
    std::set<model::GangId> gangs;
  };
  struct Transfer {
    model::NodeId node;
    std::uint32_t image = 0;
    model::GangId gang;  ///< whose weights; none for an image
    Bytes size;
  };
  struct Account {  ///< of one offering
    explicit Account(std::size_t pools) : paid(pools + 1) {}
    std::array<GpuTime, kGpuStates> gpu_time{};
    std::vector<GpuTime> paid;  ///< by pool; the last is of nodes without one
    GpuTime& paid_by(model::PoolId pool) { return pool.valid() ? paid.at(pool.value) : paid.back(); }
  };
  struct Waiting {  ///< an action between its submission and its outcome
    model::Action action;
    bool refused = false;  ///< by chance
    bool known = true;     ///< its outcome will be told
    bool happens = true;
    std::vector<model::GangId> counted_on{};  ///< of a lowering: replicas that serve, and those that are to go
  };

  // cluster.cc: the queue of events, the port.
  std::vector<model::GangId> counted_on(const model::Action& action) const;
  void schedule(Instant at, EventKind kind, std::uint32_t id = 0);
  void handle(const Event& event);
  void take_effect(model::ActionToken token);
  std::optional<model::Reason> perform(const model::SetReplicas& what);
  std::optional<model::Reason> perform(const model::BindPods& what);
  std::optional<model::Reason> perform(const model::LaunchNodes& what);
  std::optional<model::Reason> perform(const model::ReleaseGroup& what);
  std::optional<model::Reason> perform(const model::TerminateNode& what);
  std::optional<model::Reason> perform(const model::EvictPod& what);
  std::optional<model::Reason> perform(const model::ConvertReplica& what);
  void set(model::NodeId id, model::Node row);
  void set(model::ClaimId id, model::Claim row);
  void set(model::GangId id, model::Gang row);
  void set(model::GangId id, const model::ReplicaSignals& row);
  void set(model::PodId id, model::Pod row);
  void set(model::ServiceId id, model::ServiceState row);
  const model::Catalog& catalog() const { return *config_.catalog; }

  // cluster_nodes.cc: buying, booting, giving back.
  void add_existing();
  std::optional<model::DomainId> find_place(const model::Offering& offering, model::DomainId within);
  model::NodeId make_node(model::OfferingId offering, model::PoolId pool, model::ClaimId claim, model::DomainId place);
  void claim_decided(model::ClaimId id);
  void node_booted(model::ClaimId id);
  void node_ready(model::ClaimId id);
  void cancel_claim(model::ClaimId id);
  void remove_pods(model::NodeId id, Interruption why);
  void terminate(model::NodeId id, Interruption why);
  void node_gone(model::NodeId id);
  void spot_notice(model::NodeId id);
  void outage(model::DomainId zone);
  GpuCount pool_gpus(model::PoolId pool) const;

  // cluster_gangs.cc: the workload controller, binding, draining, killing.
  void reconcile(std::uint32_t workload);
  void set_desired(const WorkloadKey& key, ReplicaCount replicas);
  bool stays(model::GangId id) const;
  ReplicaCount alive(const Workload& workload) const;
  model::GangId create_gang(const WorkloadKey& key, Workload& workload);
  model::PodId create_pod(model::GangId gang, MilliGpu gpus, model::QueueId queue);
  void start_initial();
  bool place_whole(model::GangId id);
  std::uint32_t domain_key(model::NodeId id, const model::Node& node, model::TopologyLevel level) const;
  void lower(const WorkloadKey& key, Workload& workload, const std::vector<model::GangId>& named);
  void remove_gang(model::GangId id);
  std::uint32_t free_ordinal(const Workload& workload) const;
  void begin_drain(model::GangId id);
  void leave_router(model::GangId id);
  void poll_drains();
  void leave(model::GangId id);
  void cut_drain(model::GangId id);
  void evict(model::PodId id, Interruption why);
  void kill_gang(model::GangId id, Interruption why);
  void bind(model::PodId pod, model::NodeId node);
  void erase_pod(model::PodId id);
  void set_pod_states(model::GangId id, GpuState state);
  void set_phases(model::GangId id, model::Gang::Phase phase, model::Pod::Phase pod_phase);
  std::uint32_t workload_index(const WorkloadKey& key) const;

  // cluster_sleep.cc: what is given up may sleep before it goes.
  bool may_sleep(const WorkloadKey& key) const;
  void fall_asleep(model::GangId id);
  void wake_sleepers(const WorkloadKey& key);
  void wake(model::GangId id);
  void sleep_over(model::GangId id);

  // cluster_convert.cc: from one role to the other.
  void move(model::GangId id, const WorkloadKey& to);
  void join(model::GangId id);

  // cluster_start.cc: the chain from bound to ready.
  const VariantStart& start_of(const WorkloadKey& key) const;
  void note_bound(model::GangId id);
  void want_image(model::NodeId node, const VariantStart& start);
  Weights& weights_on(model::NodeId node, const WorkloadKey& key);
  void check_images(model::GangId id);
  void load_weights(model::GangId id);
  void transfer_done(FlowId flow);
  void weights_done(model::GangId id);
  void engine_ready(model::GangId id);
  void resume_within(model::GangId id, const Latency& latency);
  void warm(model::GangId id);
  void serve_warm(model::GangId id);
  void serve(model::GangId id);
  std::vector<std::pair<model::NodeId, std::int64_t>> nodes_of(const model::Gang& gang) const;
  Duration nominal_start(const WorkloadKey& key) const;

  // cluster_signals.cc: scraping.
  void scrape();
  void read_targets();
  void forget_readings(model::GangId id);
  void publish();
  model::Signal aged(model::Signal signal, Instant measured) const;

  // cluster_account.cc: GPU time and money.
  void account_node(model::NodeId id);
  void account_pod(model::PodId id);
  void close_ready(model::GangId id);
  void account_free(std::vector<Account>& accounts, model::NodeId id, Instant end) const;
  void account_bound(std::vector<Account>& accounts, model::PodId id, Instant end) const;
  void account_ready(std::vector<Account>& accounts, model::GangId id, Instant end);
  void account_paid(std::vector<Account>& accounts, const model::Node& node, Instant from, Instant end) const;
  void account_launching(std::vector<Account>& accounts, const model::Claim& claim, Instant from, Instant end) const;
  void charge(const std::vector<Account>& accounts, ClusterMeter& total) const;

  ClusterConfig config_;
  ServingHook& hook_;
  Instant now_;
  std::uint64_t sequence_ = 0;
  std::set<Event> events_;
  FlowNetwork network_;
  std::map<FlowId, Transfer> transfers_;
  LinkId registry_, store_;

  RandomStream provider_draws_, capacity_draws_, spot_draws_, workload_draws_, action_draws_, scrape_draws_,
      start_draws_;

  model::Snapshot seen_;  ///< the world as its API server has it; observe() hands out copies
  model::Delta changed_;  ///< since the last observation, not sorted yet
  std::vector<ports::Outcome> outcomes_;
  std::map<model::ActionToken, Waiting> actions_;
  std::map<model::ClaimId, ClaimRecord> claims_;
  std::map<model::NodeId, NodeRecord> nodes_;
  std::map<model::GangId, GangRecord> gangs_;
  std::map<model::PodId, PodRecord> pods_;
  std::map<WorkloadKey, Workload> workloads_;
  std::vector<WorkloadKey> workload_keys_;  ///< ascending; events name a workload by its index here
  std::set<model::GangId> draining_;
  std::set<model::GangId> converting_;
  std::set<model::GangId> sleeping_;
  std::vector<model::ClaimId> failed_claims_;
  std::map<model::DomainId, std::int64_t> places_;  ///< machines that still fit, by NVLink domain
  std::map<model::OfferingId, Duration> expected_launch_;
  struct GatewayRecord {
    Instant reading_at;
    RequestCount waiting = 0;
  };
  std::map<model::ServiceId, GatewayRecord> gateways_;
  std::uint32_t next_node_ = 0, next_claim_ = 0, next_gang_ = 0, next_pod_ = 0, next_group_ = 0, next_action_ = 0;
  bool polling_drains_ = false;

  std::vector<Account> accounts_;  ///< by offering
  ClusterMeter meter_;
  std::vector<ColdStart> cold_starts_;
};

}  // namespace capstan::sim
