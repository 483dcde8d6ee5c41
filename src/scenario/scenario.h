#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "control/controller.h"
#include "engine/table.h"
#include "manifest/errors.h"
#include "model/catalog.h"
#include "scenario/job_spec.h"
#include "scenario/peer_spec.h"
#include "scenario/pod_needs.h"
#include "settings/inference_scaler.h"
#include "sim/cluster/cluster_config.h"
#include "sim/fleet/fleet.h"
#include "workload/spec.h"

namespace capstan::scenario {

/// Limits on sleeping replicas. A replica that a policy removes sleeps first and is ended later.
struct SleepSpec {
  ReplicaCount max_replicas = 0;                  ///< replicas that sleep at the same time
  Duration max_duration = std::chrono::hours(1);  ///< a replica that sleeps longer is ended
};

/// Bounds of a service's replicas that the manifest of an InferenceScaler states.
struct ManifestBounds {
  settings::ReplicaBounds replicas;
  std::optional<model::RoleLimits> role_limits{};  ///< none: the scenario's
};

/// One row of `policies:`: a policy for each layer, and the latencies of its provisioner.
struct PolicySpec {
  control::Policies policies;                  ///< policies of all layers, and the name of the row
  std::string swept_from;                      ///< the policy whose settings this one varies; empty: none
  std::vector<std::optional<PeerSpec>> peers;  ///< by service; with a peer, the scale policy only states the period
  sim::ProviderConfig provider;                ///< provider of the cluster, with the latencies of this provisioner
  /// Bounds by service of the catalog, from an InferenceScaler's manifest. No value: the bounds of the scenario. The
  /// list may be empty.
  std::vector<std::optional<ManifestBounds>> bounds{};
  std::optional<SleepSpec> sleep;     ///< nothing: no replica sleeps
  std::vector<std::string> warnings;  ///< parts of the scenario that the policy does not handle
};

/// The replicas of one service of the catalog.
struct RoleSpec {
  std::string name;                           ///< name of the variant if there are several
  std::int64_t weight = 1;                    ///< weight in the router, relative to the other variants
  const engine::EngineRow* engine = nullptr;  ///< row of `Scenario::engines`
  sim::ReplicaConfig replica;
  Duration front_end = std::chrono::milliseconds(15);
  model::StepLimits stated_limits{};  ///< the limits that the file states: policies know only these
  bool states_engine_init = false;    ///< false: the time in which the engine starts is the simulator's default
};

/// The transfer of KV blocks from a prefill replica to a decode replica. The default is one 400 Gbit/s link at four
/// fifths of its rate.
struct KvTransfer {
  std::int64_t bytes_per_s = 40'000'000'000;
  Duration setup = std::chrono::milliseconds(1);
};

/// A service as its clients see it: an endpoint with its own load, SLO, router and replicas. Its replicas are one
/// service of the catalog, or one for prefill and one for decode replicas, or one for each variant.
struct EndpointSpec {
  std::string name;
  std::string team{};  ///< team that the service belongs to; empty: none
  workload::WorkloadSpec load;
  model::ServiceId first{0};                       ///< its first service of the catalog; the others follow
  std::vector<RoleSpec> roles;                     ///< by service of the catalog, from `first`
  std::int64_t engine_perturbation_ppm = 100'000;  ///< largest difference of its engine from the policies' table
  KvTransfer kv_transfer;
  sim::FleetConfig fleet;

  bool is_disaggregated() const {
    return roles.size() > 1 && roles.front().name.empty();
  }  ///< prefill and decode replicas
  bool has_variants() const { return roles.size() > 1 && !roles.front().name.empty(); }  ///< several variants
  /// Returns the service of the catalog that `roles[role]` describes.
  model::ServiceId service_of(std::size_t role) const { return {first.value + static_cast<std::uint32_t>(role)}; }
};

/// A scenario file that was read and checked: services with their loads, batch jobs, a cluster, and the policies to
/// compare. The schema is docs/reference/scenario.md.
struct Scenario {
  std::string file;
  std::string name;
  std::string title;  ///< title for people; equal to the name if the file states none
  std::uint64_t seed = 1;
  std::optional<Duration> duration;
  Duration settle_time = std::chrono::minutes(15);

  std::vector<EndpointSpec> endpoints;  ///< names unique; in the order of the catalog; empty: only jobs
  std::vector<JobSpec> jobs;            ///< classes of batch jobs, names unique
  std::vector<PodNeeds> pod_needs{};    ///< by `PodClassId`; a pod that states none of these needs has no class
  std::shared_ptr<const model::Catalog> catalog;  ///< the services, GPU kinds, pools, queues and prices
  /// The bundled table, with the rows of `service.step_times`. Roles point into it.
  std::shared_ptr<const engine::EngineTable> engines{std::shared_ptr<const engine::EngineTable>(),
                                                     &engine::EngineTable::bundled()};
  sim::ClusterConfig cluster;
  /// True: the cluster refuses a binding that would spread a gang over domains. No value: it does so if the placement
  /// policy follows `required_level`.
  std::optional<bool> enforce_together;
  std::vector<PolicySpec> policies;  ///< at least one policy; names are unique
  /// True: compare also with a policy that knows the load beforehand (clairvoyant.h).
  bool bound = false;
  /// True: also search for the best constant fleet and for a better minimum of replicas. A file cannot set it.
  bool advice = true;
  bool history = false;  ///< true: record what happens to nodes and replicas, for a report. A file cannot set it.

  /// Returns true if one endpoint has the cluster for itself.
  bool is_alone() const { return endpoints.size() == 1 && jobs.empty(); }
  /// Returns true if the scenario has jobs and no service.
  bool has_only_jobs() const { return endpoints.empty(); }
  /// The first endpoint, for analyses of scenarios that have one. This and the functions below need a service.
  const EndpointSpec& endpoint() const { return endpoints.front(); }
  /// Returns the catalog's service for the first replicas of the first endpoint: its only replicas, its prefill
  /// replicas or those of its first variant.
  const model::Service& service() const { return catalog->services.front(); }
  const model::Workload& workload() const { return service().workload; }
  const RoleSpec& role() const { return endpoint().roles.front(); }
};

/// Changes that a command line makes to a scenario.
struct ScenarioOverrides {
  std::vector<std::string> sets;      ///< `--set path=value`, applied in order
  std::optional<std::string> trace;   ///< `--trace FILE`: replaces the source of the load, keeps scale and duration
  std::optional<std::uint64_t> seed;  ///< `--seed N`; as in a file, at most 2^63 - 1
  std::vector<std::string> policies;  ///< `--policy NAME`: only these, in the scenario's order
};

using ScenarioResult = std::expected<Scenario, manifest::Errors>;

/// Reads and checks a scenario.
/// @return an input error with its place for every mistake in the file, an infeasible error for a scenario that cannot
///         exist, or a usage error for an invalid override
ScenarioResult read_scenario(const std::string& path, const ScenarioOverrides& overrides = {});

/// Reads and checks a scenario from memory. `file` names it in errors, and a relative trace path starts at its folder.
ScenarioResult parse_scenario(std::string_view text, const std::string& file, const ScenarioOverrides& overrides = {});

}  // namespace capstan::scenario
