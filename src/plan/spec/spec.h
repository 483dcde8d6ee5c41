#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "engine/table.h"
#include "model/offering.h"
#include "model/service.h"
#include "model/slo.h"
#include "workload/jobs.h"

// The input of `capstan plan`: facts that an engineer knows before there is a cluster. docs/reference/plan.md describes
// the file.
namespace capstan::plan {

enum class Cloud : std::uint8_t { aws, gcp, azure, on_premises };
enum class Provisioner : std::uint8_t { karpenter, cluster_autoscaler, none };
enum class GangScheduler : std::uint8_t { kai, kueue, none };
enum class Engine : std::uint8_t { vllm, sglang, tensorrt_llm, triton };

/// A machine type that the plan may use.
struct MachineSpec {
  std::string name{};                            ///< "p5.48xlarge"
  std::string gpu{};                             ///< "h100_sxm"
  GpuCount gpus = 0;                             ///< GPUs of one machine
  std::int64_t vcpus = 0;                        ///< virtual CPUs of one machine
  std::int64_t memory_gib = 0;                   ///< main memory of one machine, GiB
  GpuCount nvlink_domain_gpus = 1;               ///< GPUs that NVLink joins
  std::optional<MicroUsd> on_demand_per_hour{};  ///< price of the whole machine
  std::optional<MicroUsd> spot_per_hour{};       ///< price of the whole machine
  std::optional<MicroUsd> reserved_per_hour{};   ///< price of the whole machine
  std::int64_t existing = 0;                     ///< machines that exist already
  bool has_stated_price = false;                 ///< false: prices are from the catalogue
  bool has_stated_shape = false;                 ///< false: the shape is from the catalogue
};

/// A duration that varies evenly between two bounds. A duration that the spec states does not vary.
struct DurationRange {
  Duration low{};
  Duration high{};
};

/// Chance that a spot node is reclaimed within an hour, millionths: 2 %. No source states a rate for GPU machines, so
/// this is an assumption.
inline constexpr std::uint32_t kSpotInterruptionsPpm = 20'000;

/// The start of a machine after the provisioner has bought it. The defaults are rows of data/cold_start.csv.
struct NodeStartSpec {
  DurationRange boot{std::chrono::seconds(60), std::chrono::seconds(180)};    ///< virtual machine and kubelet
  DurationRange driver{std::chrono::seconds(30), std::chrono::seconds(120)};  ///< driver and device plugin
};

/// Download rate of weights from an object store, bytes per second. It lies within the range of data/cold_start.csv,
/// which is 200 MB/s to 1 GB/s.
inline constexpr std::int64_t kWeightsBytesPerS = 500'000'000;

/// The start of a replica on a node that is ready. The defaults are derived from rows of data/cold_start.csv.
struct ColdStartSpec {
  Duration image_pull = std::chrono::seconds(189);  ///< 10 GB at 53 MB/s, with unpacking
  std::optional<Duration> weights{};                ///< time to load the weights; nothing: at `kWeightsBytesPerS`
  DurationRange engine_start{std::chrono::seconds(150), std::chrono::seconds(150)};
  DurationRange engine_start_cached{std::chrono::seconds(50), std::chrono::seconds(60)};  ///< with a compile cache
  DurationRange warm_up{std::chrono::seconds(3), std::chrono::seconds(6)};
};

/// The machines of the cluster.
struct ClusterSpec {
  Cloud cloud = Cloud::aws;
  std::string region{};                 ///< "us-east-1"
  std::vector<std::string> zones{};     ///< at least one
  std::vector<MachineSpec> machines{};  ///< machines that may be used, at least one; unique names
  Provisioner provisioner = Provisioner::karpenter;
  GangScheduler gang_scheduler = GangScheduler::kai;
  std::string kai_node_pool{};  ///< value of KAI's node-pool label, which selects a scheduler of its own; empty: none
  std::vector<model::CapacityType> capacity{};                   ///< capacity types that may be bought, at least one
  std::uint32_t spot_interruptions_ppm = kSpotInterruptionsPpm;  ///< chance of a reclaim within an hour, millionths
  bool may_buy_spot_base = false;  ///< true: also the nodes of the minimum may be spot, if the SLO holds
  Duration zone_outage = std::chrono::minutes(30);  ///< length of the zone outage of the stress test
  NodeStartSpec node_start{};
  std::string prometheus = "http://prometheus-operated.monitoring.svc:9090";
  std::string karpenter_discovery = "gpu-cluster";  ///< value of the tag karpenter.sh/discovery
};

/// Numbers of tokens, log-normal.
struct TokenSpec {
  std::int32_t median = 0;
  double sigma = 0;          ///< standard deviation of the logarithm; 0: every number is the median
  std::int32_t longest = 0;  ///< no draw is longer
};

/// A server with Prometheus' HTTP API, on which the load of a service is measured.
struct MeasureSpec {
  std::string url{};                                           ///< "https://prometheus:9090", perhaps with a path
  Duration history_length = std::chrono::hours(24 * 7);        ///< length of the history, which ends now
  Duration step = std::chrono::minutes(1);                     ///< time between two points of the request rate
  std::vector<std::pair<std::string, std::string>> labels{};   ///< labels that the series of the service have
  std::vector<std::pair<std::string, std::string>> headers{};  ///< HTTP headers of each query, such as X-Scope-OrgID
  std::string bearer_token_file{};                             ///< path; empty: no token
  std::string ca_file{};                                       ///< path of trusted authorities; empty: the system's
  std::string certificate_file{};                              ///< path of a client certificate; empty: none
  std::string key_file{};                                      ///< path of the key of the client certificate
  Duration timeout = std::chrono::seconds(30);                 ///< timeout of each query
};

/// One figure of a measured load.
struct MeasuredFigure {
  enum class Source : std::uint8_t { measured, stated, assumed };
  std::string name{};         ///< "requests"
  std::string value{};        ///< value with its unit
  std::string explanation{};  ///< query, or reason; one sentence without a full stop
  Source source = Source::measured;
  bool is_doubtful = false;  ///< true: it contradicts another figure, so the page shows it without --details
};

/// The requests of one service.
struct LoadSpec {
  enum class Source : std::uint8_t { generated, trace, profile, prometheus };
  Source source = Source::generated;  ///< prometheus: not measured yet; a measured load is a profile
  std::string place{};                ///< "s.yaml:14:9", where the spec states it; empty: it is a default
  std::string from{};     ///< path of a trace, or name or path of a profile; absolute or relative to the current folder
  MeasureSpec measure{};  ///< where the load is measured
  std::string profile_text{};              ///< the measured load, which `--out` writes to the file `from`; empty: none
  std::vector<MeasuredFigure> measured{};  ///< figures of the measured load, for the page
  double scale = 1;                        ///< factor on the request rate of a trace or profile
  double requests_per_s = 0;               ///< generated: mean outside bursts; computed if `concurrency` is stated
  std::optional<double> concurrency{};     ///< stated mean number of requests in flight
  double burst_factor = 1;                 ///< generated: rate in a burst, in multiples of `requests_per_s`
  Duration burst_length{};                 ///< generated: length of a burst
  Duration burst_every{};                  ///< generated: time from one burst's start to the next
  Duration duration{};                     ///< length of the simulated load
  TokenSpec prompt{};                      ///< generated: lengths of prompts; prometheus: used if no metric has them
  TokenSpec answer{};                      ///< lengths of answers, as for `prompt`
  bool has_stated_prompt = false;          ///< prometheus: true if the spec states `prompt`; false: it is a default
  bool has_stated_answer = false;          ///< prometheus: true if the spec states `answer`; false: it is a default
};

/// One model behind one endpoint.
struct ServiceSpec {
  std::string name{};
  std::string model{};              ///< row of the engine table: "Llama-3.3-70B"
  std::string served_model_name{};  ///< argument of the engine and label of its metrics: "meta-llama/Llama-3.3-70B"
  Engine engine = Engine::vllm;
  std::string image{};                            ///< container image of the engine with its tag
  std::string model_secret = "hugging-face";      ///< Secret with the key "token", with which the weights are loaded
  bool has_stated_secret = false;                 ///< true: the spec names the Secret, so it must exist
  std::string dtype{};                            ///< "fp8" or "bfloat16"
  std::optional<std::int64_t> tensor_parallel{};  ///< GPUs of a pipeline stage; nothing: the search chooses
  std::int64_t pipeline_parallel = 1;             ///< stages, each with `tensor_parallel` GPUs
  std::int64_t pods_per_replica = 1;              ///< more than one: a gang
  bool is_disaggregated = false;                  ///< separate prefill and decode replicas
  bool may_share_gpu = false;                     ///< true: a small model that may use a part of a GPU
  std::int64_t sharing_memory_gib = 0;            ///< GPU memory that a sharing replica needs, GiB
  model::Slo slo{};
  std::optional<double> goodput_per_s{};  ///< requests per second that must hold the SLO
  LoadSpec load{};
  ColdStartSpec cold_start{};
  std::string tenant{};                                ///< name of a tenant
  ReplicaCount min_replicas = 1;                       ///< fewest replicas of each role that the search tries
  std::optional<ReplicaCount> min_prefill_replicas{};  ///< the same for prefill, in place of `min_replicas`
  std::optional<ReplicaCount> min_decode_replicas{};   ///< the same for decode, in place of `min_replicas`
  ReplicaCount max_replicas = 64;                      ///< most replicas of each role that the search tries

