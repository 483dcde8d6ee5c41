#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiment/run/result.h"
#include "model/catalog.h"

// The parts of a report's JSON that say what happened to nodes and replicas (docs/reference/result.md). Tables are
// written as columns, because their rows are many and short.
namespace capstan::experiment {

/// Returns `fleet`: the nodes, the replicas on them, and why replicas waited.
nlohmann::ordered_json fleet_json(const RunHistory& history);
/// Returns the rows of `fleet` that changed after a revision, with their positions. The rows also have names, queues
/// and prices, because no other part of a recording's page has these.
/// @param after  0: all rows
nlohmann::ordered_json fleet_changes_json(const RunHistory& history, std::int64_t after);
/// Returns `cold_start_phases`: one row for each completed start.
nlohmann::ordered_json cold_start_phases_json(const RunHistory& history);
/// Returns `signals`: the health of the signals by minute.
nlohmann::ordered_json signals_json(const RunHistory& history);
/// Returns `latency_phases`: means by minute.
nlohmann::ordered_json latency_phases_json(std::span<const Minute> minutes);
/// Returns `services`: the needs of a replica of each service, and of a job of each class.
nlohmann::ordered_json services_json(const model::Catalog& catalog, const std::vector<scenario::JobSpec>& jobs);
/// Returns `queues`: the tree with its limits.
nlohmann::ordered_json queues_json(const model::Catalog& catalog);

}  // namespace capstan::experiment
