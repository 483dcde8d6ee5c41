#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "archive/saved_state.h"
#include "archive/stated_bindings.h"
#include "archive/words.h"
#include "model/signal_names.h"
#include "settings/policy.h"

namespace capstan::archive {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t ns(Instant instant) { return instant.since_start.count(); }

// put() omits the key if the instant is never(), the id is invalid or the text is empty.
void put(Json& json, const char* key, Instant instant) {
  if (!instant.is_never()) json[key] = ns(instant);
}
template <typename Tag>
void put(Json& json, const char* key, Id<Tag> id) {
  if (id.valid()) json[key] = id.value;
}

void put(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

void put_limit(Json& json, const char* key, std::int64_t limit) {
  if (limit < model::kUnlimited) json[key] = limit;
}

Json resources(const model::Resources& from) {
  Json json = {{"cpu_milli", from.cpu_milli},
               {"memory_mib", from.memory_mib},
               {"storage_mib", from.storage_mib},
               {"pod_slots", from.pod_slots}};
  if (!from.extended.empty()) json["extended"] = from.extended;
  return json;
}

Json pod_class(const model::PodClass& from) {
  Json json = resources(from.requests);
  for (std::size_t i = 0; i < from.node_classes.size(); ++i) {
    if (from.node_classes[i]) json["node_classes"].push_back(i);
  }
  if (from.unsupported != model::PodRule::none) json["unsupported"] = word(from.unsupported);
  for (std::size_t i = 0; i < from.kept_apart.size(); ++i) {
    if (from.kept_apart[i]) json["kept_apart"].push_back(i);
  }
  if (!from.kept_apart_by.empty()) json["kept_apart_by"] = from.kept_apart_by;
  return json;
}

Json signal(const model::Signal& from) {
  Json json = {{"state", word(from.state)}};
  if (from.state != model::Signal::State::missing) json["value"] = from.value;
  json["age_ns"] = from.age.count();
  return json;
}

template <typename IdType>
Json row(IdType id, const SharedTable<IdType, std::string>& names) {
  Json json = {{"id", id.value}};
  if (const std::string* name = names.find(id)) json["name"] = *name;
  return json;
}

Json workload(const model::Catalog& catalog, const model::Workload& from) {
  Json json = Json::object();
  put(json, "name", from.name);
  put(json, "model", from.model);
  put(json, "engine", from.engine);
  put(json, "gpu", from.gpu);
  json["tensor_parallel"] = from.gpus_per_replica;
  put(json, "dtype", from.dtype);
  json["role"] = word(from.role);
  json["pods"] = from.pods;
  json["together"] = catalog.level_key(from.required_level);
  if (from.preferred) json["preferred"] = catalog.level_key(*from.preferred);
  if (from.step_limits.max_seqs > 0) json["max_seqs"] = from.step_limits.max_seqs;
  if (from.step_limits.max_batched_tokens > 0) json["max_batched_tokens"] = from.step_limits.max_batched_tokens;
  put(json, "queue", from.queue);
  if (from.placed_elsewhere) json["placed_elsewhere"] = true;
  put(json, "pod_class", from.pod_class);
  if (from.leader) {
    json["leader"] = {{"gpus_milli", from.leader->gpus.count}};
    put(json["leader"], "pod_class", from.leader->pod_class);
  }
  if (from.priority != 0) json["priority"] = from.priority;
  if (from.price_per_hour != MicroUsd{}) json["micro_usd_per_hour"] = from.price_per_hour.count;
  return json;
}

Json window(const model::BoundsWindow& from) {
  Json json = {{"start", from.start.text()}, {"duration_ns", from.duration.count()}};
  if (from.min) json["min"] = *from.min;
  if (from.max) json["max"] = *from.max;
  return json;
}

Json budgets(const std::vector<model::DisruptionBudget>& from) {
  Json json = Json::array();
  for (const model::DisruptionBudget& budget : from) {
    Json item = Json::object();
    if (budget.nodes) item["nodes"] = *budget.nodes;
    if (budget.share_ppm) item["share_ppm"] = *budget.share_ppm;
    if (budget.start) item.update({{"start", budget.start->text()}, {"duration_ns", budget.duration.count()}});
    json.push_back(std::move(item));
  }
  return json;
}

Json role_limits(const model::RoleLimits& from) {
  return {{"decode_per_prefill_least_milli", from.decode_per_prefill_least_milli},
          {"decode_per_prefill_most_milli", from.decode_per_prefill_most_milli},
          {"conversion_ns", from.conversion.count()}};
}

Json service(const model::Catalog& catalog, const model::Service& from) {
  Json json = Json::object();
  put(json, "name", from.name);
  json.update({{"slo",
                {{"ttft_ns", from.slo.ttft.count()},
                 {"tpot_ns", from.slo.tpot.count()},
                 {"e2e_ns", from.slo.e2e.count()},
                 {"attainment_ppm", from.slo.attainment_ppm}}},
               {"min_replicas", from.min_replicas},
               {"max_replicas", from.max_replicas},
               {"variants", Json::array({workload(catalog, from.workload)})}});
  for (const model::BoundsWindow& item : from.windows) json["windows"].push_back(window(item));
  if (from.survives) json["survives"] = word(*from.survives);
  if (from.slo.ttft_prefills_milli > 0) json["slo"]["ttft_prefills_milli"] = from.slo.ttft_prefills_milli;
  put(json, "fed_by", from.prefill_service);
  if (from.role_limits != model::RoleLimits()) json["role_limits"] = role_limits(from.role_limits);
  for (const model::ServiceId item : from.alternatives) json["beside"].push_back(item.value);
  return json;
}

Json offering(const model::Offering& from) {
  Json json = Json::object();
  put(json, "instance_type", from.instance_type);
  put(json, "gpu", from.gpu);
  json["gpus"] = from.gpus;
  put(json, "type", from.type);
  put(json, "zone", from.zone);
  json["capacity"] = word(from.capacity);
  json["micro_usd_per_hour"] = from.price_per_hour.count;
  return json;
}

std::int64_t count_of(MilliGpu amount) { return amount.count; }
std::int64_t count_of(std::int64_t amount) { return amount; }

/// Writes a share whose amounts have keys that end with `unit`.
template <typename Amount>
void put_share(Json& json, const std::string& unit, const model::QueueShare<Amount>& from) {
  if (from.limit) json["limit" + unit] = count_of(*from.limit);
  if (from.quota != Amount{}) json["quota" + unit] = count_of(from.quota);
  if (from.weight_milli != 0) json["weight_milli"] = from.weight_milli;
}

Json instance_type(const model::InstanceType& from) {
  Json json = {{"name", from.name}};
  if (from.cpu_milli) json["cpu_milli"] = *from.cpu_milli;
  if (from.memory_mib) json["memory_mib"] = *from.memory_mib;
  if (from.storage_mib) json["storage_mib"] = *from.storage_mib;
  if (from.pod_slots) json["pod_slots"] = *from.pod_slots;
  if (from.extended) json["extended"] = *from.extended;
  return json;
}

Json queue(const model::Queue& from) {
  Json json = {{"name", from.name}};
  put(json, "parent", from.parent);
  put_share(json, "_milli", from.gpus);
  if (from.cpu_milli != model::QueueShare<std::int64_t>{}) put_share(json["cpu"], "_milli", from.cpu_milli);
  if (from.memory_mib != model::QueueShare<std::int64_t>{}) put_share(json["memory"], "_mib", from.memory_mib);
  if (from.priority != 0) json["priority"] = from.priority;
  if (from.preempt_min_runtime) json["preempt_min_runtime_ns"] = from.preempt_min_runtime->count();
  if (from.reclaim_min_runtime) json["reclaim_min_runtime_ns"] = from.reclaim_min_runtime->count();
  if (from.fault != model::QueueFault::none) json["closed"] = true;
  if (from.fault == model::QueueFault::parent_cycle) json["parent_cycle"] = true;
  return json;
}

/// Returns true if format 2 has a key for everything in the queues. It has keys for names, limits of GPUs, parents
/// that come before their children, and the fault `not_found`.
bool fits_format_2(const std::vector<model::Queue>& queues) {
  for (std::uint32_t i = 0; i < queues.size(); ++i) {
    const model::Queue& queue = queues[i];
    model::Queue known{.name = queue.name, .parent = queue.parent, .gpus = {.limit = queue.gpus.limit}};
    if (queue.fault == model::QueueFault::not_found) known.fault = queue.fault;
    if (queue != known || (queue.parent.valid() && queue.parent.value >= i)) return false;
  }
  return true;
}

/// Returns the narrowest level of the standard topology at which a launch can choose a domain; none if it can choose
/// one at every level.
std::optional<model::Level> launches_into(const model::Catalog& from) {
  for (std::uint8_t number = 1; number < model::kTopologyLevels; ++number) {
    if (from.is_chosen_at_launch(model::Level(number))) {
      return number == 1 ? std::nullopt : std::optional(model::Level(number));
    }
  }
  return std::nullopt;
}

Json topology(const model::Topology& from) {
  Json json = {{"name", from.name}, {"levels", Json::array()}};
  for (const model::Topology::LevelInfo& level : from.levels) {
    Json item = {{"name", level.name}};
    put(item, "node_label", level.node_label);
    if (!level.is_chosen_at_launch) item["chosen_at_launch"] = false;
    json["levels"].push_back(item);
  }
  return json;
}

Json catalog(const model::Catalog& from) {
  Json json = {{"gpu_kinds", from.gpu_kinds},
               {"domains", Json::array()},
               {"offerings", Json::array()},
               {"pools", Json::array()},
               {"services", Json::array()}};
  for (const model::Domain& domain : from.domains) {
    Json item = {{"name", domain.name}, {"level", from.level_key(domain.level)}};
    put(item, "parent", domain.parent);
    json["domains"].push_back(item);
  }
  for (const model::Offering& item : from.offerings) json["offerings"].push_back(offering(item));
  for (const model::Pool& pool : from.pools) {
    Json item = Json::object();
    put(item, "name", pool.name);
    item["gpu_limit"] = pool.limits.gpus;
    put_limit(item, "node_limit", pool.limits.nodes);
    put_limit(item, "cpu_milli_limit", pool.limits.cpu_milli);
    put_limit(item, "memory_mib_limit", pool.limits.memory_mib);
    if (pool.weight != 0) item["weight"] = pool.weight;
    if (pool.budgets) item["budgets"] = budgets(*pool.budgets);
    item["offerings"] = Json::array();
    for (model::OfferingId id : pool.offerings) item["offerings"].push_back(id.value);
    json["pools"].push_back(item);
  }
  for (const model::InstanceType& item : from.instance_types) json["instance_types"].push_back(instance_type(item));
  for (const model::Queue& item : from.queues) json["queues"].push_back(queue(item));
  if (!from.extended_resources.empty()) json["extended_resources"] = from.extended_resources;
  for (const model::PodClass& item : from.eligibility.pod_classes) json["pod_classes"].push_back(pod_class(item));
  for (const auto& [purchase, node_class] : from.eligibility.purchases) {
    json["purchase_classes"].push_back(
        {{"pool", purchase.pool.value}, {"offering", purchase.offering.value}, {"node_class", node_class.value}});
  }
  for (const model::Service& item : from.services) json["services"].push_back(service(from, item));
  const model::FleetLimits& limits = from.limits;
  if (limits.gpus) json["limits"]["gpus"] = *limits.gpus;
  if (limits.nodes) json["limits"]["nodes"] = *limits.nodes;
  if (limits.price_per_hour) json["limits"]["micro_usd_per_hour"] = limits.price_per_hour->count;
  for (std::size_t t = 1; t < from.topologies.size(); ++t) json["topologies"].push_back(topology(from.topologies[t]));
  if (const std::optional<model::Level> narrowest = launches_into(from)) {
    json["launches_into"] = from.level_key(*narrowest);
  }
  return json;
}

Json node(Json json, const model::Catalog& catalog, const model::Node& from, bool overcommitted) {
  json["phase"] = word(from.phase);
  put(json, "pool", from.pool);
  put(json, "offering", from.offering);
  put(json, "claim", from.claim);
  put(json, "gpu", from.gpu);
  json["gpus_milli"] = from.gpus.count;
  if (overcommitted) json["overcommitted"] = true;
  if (from.is_foreign) json["kept"] = true;
  json["domains"] = Json::object();
  from.domains.for_each([&](model::Level level, model::DomainId domain) {
    put(json["domains"], catalog.level_key(level).c_str(), domain);
  });
  put(json, "node_class", from.node_class);
  if (from.available) json["available"] = resources(*from.available);
  put(json, "ready_at_ns", from.ready_at);
  return json;
}

Json claim(Json json, const model::Claim& from) {
  json["phase"] = word(from.phase);
  put(json, "pool", from.pool);
  put(json, "offering", from.offering);
  put(json, "within", from.domain);
  put(json, "group", from.group);
  if (from.group_size != 0) json["group_size"] = from.group_size;
  put(json, "requested_at_ns", from.requested_at);
  put(json, "expected_ready_at_ns", from.expected_ready_at);
  put(json, "node", from.node);
  return json;
}

/// Returns the number of pods that a gang needs and that do not exist. The result is not positive if none is missing.
std::int64_t missing_pods(const model::Gang& gang) {
  std::int64_t missing = gang.spec.pods.minimum - std::ssize(gang.pods);
  for (const model::PodSet& set : gang.spec.other_pods) missing += set.count;
  return missing;
}

Json pod_set(const model::PodSet& from) {
  Json json = {{"count", from.count}};
  if (from.minimum > 0) json["min_pods"] = from.minimum;
  put(json, "gpu", from.gpu);
  json["gpus_per_pod_milli"] = from.gpus_per_pod.count;
  put(json, "pod_class", from.pod_class);
  return json;
}

Json gang(Json json, const model::Catalog& catalog, const model::Gang& from, const model::ReplicaSignals& signals) {
  json["phase"] = word(from.phase);
  put(json, "service", from.service);
  if (from.service.valid()) json["variant"] = 0;
  json["ordinal"] = from.ordinal;
  json["pods"] = Json::array();
  for (model::PodId pod : from.pods) json["pods"].push_back(pod.value);
  if (from.spec.pods.minimum > 0) json["min_pods"] = from.spec.pods.minimum;
  const std::int64_t missing = missing_pods(from);
  if (missing > 0) json["missing_pods"] = missing;
  put(json, "gpu", from.spec.pods.gpu);
  json["gpus_per_pod_milli"] = from.spec.pods.gpus_per_pod.count;
  json["together"] = catalog.level_key(from.spec.required_level);
  if (from.spec.preferred) json["preferred"] = catalog.level_key(*from.spec.preferred);
  put(json, "pod_class", from.spec.pods.pod_class);
  if (from.spec.priority != 0) json["priority"] = from.spec.priority;
  if (from.spec.preemptible) json["preemptible"] = true;
  for (const model::PodSet& set : from.spec.other_pods) json["other_pods"].push_back(pod_set(set));
  put(json, "created_at_ns", from.created_at);
  if (from.resumed) json["resumed"] = true;
  put(json, "expected_ready_at_ns", from.expected_ready_at);
  put(json, "initialized_at_ns", from.initialized_at);
  put(json, "containers_started_at_ns", from.containers_started_at);
  for (const model::ReplicaSignal& item : model::kReplicaSignals) {
    const model::Signal& value = signals.*item.field;
    if (value != model::Signal{}) json["signals"][std::string(item.name)] = signal(value);
  }
  return json;
}

Json pod(Json json, const model::Pod& from) {
  json["phase"] = word(from.phase);
  put(json, "gang", from.gang);
  json["gpus_milli"] = from.gpus.count;
  if (from.set != 0) json["set"] = from.set;
  put(json, "node", from.node);
  if (runs_without_node(from)) json["on_unseen_node"] = true;
  put(json, "created_at_ns", from.created_at);
  put(json, "queue", from.queue);
  if (!from.devices.empty()) json["devices"] = from.devices;
  return json;
}

Json memory(const control::Memory& from) {
  Json json = {{"scale", Json::array()},
               {"place", to_text(from.place)},
               {"provision", to_text(from.provision)},
               {"planned", Json::array()}};
  for (const decide::scale::Memory& item : from.scale) json["scale"].push_back(to_text(item));
  for (const model::PlannedGang& planned : from.planned) {
    Json item = Json::object();
    put(item, "service", planned.service);
    item["variant"] = 0;
    item["ordinal"] = planned.ordinal;
    put(item, "decided_at_ns", planned.decided_at);
    json["planned"].push_back(item);
  }
  for (const control::RequestedReplicas& item : from.requested) {
    json["requested"].push_back({{"service", item.service.value}, {"replicas", item.replicas}});
  }
  return json;
}

/// Writes the members of the document one after the other, each row of a table on a line of its own, so that a snapshot
/// of a large cluster can be searched and compared by line. Only one row at a time is in memory as a value.
class Writer {
 public:
  void member(const char* key, const Json& value) {
    begin(key);
    out_ += value.dump();
  }

  /// @param row_of  makes the row of a table from its id and its value
  template <typename IdType, typename T, typename RowOf>
  void table(const char* key, const SharedTable<IdType, T>& rows, RowOf row_of) {
    begin(key);
    out_ += '[';
    const char* separator = "\n  ";
    rows.for_each([&](IdType id, const T& item) {
      out_ += std::exchange(separator, ",\n  ");
      out_ += row_of(id, item).dump();
    });
    out_ += rows.empty() ? "]" : "\n]";
  }

  std::string finish() {
    out_ += "\n}\n";
    return std::move(out_);
  }

 private:
  void begin(const char* key) {
    out_ += std::exchange(before_, ",\n");
    out_ += Json(key).dump() + ": ";
  }

  std::string out_ = "{\n";
  const char* before_ = "";
};

/// Returns true if there is a priority, or a gang with several pod sets.
bool needs_format_5(const model::Snapshot& snapshot) {
  bool found = std::ranges::any_of(snapshot.catalog->services,
                                   [](const model::Service& service) { return service.workload.priority != 0; });
  snapshot.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    found |= gang.spec.priority != 0 || !gang.spec.other_pods.empty();
  });
  return found;
}