  /// Returns the fewest replicas of a role that the search tries.
  ReplicaCount least_replicas(model::Role role) const {
    if (role == model::Role::prefill) return min_prefill_replicas.value_or(min_replicas);
    if (role == model::Role::decode) return min_decode_replicas.value_or(min_replicas);
    return min_replicas;
  }
  /// Returns the fewest replicas of the service that the search tries: the sum over its roles.
  ReplicaCount least_replicas() const {
    if (!is_disaggregated) return least_replicas(model::Role::both);
    return least_replicas(model::Role::prefill) + least_replicas(model::Role::decode);
  }
};

/// A class of jobs of a tenant: gangs of pods that compute and end.
struct TenantJobs {
  std::string name{};  ///< unique in the spec
  /// Arrivals and size of the jobs; `load.sizes` has one entry. For a training tenant, its `gpus_per_pod` is 0 if the
  /// spec does not state it, and its `pods` is 0 if the spec describes no jobs. `PlacedJobs::size` has a default
  /// in place of a 0. The default follows from the quota or limit of the tenant and from the GPUs of a node.
  workload::JobLoad load{};
  bool preemptible = true;      ///< true: a job ends for a replica or a job with a higher priority, and waits again
  Duration checkpoint_every{};  ///< computing time between two checkpoints; 0: a restart loses all work
};

struct TenantSpec {
  enum class Kind : std::uint8_t { production, training, batch };
  std::string name{};
  Kind kind = Kind::production;
  std::int64_t priority = 100;          ///< KAI does not preempt pods of priority 100 or more
  GpuCount gpu_quota = 0;               ///< GPUs that the tenant is entitled to
  std::optional<GpuCount> gpu_limit{};  ///< GPUs that the tenant may hold; nothing: no limit
  std::vector<TenantJobs> jobs{};
  bool has_stated_jobs = false;  ///< false: the spec has no key `jobs` for the tenant
};

struct LimitSpec {
  std::optional<GpuCount> gpus{};
  std::optional<MicroUsd> per_hour{};
};

/// Largest `StaffSpec::share_ppm`: a hundred engineers.
inline constexpr std::uint32_t kMaxStaffSharePpm = 100'000'000;

/// Cost of the people who run the platform, and the price of a serverless offer to compare with.
struct StaffSpec {
  MicroUsd per_year{160'000'000'000};  ///< one engineer, with overhead
  std::uint32_t share_ppm = 500'000;   ///< part of an engineer's time; 2,000,000: two engineers
  MicroUsd serverless_per_gpu_hour{
      0};  ///< price of the offer; 0: unknown, and the comparison gives the break-even price
};

/// Choices that an operator asked for, which the plan may have to refuse (src/plan/feasibility/refusal.h).
struct AskedSpec {
  std::string scale_on{};       ///< signal as written: "gpu_utilization"; empty: the plan chooses it
  std::string consolidation{};  ///< Karpenter's policy: "WhenEmptyOrUnderutilized"; empty: the plan's
  bool declines_gang_scheduling = false;
};

/// The part of a plan that depends on a default.
enum class DefaultKind : std::uint8_t {
  figure,  ///< figures, such as a price, a rate or a limit
  name,    ///< only names and addresses in the manifests
};

/// A value that the spec leaves out.
struct DefaultUsed {
  std::string path{};   ///< "services.chat.slo.attainment"
  std::string value{};  ///< "99 %"
  std::string why{};    ///< noun phrase or sentence without a full stop
  DefaultKind kind = DefaultKind::figure;
};

struct PlanSpec {
  std::string name{};
  std::string file{};        ///< file of the spec, for messages
  std::string namespace_{};  ///< Kubernetes namespace of the services
  ClusterSpec cluster{};
  std::vector<ServiceSpec> services{};  ///< at least one, unique names
  std::vector<TenantSpec> tenants{};    ///< at least one
  LimitSpec limits{};
  StaffSpec staff{};
  AskedSpec asked{};
  std::vector<DefaultUsed> defaults{};                   ///< in the order in which the spec is read
  std::shared_ptr<const engine::EngineTable> engines{};  ///< the bundled table with the user's own rows
  std::string step_times{};                              ///< path of the user's own rows; empty: none
  std::map<std::string, std::string> places{};  ///< "s.yaml:14:3" by path: of services, jobs and refusable choices
};

}  // namespace capstan::plan
