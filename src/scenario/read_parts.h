#pragma once

#include "manifest/fields.h"
#include "scenario/scenario.h"

// The parts of a scenario file, one reader each. All follow `manifest::Fields`: an error goes into the verdict and the
// reading goes on with a default. Whatever the errors, what a reader adds can be read on with: there is at least one
// role with an engine, one zone, and a pool for each that the file names.
namespace capstan::scenario {

void read_load(const manifest::Node& node, workload::WorkloadSpec& load, manifest::Verdict& verdict);

/// Needs nothing else read; adds the service, its engine, router and clients, and how a replica starts.
void read_service(const manifest::Node& node, model::Catalog& catalog, Scenario& scenario, manifest::Verdict& verdict);

/// After the service: adds domains, offerings and pools.
void read_cluster(const manifest::Node& node, model::Catalog& catalog, Scenario& scenario, manifest::Verdict& verdict);

/// After the cluster, whose provider each policy starts from.
PolicySpec read_policy(const manifest::Node& node, const Scenario& scenario, manifest::Verdict& verdict);

/// A latency: "50s" is always that long, "45s..60s" is uniform between the two, `{low: 45s, high: 60s, shape:
/// log_normal}` says more.
void read_latency(manifest::Fields& fields, std::string_view key, sim::Latency& out);

/// The id of a GPU kind, added where it is new.
model::GpuKindId gpu_kind(model::Catalog& catalog, std::string_view name);

/// What cannot be, whatever any policy does (exit 3), with the place in the scenario's tree that makes it so.
void check_feasible(const Scenario& scenario, const manifest::Node& root, manifest::Verdict& verdict);

}  // namespace capstan::scenario
