#include "experiment/report/history_json.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "experiment/text/words.h"
#include "model/capacity_names.h"
#include "model/phase_names.h"
#include "model/role_names.h"
#include "model/topology_names.h"

namespace capstan::experiment {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t since_start_ms(Instant at) { return at.since_start / std::chrono::milliseconds(1); }
Json ms_or_null(Instant at) { return at.is_never() ? Json() : Json(since_start_ms(at)); }

Json empty_columns(std::initializer_list<const char*> names) {
  Json json = Json::object();
  for (const char* name : names) json[name] = Json::array();
  return json;
}

/// Gives each different value a number, in the order in which the values first occur.
template <typename Key>
class Numbering {
 public:
  std::size_t number_of(const Key& key) {
    const auto [at, added] = numbers_.try_emplace(key, keys_.size());
    if (added) keys_.push_back(key);
    return at->second;
  }
  const std::vector<Key>& keys() const { return keys_; }

 private:
  std::map<Key, std::size_t> numbers_;
  std::vector<Key> keys_;
};

/// The rows that are written.
struct Rows {
  /// A revision: only rows that changed after it are written, with more columns, such as their positions, names, queues
  /// and prices. No value: all rows are written, without these columns.
  std::optional<std::int64_t> after{};

  bool has(const auto& row) const { return !after || row.revision > *after; }
};

/// Properties that many nodes share.
struct MachineKey {
  std::string pool;
  std::string instance_type;
  std::string gpu;
  GpuCount gpus = 0;
  std::optional<model::CapacityType> capacity{};
  std::optional<MicroUsd> per_hour{};
  friend auto operator<=>(const MachineKey&, const MachineKey&) = default;
};

Json nodes_json(const RunHistory& history, const Rows& written, Numbering<MachineKey>& machines,
                Numbering<std::string>& domains) {
  Json json = empty_columns({"node", "machine", "zone", "rack", "nvlink", "requested_ms", "launched_ms", "ready_ms",
                             "leaving_ms", "ended_ms"});
  if (written.after) json["row"] = json["name"] = Json::array();
  for (const NodeHistory& node : history.nodes) {
    if (!written.has(node)) continue;
    MachineKey machine{node.pool, node.instance_type, node.gpu, node.gpus};
    if (written.after) {
      machine.capacity = node.capacity;
      machine.per_hour = node.per_hour;
      json["row"].push_back(&node - history.nodes.data());
      json["name"].push_back(node.name);
    }
    json["node"].push_back(node.number);
    json["machine"].push_back(machines.number_of(machine));
    json["zone"].push_back(domains.number_of(node.zone));
    json["rack"].push_back(domains.number_of(node.rack));
    json["nvlink"].push_back(domains.number_of(node.nvlink));
    json["requested_ms"].push_back(ms_or_null(node.requested_at));
    json["launched_ms"].push_back(ms_or_null(node.launched_at));
    json["ready_ms"].push_back(ms_or_null(node.ready_at));
    json["leaving_ms"].push_back(ms_or_null(node.leaving_at));
    json["ended_ms"].push_back(ms_or_null(node.ended_at));
  }
  return json;
}

using WaitKey = std::tuple<std::string, std::string, std::string, std::string>;  ///< verdict, reason, sentence, supply

Json gangs_json(const RunHistory& history, const Rows& written, Numbering<WaitKey>& reasons) {
  Json json = empty_columns({"service", "replica", "gpus_milli", "created_ms", "ended_ms", "steps", "held", "waits"});
  if (written.after)
    json["row"] = json["queue"] = json["initialized_ms"] = json["containers_ms"] = json["weights_ms"] = json["name"] =
        Json::array();
  for (const GangHistory& gang : history.gangs) {
    if (!written.has(gang)) continue;
    if (written.after) {
      json["row"].push_back(&gang - history.gangs.data());
      json["queue"].push_back(gang.queue.valid() ? Json(gang.queue.value) : Json());
      json["initialized_ms"].push_back(ms_or_null(gang.initialized_at));
      json["weights_ms"].push_back(gang.weights > Duration{} ? Json(gang.weights / std::chrono::milliseconds(1))
                                                             : Json());
      json["containers_ms"].push_back(ms_or_null(gang.containers_started_at));
      json["name"].push_back(gang.name);
    }
    json["service"].push_back(gang.user == GangHistory::kNoUser ? Json(-1) : Json(gang.user));
    json["replica"].push_back(gang.ordinal);
    json["gpus_milli"].push_back(gang.gpus.count);
    json["created_ms"].push_back(since_start_ms(gang.created_at));
    json["ended_ms"].push_back(ms_or_null(gang.ended_at));
    Json steps = Json::array();
    for (const GangHistory::Step& step : gang.steps)
      steps.insert(steps.end(), {since_start_ms(step.at), int(step.phase)});
    json["steps"].push_back(std::move(steps));
    Json held = Json::array();
    for (const GangHistory::PodGpus& part : gang.held) {
      held.insert(held.end(), {part.node, part.gpus.count, since_start_ms(part.from), ms_or_null(part.until)});
    }
    json["held"].push_back(std::move(held));
    Json waits = Json::array();
    for (const GangHistory::Wait& wait : gang.waits) {
      waits.insert(waits.end(), {since_start_ms(wait.at), reasons.number_of({std::string(name(wait.kind)), wait.reason,
                                                                             wait.sentence, wait.supply})});
    }
    json["waits"].push_back(std::move(waits));
  }
  return json;
}

/// Appends the durations of the phases of a start, which add up to the duration of the whole start.
void add_phases(Json& json, const sim::ColdStart& start) {
  const bool has_node = start.node_requested_at.since_start.count() > 0;
  Instant at = start.decided_at;
  const auto add = [&](const char* phase, Instant end, bool happened = true) {
    const Instant next = happened ? std::max(at, end) : at;
    json[phase].push_back(since_start_ms(next) - since_start_ms(at));
    at = next;
  };
  add("decision_ms", start.node_requested_at, has_node);
  add("capacity_ms", start.node_launched_at, has_node);
  add("boot_ms", start.node_booted_at, has_node);
  add("node_setup_ms", start.node_ready_at, has_node);
  add("placement_ms", start.bound_at);
  add("image_ms", start.image_at);
  add("weights_ms", start.weights_at);
  add("engine_ms", start.init_at);
  add("warm_up_ms", start.ready_at);
}

std::int64_t mean_us(Duration sum, RequestCount count) {
  return count == 0 ? 0 : sum / std::chrono::microseconds(1) / count;
}

Json machine_json(const MachineKey& machine, const Rows& written) {
  Json json = {{"pool", machine.pool.empty() ? Json() : Json(machine.pool)},
               {"instance_type", machine.instance_type},
               {"gpu", machine.gpu},
               {"gpus", machine.gpus}};
  if (!written.after) return json;
  json["capacity_type"] = machine.capacity ? Json(model::name(*machine.capacity).label) : Json();
  json["usd_per_hour"] = machine.per_hour ? Json(static_cast<double>(machine.per_hour->count) / 1e6) : Json();
  return json;
}

/// Returns the tokens, the ended requests, their latencies and the idle time of each service by minute.
Json use_json(const RunHistory& history, const Rows& written) {
  Json json = empty_columns({"row", "service", "at_ms", "tokens", "requests", "timed_requests", "queue_us",
                             "prefill_us", "decode_us", "queue_prefill_us", "prefill_decode_us", "transfer_us",
                             "transfers", "idle_gpu_s", "idle_usd"});
  for (const UseMinute& use : history.use) {
    if (!written.has(use)) continue;
    json["row"].push_back(&use - history.use.data());
    json["service"].push_back(use.user);
    json["at_ms"].push_back(use.minute * 60'000);
    json["tokens"].push_back(use.tokens);
    json["requests"].push_back(use.requests);
    json["timed_requests"].push_back(use.timed_requests);
    json["queue_us"].push_back(use.queue_us);
    json["prefill_us"].push_back(use.prefill_us);
    json["decode_us"].push_back(use.decode_us);
    json["queue_prefill_us"].push_back(use.queue_prefill_us);
    json["prefill_decode_us"].push_back(use.prefill_decode_us);
    json["transfer_us"].push_back(use.transfer_us);
    json["transfers"].push_back(use.transfers);
    json["idle_gpu_s"].push_back(std::round(1e3 * use.idle_gpu_s) / 1e3);
    json["idle_usd"].push_back(std::round(1e6 * use.idle_usd) / 1e6);
  }
  return json;
}

Json rows_json(const RunHistory& history, const Rows& written) {
  Numbering<MachineKey> machines;
  Numbering<std::string> domains;
  Numbering<WaitKey> reasons;
  Json nodes = nodes_json(history, written, machines, domains);
  Json gangs = gangs_json(history, written, reasons);
  Json json = {{"left_out", history.left_out}, {"machines", Json::array()}, {"domains", domains.keys()}};
  for (const MachineKey& machine : machines.keys()) json["machines"].push_back(machine_json(machine, written));
  json["nodes"] = std::move(nodes);
  json["phases"] = Json::array();
  for (const std::string_view phase : model::kGangPhaseNames) json["phases"].push_back(std::string(phase));
  json["gangs"] = std::move(gangs);
  if (written.after) json["use"] = use_json(history, written);
  json["reasons"] = Json::array();
  for (const auto& [verdict, reason, sentence, supply] : reasons.keys()) {
    json["reasons"].push_back({{"verdict", verdict}, {"reason", reason}, {"sentence", sentence}, {"supply", supply}});
  }
  return json;
}

}  // namespace

Json fleet_json(const RunHistory& history) { return rows_json(history, {}); }

Json fleet_changes_json(const RunHistory& history, std::int64_t after) { return rows_json(history, {.after = after}); }

Json cold_start_phases_json(const RunHistory& history) {
  Json json = empty_columns({"service", "replica", "decided_ms", "decision_ms", "capacity_ms", "boot_ms",
                             "node_setup_ms", "placement_ms", "image_ms", "weights_ms", "engine_ms", "warm_up_ms"});
  for (const sim::ColdStart& start : history.starts) {
    json["service"].push_back(start.service.value);
    json["replica"].push_back(start.ordinal);
    json["decided_ms"].push_back(since_start_ms(start.decided_at));
    add_phases(json, start);
  }
  return json;
}

Json signals_json(const RunHistory& history) {
  Json json = empty_columns({"silent_replicas", "oldest_ms"});
  for (const SignalMinute& minute : history.signals) {
    json["silent_replicas"].push_back(minute.silent);
    json["oldest_ms"].push_back(minute.oldest / std::chrono::milliseconds(1));
  }
  return json;
}

Json latency_phases_json(std::span<const Minute> minutes) {
  Json json =
      empty_columns({"first_tokens", "gateway_us", "queue_us", "prefill_us", "completed", "transfer_us", "decode_us"});
  for (const Minute& minute : minutes) {
    const sim::PhaseTimes& phases = minute.phases;
    json["first_tokens"].push_back(phases.first_tokens);
    json["gateway_us"].push_back(mean_us(phases.gateway, phases.first_tokens));
    json["queue_us"].push_back(mean_us(phases.queue, phases.first_tokens));
    json["prefill_us"].push_back(mean_us(phases.prefill, phases.first_tokens));
    json["completed"].push_back(phases.completed);
    json["transfer_us"].push_back(mean_us(phases.transfer, phases.completed));
    json["decode_us"].push_back(mean_us(phases.decode, phases.completed));
  }
  return json;
}

/// Returns a job with the first size of a class.
workload::JobArrival first_size(const scenario::JobSpec& spec) {
  if (spec.recorded) return spec.recorded->front().arrival;
  const workload::JobSize& size = spec.load.sizes.front();
  return {.at = {}, .pods = size.pods, .gpus_per_pod = whole_gpus(size.gpus_per_pod), .work = {}};
}

Json services_json(const model::Catalog& catalog, const std::vector<scenario::JobSpec>& jobs) {
  Json json = Json::array();
  for (const model::Service& service : catalog.services) {
    const model::Workload& workload = service.workload;
    const model::PodSet pods = workload.gang().pods;
    const bool split = workload.role != model::Role::both;
    json.push_back({{"name", service.name},
                    {"part", split ? std::string(model::name(workload.role)) : variant_name(catalog, service)},
                    {"gpu", workload.gpu.valid() ? catalog.gpu_kind(workload.gpu) : ""},
                    {"pods", pods.count},
                    {"gpus_per_pod_milli", pods.gpus_per_pod.count},
                    {"together", catalog.level_key(workload.required_level)},
                    {"queue", workload.queue.valid() ? Json(workload.queue.value) : Json()}});
  }
  for (const scenario::JobSpec& spec : jobs) {
    const sim::JobClass& job_class = spec.job_class;
    // The jobs of a class differ in size. The row shows the first size.
    const workload::JobArrival size = first_size(spec);
    json.push_back({{"name", job_class.name},
                    {"part", "job"},
                    {"gpu", catalog.gpu_kind(job_class.gpu)},
                    {"pods", size.pods},
                    {"gpus_per_pod_milli", size.gpus_per_pod.count},
                    {"together", catalog.level_key(job_class.required_level)},
                    {"queue", job_class.queue.valid() ? Json(job_class.queue.value) : Json()}});
  }
  return json;
}

Json queues_json(const model::Catalog& catalog) {
  Json json = Json::array();
  for (const model::Queue& queue : catalog.queues) {
    json.push_back({{"name", queue.name},
                    {"parent", queue.parent.valid() ? Json(queue.parent.value) : Json()},
                    {"limit_gpus_milli", queue.gpus.limit ? Json(queue.gpus.limit->count) : Json()},
                    {"quota_gpus_milli", queue.gpus.quota.count},
                    {"weight_milli", queue.gpus.weight_milli}});
  }
  return json;
}

}  // namespace capstan::experiment
