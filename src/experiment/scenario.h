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
#include "experiment/peer_spec.h"
#include "manifest/errors.h"
#include "model/catalog.h"
#include "sim/cluster/cluster_config.h"
#include "sim/fleet/fleet.h"
#include "workload/spec.h"

namespace capstan::experiment {

/// Replicas that are given up sleep before they go: so many at once, and for how long.
struct SleepSpec {
  ReplicaCount most = 0;
  Duration longest = std::chrono::hours(1);
};

/// One row of `policies:`: a policy for each layer, and how fast its provisioner's nodes come.
struct PolicySpec {
  control::Policies policies;                  ///< with its name
  std::string swept_from;                      ///< the policy whose settings these vary; empty: none
  std::vector<std::optional<PeerSpec>> peers;  ///< by service; where one is, the scale policy only states the period
  sim::ProviderConfig provider;                ///< the cluster's, with this provisioner's latencies
  std::optional<SleepSpec> sleep;              ///< none: nothing sleeps
  std::vector<std::string> warnings;           ///< of what it does not know how to do
};

/// What the replicas of one service of the catalog are.
struct RoleSpec {
  std::string name;                           ///< of the variant, where there are several
  std::int64_t weight = 1;                    ///< in the router, beside other variants
  const engine::EngineRow* engine = nullptr;  ///< of the bundled table
  sim::ReplicaConfig replica;
  Duration front_end = std::chrono::milliseconds(15);
  model::StepLimits told{};  ///< what policies know of the limits in `replica`: what the file states
};

/// From a replica that computed a prompt to one that goes on with it. By default one 400 Gbit/s link at four fifths.
struct KvTransfer {
  std::int64_t bytes_per_s = 40'000'000'000;
  Duration setup = std::chrono::milliseconds(1);
};

/// A scenario file, read and found possible: a load, a service, a cluster, and the policies to compare.
/// The schema is docs/reference/scenario.md.
struct Scenario {
  std::string file;
  std::string name;
  std::string title;  ///< for people; the name where the file gives none
  std::uint64_t seed = 1;
  std::optional<Duration> duration;
  Duration settle = std::chrono::minutes(15);

  workload::WorkloadSpec load;
  /// The service, or one for its prefill and one for its decode replicas, or one for each of its variants, the further
  /// ones beside the first; GPU kinds, pools, prices.
  std::shared_ptr<const model::Catalog> catalog;
  std::vector<RoleSpec> roles;                     ///< by service of the catalog
  std::int64_t engine_perturbation_ppm = 100'000;  ///< how far the simulated engine may be from what policies believe
  KvTransfer kv_transfer;
  sim::FleetConfig fleet;
  sim::ClusterConfig cluster;
  /// True if a binding that would spread a gang is refused; not stated: where the placement knows `together`.
  std::optional<bool> enforce_together;
  std::vector<PolicySpec> policies;  ///< at least one, names unique
  bool bound = false;  ///< compare also with what is possible when the load is known beforehand (clairvoyant.h)
  /// Look also for the best constant fleet and for a better minimum of replicas. A file cannot set it.
  bool advice = true;

  bool split() const { return roles.size() > 1 && roles.front().name.empty(); }   ///< prefill and decode apart
  bool mixed() const { return roles.size() > 1 && !roles.front().name.empty(); }  ///< several variants
  // Of a service whose replicas do both, or of its prefill replicas.
  const model::Service& service() const { return catalog->services.front(); }
  const model::Variant& variant() const { return service().variants.front(); }
  const RoleSpec& role() const { return roles.front(); }
};

/// What a command line changes.
struct ScenarioOverrides {
  std::vector<std::string> sets;      ///< `--set path=value`, applied in order
  std::optional<std::string> trace;   ///< `--trace FILE`: replaces where the load comes from, keeps scale and duration
  std::optional<std::uint64_t> seed;  ///< `--seed N`; as in a file, at most 2^63 - 1
  std::vector<std::string> policies;  ///< `--policy NAME`: only these, in the scenario's order
};

using ScenarioResult = std::expected<Scenario, manifest::Errors>;

/// Reads and checks a scenario.
/// @return an input error with its place for everything that is wrong in the file, an infeasible one for what cannot
///         be, a usage one for an override that does not fit
ScenarioResult read_scenario(const std::string& path, const ScenarioOverrides& overrides = {});

/// The same from memory. `file` names it in errors; a relative trace inside is beside it.
ScenarioResult parse_scenario(std::string_view text, const std::string& file, const ScenarioOverrides& overrides = {});

}  // namespace capstan::experiment
