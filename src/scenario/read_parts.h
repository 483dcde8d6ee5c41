#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "manifest/fields.h"
#include "scenario/scenario.h"

// One reader for each part of a scenario file. They work like `manifest::Fields`: an error goes into the list of
// errors, and reading goes on with a default. Later readers can therefore rely on one zone, on each pool that the file
// names and, unless the file has only jobs, on one role with an engine.
namespace capstan::scenario {

/// @param what  path of the node for errors: "load", "services.chat.load"
void read_load(const manifest::Node& node, const std::string& what, workload::WorkloadSpec& load,
               manifest::ErrorList& errors);

/// Reads the tree of queues. It needs no other part.
void read_queues(std::span<const manifest::Node> nodes, model::Catalog& catalog, manifest::ErrorList& errors);

/// Reads the classes of batch jobs. It needs the queues and the services.
void read_jobs(std::span<const manifest::Node> nodes, model::Catalog& catalog, Scenario& scenario,
               manifest::ErrorList& errors);

/// Sets the kinds of GPU of the classes with `gpu: any`. It needs the cluster.
void resolve_any_gpu(const model::Catalog& catalog, Scenario& scenario);

/// Reads a level of the standard topology.
void read_level(manifest::Fields& fields, std::string_view key, model::TopologyLevel& out);

/// Highest priority of a service or a class of jobs; the lowest is minus this number.
inline constexpr std::int64_t kMaxPriority = 1'000'000;

/// Reads the name of the queue whose limit pods count against. An absent key leaves `out` unchanged.
void read_queue(manifest::Fields& fields, const model::Catalog& catalog, model::QueueId& out,
                manifest::ErrorList& errors);

/// Reads the names and levels of all topologies except the standard one. Their domains belong to the cluster.
void read_topologies(const manifest::Node& cluster, model::Catalog& catalog, manifest::ErrorList& errors);

/// Reads the sizes of the domains of `topologies`, as `sim::TopologyLayout` holds them.
/// @return nothing if a size is wrong; the reason is in `errors`
std::optional<std::vector<std::vector<std::int64_t>>> read_domain_sizes(std::span<const manifest::Node> topologies,
                                                                        std::int64_t nvlink_domains_per_zone,
                                                                        manifest::ErrorList& errors);

/// Reads the constraint of a gang: the topology, and the levels that the gang requires and prefers.
void read_constraint(const manifest::Node& node, const std::string& owner, const model::Catalog& catalog,
                     model::Workload& workload, manifest::ErrorList& errors);

/// Returns the queue with this name, or an invalid id.
model::QueueId find_queue(const model::Catalog& catalog, std::string_view name);

/// Reads a service with its engine, router, clients and the start of a replica. Adds an endpoint to the scenario, and
/// the services of the endpoint to the catalog. It needs the queues and the topologies.
/// @param owner  path of the node for errors; one of `services` may have a key `load`, which the caller reads
void read_service(const manifest::Node& node, const std::string& owner, model::Catalog& catalog, Scenario& scenario,
                  manifest::ErrorList& errors);

/// Reads domains, offerings and pools. It needs the topologies, the services and the jobs.
void read_cluster(const manifest::Node& node, model::Catalog& catalog, Scenario& scenario, manifest::ErrorList& errors);

/// Reads a policy. It needs the cluster, whose provider is the default of the policy.
PolicySpec read_policy(const manifest::Node& node, const Scenario& scenario, manifest::ErrorList& errors);

/// Reads a latency: "50s" is constant, "45s..60s" is uniform between the two, and `{low: 45s, high: 60s, shape:
/// log_normal}` states the distribution, too.
void read_latency(manifest::Fields& fields, std::string_view key, sim::Latency& out);

/// Returns the path of a file that the scenario names. A relative path in a file starts at the folder of that file, and
/// one on the command line at the current folder.
/// @param file  path of the scenario
std::string resolved_path(const manifest::Node& node, const std::string& file);

/// Returns the id of a GPU kind, and adds the kind to the catalog if it is new.
model::GpuKindId gpu_kind(model::Catalog& catalog, std::string_view name);

/// Reports faults that make the scenario impossible under every policy (exit code 3), with their places in the file.
void check_feasible(const Scenario& scenario, const manifest::Node& root, manifest::ErrorList& errors);

}  // namespace capstan::scenario