/// Returns true if a gang is preemptible, if a workload has a leader that differs from its other pods, or if pods have
/// a rule that Capstan does not follow.
bool needs_format_6(const model::Snapshot& snapshot) {
  bool found = std::ranges::any_of(snapshot.catalog->eligibility.pod_classes, [](const model::PodClass& pods) {
    return pods.unsupported != model::PodRule::none;
  });
  found |= std::ranges::any_of(snapshot.catalog->services,
                               [](const model::Service& service) { return service.workload.leader.has_value(); });
  snapshot.gangs.for_each([&](model::GangId, const model::Gang& gang) { found |= gang.spec.preemptible; });
  return found;
}

/// Returns true if a node has no GPUs and no GPU kind, if running pods keep others apart, if a gang waits without GPUs,
/// or if an instance type states more than CPU and memory.
bool needs_format_7(const model::Snapshot& snapshot) {
  bool found = std::ranges::any_of(snapshot.catalog->eligibility.pod_classes, [](const model::PodClass& pods) {
    return !pods.kept_apart.empty() || pods.unsupported == model::PodRule::no_gpus;
  });
  found |= std::ranges::any_of(snapshot.catalog->instance_types, [](const model::InstanceType& type) {
    return type.storage_mib || type.pod_slots || type.extended;
  });
  snapshot.nodes.for_each([&](model::NodeId, const model::Node& node) { found |= !node.gpu.valid(); });
  return found;
}

