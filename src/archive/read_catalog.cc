#include "archive/read_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "archive/rows.h"

namespace capstan::archive {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

/// Reads a list of names, each of which may occur once.
void read_names(const Node& list, const std::string& name, std::vector<std::string>& out, ErrorList& errors) {
  if (list.kind != Node::Kind::sequence) {
    return errors.fail(list.place, name + ": found " + list.words() + ", expected a list of names");
  }
  std::set<std::string_view> known;
  for (const Node& item : list.items) {
    if (item.kind != Node::Kind::scalar || item.is_null() || item.text.empty()) {
      errors.fail(item.place, name + ": found " + item.words() + ", expected a name");
    }
    if (!known.insert(item.text).second) {
      errors.fail(item.place, name + ": found " + item.words() + " a second time, expected each name once");
    }
    out.push_back(item.text);
  }
}

model::Topology read_topology(const Node& item, ErrorList& errors) {
  Fields fields(item, "catalog.topologies", errors);
  model::Topology topology;
  need_text(fields, "name", topology.name);
  for (const Node& row : need_list(fields, "levels")) {
    Fields of_level(row, "catalog.topologies.levels", errors);
    model::Topology::LevelInfo& level = topology.levels.emplace_back();
    need_text(of_level, "name", level.name);
    of_level.text("node_label", level.node_label);
    of_level.boolean("chosen_at_launch", level.is_chosen_at_launch);
    of_level.finish();
  }
  fields.finish();
  return topology;
}

/// Reads the topologies other than the standard one. If one of them has a fault, keeps only the standard one.
void read_topologies(Fields& from, model::Catalog& catalog, ErrorList& errors) {
  for (const Node& item : from.list("topologies")) {
    catalog.topologies.push_back(read_topology(item, errors));
    if (const std::optional<model::TopologyFault> fault = model::find_fault(catalog.topologies)) {
      const std::string of_level = fault->depth ? ".levels" : "";
      errors.fail(item.place, "catalog.topologies" + of_level + "." + fault->field + ": " + fault->message);
      catalog.topologies.resize(1);
      return;
    }
  }
}

void read_domains(Fields& from, model::Catalog& catalog, ErrorList& errors) {
  for (const Node& item : need_list(from, "domains")) {
    Fields fields(item, "catalog.domains", errors);
    model::Domain domain;
    need_text(fields, "name", domain.name);
    read_level(fields, errors, "level", catalog.topologies, domain.level);
    // A parent must be listed before its children, so that parents cannot form a cycle.
    read_ref(fields, errors, "parent", domain.parent, within(catalog.domains));
    fields.finish();
    catalog.domains.push_back(std::move(domain));
  }
}

void read_instance_types(Fields& from, model::Catalog& catalog, ErrorList& errors) {
  for (const Node& item : from.list("instance_types")) {
    Fields fields(item, "catalog.instance_types", errors);
    model::InstanceType type;
    need_text(fields, "name", type.name);
    const auto amount = [&](const char* key, std::optional<std::int64_t>& out) {
      if (fields.take(key) != nullptr) fields.integer(key, out.emplace(), 0, kMaxResource);
    };
    amount("cpu_milli", type.cpu_milli);
    amount("memory_mib", type.memory_mib);
    amount("storage_mib", type.storage_mib);
    amount("pod_slots", type.pod_slots);
    if (fields.take("extended") != nullptr) {
      read_extended(fields, type.extended.emplace(), catalog.extended_resources.size(), model::kUnlimited);
    }
    fields.finish();
    catalog.instance_types.push_back(std::move(type));
  }
}

void read_offerings(Fields& from, model::Catalog& catalog, ErrorList& errors) {
  for (const Node& item : need_list(from, "offerings")) {
    Fields fields(item, "catalog.offerings", errors);
    model::Offering offering;
    fields.text("instance_type", offering.instance_type);
    need_ref(fields, errors, "gpu", offering.gpu, within(catalog.gpu_kinds));
    need_integer(fields, "gpus", offering.gpus, 1, 1'000);
    need_ref(fields, errors, "zone", offering.zone, within(catalog.domains));
    read_ref(fields, errors, "type", offering.type, within(catalog.instance_types));
    read_word(fields, errors, "capacity", offering.capacity);
    need_integer(fields, "micro_usd_per_hour", offering.price_per_hour.count, 0, 1'000'000'000'000);
    fields.finish();
    catalog.offerings.push_back(std::move(offering));
  }
}

model::DisruptionBudget read_budget(const Node& node, ErrorList& errors) {
  Fields fields(node, "catalog.pools.budgets", errors);
  model::DisruptionBudget budget;
  if (fields.take("nodes") != nullptr) fields.integer("nodes", budget.nodes.emplace(), 0, kMaxGpus);
  if (fields.take("share_ppm") != nullptr) fields.integer("share_ppm", budget.share_ppm.emplace(), 0, 1'000'000);
  if (fields.take("start") != nullptr) {
    fields.cron("start", budget.start.emplace());
    need_duration_ns(fields, "duration_ns", budget.duration, model::DisruptionBudget::kLongest);
  }
  fields.finish();
  return budget;
}

void read_budgets(Fields& pool, std::vector<model::DisruptionBudget>& budgets, ErrorList& errors) {
  for (const Node& node : need_list(pool, "budgets")) budgets.push_back(read_budget(node, errors));
  if (budgets.size() <= model::DisruptionBudget::kMax) return;
  errors.fail(pool.place_for_error({"budgets"}), "catalog.pools.budgets: found " + std::to_string(budgets.size()) +
                                                     ", expected at most " +
                                                     std::to_string(model::DisruptionBudget::kMax));
}

void read_pools(Fields& from, model::Catalog& catalog, ErrorList& errors) {
  for (const Node& item : need_list(from, "pools")) {
    Fields fields(item, "catalog.pools", errors);
    model::Pool pool;
    fields.text("name", pool.name);
    need_integer(fields, "gpu_limit", pool.limits.gpus, 0, kMaxGpus);
    fields.integer("node_limit", pool.limits.nodes, 0, model::kUnlimited);
    fields.integer("cpu_milli_limit", pool.limits.cpu_milli, 0, model::kUnlimited);
    fields.integer("memory_mib_limit", pool.limits.memory_mib, 0, model::kUnlimited);
    fields.integer("weight", pool.weight, 0, kMaxWeight);
    if (fields.take("budgets") != nullptr) read_budgets(fields, pool.budgets.emplace(), errors);
    for (const Node& node : need_list(fields, "offerings")) {
      read_ref(node, "catalog.pools.offerings", errors, pool.offerings.emplace_back(), within(catalog.offerings));
    }
    fields.finish();
    catalog.pools.push_back(std::move(pool));
  }
}

std::int64_t& count_of(MilliGpu& amount) { return amount.count; }
std::int64_t& count_of(std::int64_t& amount) { return amount; }

template <typename Amount>
void read_share(Fields& fields, std::string_view limit, std::string_view quota, model::QueueShare<Amount>& out,
                std::int64_t most) {
  if (fields.take(limit) != nullptr) fields.integer(limit, count_of(out.limit.emplace()), 0, most);
  fields.integer(quota, count_of(out.quota), 0, most);
  fields.integer("weight_milli", out.weight_milli, 0, kMaxWeight);
}

void read_optional_duration_ns(Fields& fields, std::string_view key, std::optional<Duration>& out) {
  if (fields.take(key) != nullptr) need_duration_ns(fields, key, out.emplace());
}

void read_queue(const Node& item, std::size_t queues, model::Catalog& catalog, ErrorList& errors) {
  Fields fields(item, "catalog.queues", errors);
  model::Queue queue;
  // A queue that was deleted keeps its row, with an empty name.
  const Node* name = fields.take_required("name");
  const bool is_deleted = name != nullptr && name->kind == Node::Kind::scalar && !name->is_null() && name->text.empty();
  if (name != nullptr && !is_deleted) fields.text("name", queue.name);
  read_ref(fields, errors, "parent", queue.parent, [&](model::QueueId id) { return id.value < queues; });
  read_share(fields, "limit_milli", "quota_milli", queue.gpus, kMaxGpus * 1'000);
  fields.check("cpu", [&](const Node& node, ErrorList& inner_errors) {
    Fields inner(node, "catalog.queues.cpu", inner_errors);
    read_share(inner, "limit_milli", "quota_milli", queue.cpu_milli, kMaxResource);
    inner.finish();
  });
  fields.check("memory", [&](const Node& node, ErrorList& inner_errors) {
    Fields inner(node, "catalog.queues.memory", inner_errors);
    read_share(inner, "limit_mib", "quota_mib", queue.memory_mib, kMaxResource);
    inner.finish();
  });
  fields.integer("priority", queue.priority, -kMaxPriority, kMaxPriority);
  read_optional_duration_ns(fields, "preempt_min_runtime_ns", queue.preempt_min_runtime);
  read_optional_duration_ns(fields, "reclaim_min_runtime_ns", queue.reclaim_min_runtime);
  bool closed = false, parent_cycle = false;
  fields.boolean("closed", closed);
  fields.boolean("parent_cycle", parent_cycle);
  if (closed) queue.fault = parent_cycle ? model::QueueFault::parent_cycle : model::QueueFault::not_found;
  if (parent_cycle && !closed) {
    errors.fail(item.place, "catalog.queues.parent_cycle: found true without closed, expected closed: true too");
  }
  fields.finish();
  catalog.queues.push_back(std::move(queue));
}

void read_queues(Fields& from, model::Catalog& catalog, ErrorList& errors) {
  const auto items = from.list("queues");
  for (const Node& item : items) read_queue(item, items.size(), catalog, errors);
}

/// Reads the leader of a replica, the pod that differs from the other pods. The other pods share the GPUs of the
/// replica that the leader does not use.
void read_leader(const Node& item, model::Workload& workload, const model::Catalog& catalog, ExclusionLists* exclusions,
                 ErrorList& errors) {
  Fields fields(item, "catalog.services.variants.leader", errors);
  model::LeaderPod& leader = workload.leader.emplace();
  const std::int64_t most = whole_gpus(workload.gpus_per_replica).count - workload.pods + 1;
  need_integer(fields, "gpus_milli", leader.gpus.count, 0, most);
  read_pod_class(fields, errors, leader.pod_class, catalog, exclusions);
  fields.finish();
  if (workload.pods >= 2) return;
  errors.fail(item.place, "catalog.services.variants.leader: found a leader of a single pod, expected at least 2 pods");
}

model::Workload read_workload(const Node& item, const model::Catalog& catalog, ExclusionLists* exclusions,
                              ErrorList& errors) {
  Fields fields(item, "catalog.services.variants", errors);
  model::Workload workload;
  workload.engine.clear();  // an absent key means an empty text, not the default of model::Workload
  workload.dtype.clear();
  fields.text("name", workload.name);
  fields.text("model", workload.model);
  fields.text("engine", workload.engine);
  need_ref(fields, errors, "gpu", workload.gpu, within(catalog.gpu_kinds));
  need_integer(fields, "tensor_parallel", workload.gpus_per_replica, 1, 1'024);
  fields.text("dtype", workload.dtype);
  read_word(fields, errors, "role", workload.role);
  need_integer(fields, "pods", workload.pods, 1, 1'024);
  if (whole_gpus(workload.gpus_per_replica).count < workload.pods) {
    errors.fail(item.place, "catalog.services.variants.pods: " + std::to_string(workload.pods) + " pods share " +
                                std::to_string(workload.gpus_per_replica) +
                                " GPUs, expected at least 0.001 GPUs per pod");
  }
  read_level(fields, errors, "together", catalog.topologies, workload.required_level);
  read_preferred(fields, errors, catalog.topologies, workload.preferred);
  fields.integer("max_seqs", workload.step_limits.max_seqs, 0, 1 << 24);
  fields.integer("max_batched_tokens", workload.step_limits.max_batched_tokens, 0, 1 << 24);
  read_ref(fields, errors, "queue", workload.queue, within(catalog.queues));
  fields.boolean("placed_elsewhere", workload.placed_elsewhere);
  read_pod_class(fields, errors, workload.pod_class, catalog, exclusions);
  if (const Node* leader = fields.take("leader")) read_leader(*leader, workload, catalog, exclusions, errors);
  fields.integer("priority", workload.priority, -kMaxGangPriority, kMaxGangPriority);
  fields.integer("micro_usd_per_hour", workload.price_per_hour.count, 0, 1'000'000'000'000);
  fields.finish();
  return workload;
}

model::BoundsWindow read_window(const Node& node, ErrorList& errors) {
  Fields fields(node, "catalog.services.windows", errors);
  model::BoundsWindow window;
  fields.take_required("start");
  fields.cron("start", window.start);
  need_duration_ns(fields, "duration_ns", window.duration, model::BoundsWindow::kLongest);
  if (fields.take("min") != nullptr) fields.integer("min", window.min.emplace(), 0, kMaxReplicas);
  if (fields.take("max") != nullptr) fields.integer("max", window.max.emplace(), 1, kMaxReplicas);
  fields.finish();
  return window;
}

void read_role_limits(const Node& node, model::RoleLimits& limits, ErrorList& errors) {
  Fields fields(node, "catalog.services.role_limits", errors);
  const std::int64_t max_ratio = model::RoleLimits::kMaxRatioMilli;
  need_integer(fields, "decode_per_prefill_least_milli", limits.decode_per_prefill_least_milli, 0, max_ratio);
  need_integer(fields, "decode_per_prefill_most_milli", limits.decode_per_prefill_most_milli, 0, max_ratio);
  need_duration_ns(fields, "conversion_ns", limits.conversion, model::RoleLimits::kMaxConversion);
  fields.finish();
}

void read_slo(const Node& node, model::Slo& slo, ErrorList& errors) {
  Fields fields(node, "catalog.services.slo", errors);
  need_duration_ns(fields, "ttft_ns", slo.ttft);
  need_duration_ns(fields, "tpot_ns", slo.tpot);
  need_duration_ns(fields, "e2e_ns", slo.e2e);
  need_integer(fields, "attainment_ppm", slo.attainment_ppm, 0, 1'000'000);
  fields.integer("ttft_prefills_milli", slo.ttft_prefills_milli, 0, 1'000'000);
  fields.finish();
}

void read_services(Fields& from, model::Catalog& catalog, ExclusionLists* exclusions, ErrorList& errors) {
  for (const Node& item : need_list(from, "services")) {
    Fields fields(item, "catalog.services", errors);
    model::Service service;
    fields.text("name", service.name);
    if (const Node* slo = fields.take_required("slo")) read_slo(*slo, service.slo, errors);
    need_integer(fields, "max_replicas", service.max_replicas, 0, kMaxReplicas);
    need_integer(fields, "min_replicas", service.min_replicas, 0, service.max_replicas);
    for (const Node& node : fields.list("windows")) service.windows.push_back(read_window(node, errors));
    if (service.windows.size() > model::BoundsWindow::kMax) {
      errors.fail(item.place, "catalog.services.windows: found " + std::to_string(service.windows.size()) +
                                  ", expected at most " + std::to_string(model::BoundsWindow::kMax));
    }
    if (fields.take("survives") != nullptr) read_word(fields, errors, "survives", service.survives.emplace());
    read_id(fields, errors, "fed_by", service.prefill_service);
    fields.check("role_limits",
                 [&](const Node& node, ErrorList& v) { read_role_limits(node, service.role_limits, v); });
    read_refs(fields, errors, "beside", service.alternatives, [](model::ServiceId) { return true; });
    const auto variants = fields.list("variants");
    if (variants.size() == 1) {
      service.workload = read_workload(variants.front(), catalog, exclusions, errors);
    } else {
      errors.fail(variants.empty() ? item.place : variants[1].place,
                  "catalog.services.variants: found " + std::to_string(variants.size()) + " entries, expected one");
    }
    fields.finish();
    catalog.services.push_back(std::move(service));
  }
}

/// Reads a list of node classes into flags by class.
void read_node_classes(Fields& fields, const Node& item, ErrorList& errors, const char* key, std::vector<bool>& flags) {
  std::vector<model::NodeClassId> listed;
  read_refs(fields, errors, key, listed, [](model::NodeClassId id) { return id.value < kMaxNodeClasses; });
  if (!errors.ok()) return;
  for (const model::NodeClassId id : listed) {
    if (id.value < flags.size()) {
      return errors.fail(item.place,
                         fmt::format("catalog.pod_classes.{}: found {} after {}, expected each id once, in ascending "
                                     "order",
                                     key, id.value, flags.size() - 1));
    }
    flags.resize(id.value + 1);
    flags[id.value] = true;
  }
}

void read_pod_class_row(const Node& item, model::Catalog& catalog, ErrorList& errors) {
  Fields fields(item, "catalog.pod_classes", errors);
  model::PodClass row;
  read_resources(fields, row.requests, catalog.extended_resources.size());
  if (fields.take("unsupported") != nullptr) read_word(fields, errors, "unsupported", row.unsupported);
  read_node_classes(fields, item, errors, "node_classes", row.node_classes);
  read_node_classes(fields, item, errors, "kept_apart", row.kept_apart);
  fields.text("kept_apart_by", row.kept_apart_by);
  fields.finish();
  if (!errors.ok()) return;
  catalog.eligibility.pod_classes.push_back(std::move(row));
}

void read_purchase_class(const Node& item, model::Catalog& catalog, ErrorList& errors) {
  Fields fields(item, "catalog.purchase_classes", errors);
  model::Purchase purchase;
  model::NodeClassId node_class;
  need_ref(fields, errors, "pool", purchase.pool, within(catalog.pools));
  need_ref(fields, errors, "offering", purchase.offering, within(catalog.offerings));
  need_ref(fields, errors, "node_class", node_class, [](model::NodeClassId id) { return id.value < kMaxNodeClasses; });
  fields.finish();
  if (!errors.ok() || catalog.eligibility.purchases.try_emplace(purchase, node_class).second) return;
  errors.fail(item.place, "catalog.purchase_classes: found a second row for this pool and offering, expected one");
}

void read_classes(Fields& from, model::Catalog& catalog, ErrorList& errors) {
  const auto pod_classes = from.list("pod_classes");
  if (std::ssize(pod_classes) > kMaxPodClasses) {
    errors.fail(pod_classes.back().place, "catalog.pod_classes: found " + std::to_string(pod_classes.size()) +
                                              " rows, expected at most " + std::to_string(kMaxPodClasses));
  }
  for (const Node& item : pod_classes) {
    if (errors.ok()) read_pod_class_row(item, catalog, errors);
  }
  for (const Node& item : from.list("purchase_classes")) read_purchase_class(item, catalog, errors);
}

void read_gpu_kinds(Fields& from, model::Catalog& catalog, ErrorList& errors) {
  if (const Node* node = from.take_required("gpu_kinds"))
    read_names(*node, "catalog.gpu_kinds", catalog.gpu_kinds, errors);
}

template <typename Number>
void read_limit(Fields& fields, std::string_view key, std::optional<Number>& out) {
  if (fields.take(key) == nullptr) return;
  std::int64_t value = 0;
  fields.integer(key, value, 0, 1'000'000'000'000);
  out = Number{value};
}

void read_limits(const Node& node, model::FleetLimits& out, ErrorList& errors) {
  Fields fields(node, "catalog.limits", errors);
  read_limit(fields, "gpus", out.gpus);
  read_limit(fields, "nodes", out.nodes);
  read_limit(fields, "micro_usd_per_hour", out.price_per_hour);
  fields.finish();
}

/// Reads the narrowest level of the standard topology at which a launch can choose a domain.
void read_launches_into(Fields& fields, model::Topology& standard, ErrorList& errors) {
  model::TopologyLevel narrowest = model::TopologyLevel::node;
  read_word(fields, errors, "launches_into", narrowest);
  for (std::size_t depth = 0; depth < standard.levels.size(); ++depth) {
    standard.levels[depth].is_chosen_at_launch =
        model::level_at({&standard, 1}, {.topology = 0, .depth = depth}) >= model::Level(narrowest);
  }
}

}  // namespace

model::Catalog read_catalog(const Node& node, ExclusionLists* exclusions, ErrorList& errors) {
  model::Catalog catalog;
  Fields fields(node, "catalog", errors);
  read_gpu_kinds(fields, catalog, errors);
  read_topologies(fields, catalog, errors);
  read_domains(fields, catalog, errors);
  fields.check("extended_resources", [&](const Node& names, ErrorList&) {
    read_names(names, "catalog.extended_resources", catalog.extended_resources, errors);
  });
  read_instance_types(fields, catalog, errors);
  read_offerings(fields, catalog, errors);
  read_pools(fields, catalog, errors);
  read_queues(fields, catalog, errors);
  if (exclusions == nullptr) read_classes(fields, catalog, errors);
  read_services(fields, catalog, exclusions, errors);
  if (const Node* limits = fields.take("limits")) read_limits(*limits, catalog.limits, errors);
  if (fields.take("launches_into") != nullptr) read_launches_into(fields, catalog.topologies.front(), errors);
  fields.finish();
  return catalog;
}

}  // namespace capstan::archive