/// Returns the lowest version that has a key for everything in the state, so that older readers read what they can.
std::int64_t format_of(const SavedState& state) {
  const model::Snapshot& snapshot = state.snapshot;
  if (!state.memory.requested.empty()) return 8;
  if (needs_format_7(snapshot)) return 7;
  if (needs_format_6(snapshot)) return 6;
  if (needs_format_5(snapshot)) return 5;
  bool has_devices = false;
  snapshot.pods.for_each([&](model::PodId, const model::Pod& pod) { has_devices |= !pod.devices.empty(); });
  bool lacks_pods = false;
  snapshot.gangs.for_each([&](model::GangId, const model::Gang& gang) { lacks_pods |= missing_pods(gang) > 0; });
  if (has_devices || lacks_pods || !snapshot.catalog->instance_types.empty() ||
      !fits_format_2(snapshot.catalog->queues))
    return 4;
  bool has_preference = std::ranges::any_of(
      snapshot.catalog->services, [](const model::Service& service) { return service.workload.preferred.has_value(); });
  snapshot.gangs.for_each(
      [&](model::GangId, const model::Gang& gang) { has_preference |= gang.spec.preferred.has_value(); });
  return has_preference || snapshot.catalog->topologies.size() > 1 ? 3 : 2;
}

Json scale_policies(const std::vector<decide::scale::Policy>& by_service) {
  Json json = Json::array();
  for (const decide::scale::Policy& policy : by_service) json.push_back(Json::parse(settings::to_json(policy)));
  return json;
}

}  // namespace

std::string to_json(const SavedState& state) {
  const model::Snapshot& from = state.snapshot;
  Writer out;
  out.member("format_version", format_of(state));
  out.member("version", from.version);
  out.member("at_ns", ns(from.at));
  Json policies = {{"name", state.policies.name}, {"scale", scale_policies(state.policies.scale)}};
  const auto layer = [&](const char* key, const auto& policy) {
    if (policy) policies[key] = Json::parse(settings::to_json(*policy));
  };
  layer("place", state.policies.place);
  layer("provision", state.policies.provision);
  out.member("policies", policies);
  out.member("catalog", catalog(*from.catalog));
  out.table("services", from.services, [](model::ServiceId id, const model::ServiceState& item) {
    Json json = {{"id", id.value},
                 {"desired_replicas", item.desired_replicas},
                 {"gateway_waiting", signal(item.gateway_waiting)}};
    if (item.leaving != 0) json["leaving"] = item.leaving;
    return json;
  });
  const std::map<model::NodeId, MilliGpu> bound = bound_gpus(from);
  const std::map<model::NodeId, std::uint16_t> vanished = vanished_devices(from);
  out.table("nodes", from.nodes, [&](model::NodeId id, const model::Node& item) {
    const auto held = bound.find(id);
    return node(row(id, state.names.nodes), *from.catalog, item,
                (held != bound.end() && held->second > item.gpus) || vanished.contains(id));
  });
  out.table("claims", from.claims,
            [&](model::ClaimId id, const model::Claim& item) { return claim(row(id, state.names.claims), item); });
  out.table("gangs", from.gangs, [&](model::GangId id, const model::Gang& item) {
    return gang(row(id, state.names.gangs), *from.catalog, item, from.signals_of(id));
  });
  out.table("pods", from.pods,
            [&](model::PodId id, const model::Pod& item) { return pod(row(id, state.names.pods), item); });
  out.member("memory", memory(state.memory));
  return out.finish();
}

}  // namespace capstan::archive
