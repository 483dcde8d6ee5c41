#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "archive/check_memory.h"
#include "archive/read_catalog.h"
#include "archive/require_written_keys.h"
#include "archive/rows.h"
#include "archive/saved_state.h"
#include "archive/stated_bindings.h"
#include "base/known_row.h"
#include "manifest/json.h"
#include "manifest/object_instead.h"
#include "model/consistency.h"
#include "model/signal_names.h"
#include "settings/policy.h"

namespace capstan::archive {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

/// Lists of a snapshot file that have a row for each object of the cluster.
constexpr std::string_view kTables[] = {"services", "nodes", "claims", "gangs", "pods"};

/// Calls `visit(row)` for each row of a table, until `visit` returns false. If the file is JSON, only one row at a time
/// is in memory.
/// @param key  reads only the value of this key; empty: reads whole rows
template <typename Visit>
void for_each_row(const manifest::JsonFile& file, std::string_view table, std::string_view key, Visit visit) {
  if (const auto rows = file.rows.find(table); rows != file.rows.end()) {
    for (const manifest::JsonRow& row : rows->second) {
      if (!visit(key.empty() ? read_row(row) : read_row(row, key))) return;
    }
  } else if (const Node* list = file.root.find(table)) {
    for (const Node& row : list->items) {
      if (!visit(row)) return;
    }
  }
}

/// Reads the tables row by row. A first pass reads the ids, because rows may refer to later rows.
class TableReader {
 public:
  TableReader(const manifest::JsonFile& file, SavedState& state, const model::Catalog& catalog,
              ExclusionLists* exclusions, ErrorList& errors)
      : file_(file),
        state_(state),
        catalog_(catalog),
        exclusions_(exclusions),
        errors_(errors),
        level_keys_(level_keys(catalog.topologies)) {}

  void read(Fields& top) {
    model::Snapshot& s = state_.snapshot;
    create_rows(top, "services", s.services);
    create_rows(top, "nodes", s.nodes);
    create_rows(top, "claims", s.claims);
    create_rows(top, "gangs", s.gangs);
    create_rows(top, "pods", s.pods);
    SharedTable<model::ServiceId, std::string> no_names;
    read_rows("services", s.services, no_names, [&](auto, Fields& f, model::ServiceState& row) { service(f, row); });
    read_rows("nodes", s.nodes, state_.names.nodes, [&](auto, Fields& f, model::Node& row) { node(f, row); });
    read_rows("claims", s.claims, state_.names.claims, [&](auto, Fields& f, model::Claim& row) { claim(f, row); });
    read_rows("gangs", s.gangs, state_.names.gangs,
              [&](model::GangId id, Fields& f, model::Gang& row) { gang(id, f, row); });
    read_rows("pods", s.pods, state_.names.pods, [&](auto, Fields& f, model::Pod& row) { pod(f, row); });
    check_minimums();
    set_queues();
  }

  /// Returns the nodes with `overcommitted: true` in their rows: the pods on such a node hold more GPUs than it has,
  /// or a device that it does not have.
  const std::set<model::NodeId>& overcommitted() const { return overcommitted_; }

 private:
  template <typename IdType, typename T>
  void create_rows(Fields& top, const char* key, SharedTable<IdType, T>& rows) {
    need_list(top, key);
    if (!errors_.ok()) return;
    for_each_row(file_, key, "id", [&](const Node& item) {
      Fields fields(item, key, errors_);
      IdType id{0};
      if (fields.take_required("id") != nullptr) read_id(fields, errors_, "id", id);
      if (!errors_.ok()) return false;
      if (rows.find(id) != nullptr) {
        errors_.fail(item.place, std::string(key) + ": found a second row with id " + std::to_string(id.value) +
                                     ", expected each id once");
      }
      rows.set(id, T{});
      return errors_.ok();
    });
  }

  template <typename IdType, typename T, typename Read>
  void read_rows(const char* key, SharedTable<IdType, T>& rows, SharedTable<IdType, std::string>& names, Read&& read) {
    if (!errors_.ok()) return;
    for_each_row(file_, key, {}, [&](const Node& item) {
      Fields fields(item, key, errors_);
      IdType id;
      read_id(fields, errors_, "id", id);
      std::string name;
      fields.text("name", name);
      T row;
      read(id, fields, row);
      fields.finish();
      if (!errors_.ok()) return false;
      rows.set(id, std::move(row));
      if (!name.empty()) names.set(id, std::move(name));
      return true;
    });
  }

  void signal(Fields& from, std::string_view key, model::Signal& out, std::int64_t max) {
    const Node* node = from.take(key);
    if (node == nullptr) return;
    Fields fields(*node, from.what() + "." + std::string(key), errors_);
    read_word(fields, errors_, "state", out.state);
    if (out.state != model::Signal::State::missing) {
      need_integer(fields, "value", out.value, 0, max);
    } else if (const Node* value = fields.take("value")) {
      errors_.fail(value->place,
                   fields.what() + ".value: found " + value->words() + " on a signal that is missing, expected none");
    }
    need_duration_ns(fields, "age_ns", out.age);
    fields.finish();
  }

  void service(Fields& fields, model::ServiceState& row) {
    need_integer(fields, "desired_replicas", row.desired_replicas, 0, kMaxReplicas);
    fields.integer("leaving", row.leaving, 0, row.desired_replicas);
    fields.take_required("gateway_waiting");
    signal(fields, "gateway_waiting", row.gateway_waiting, model::largest(model::Measure::requests));
  }

  void node(Fields& fields, model::Node& row) {
    read_word(fields, errors_, "phase", row.phase);
    read_ref(fields, errors_, "pool", row.pool, within(catalog_.pools));
    if (row.pool.valid()) fields.take_required("offering");  // its offering has the price of the node
    read_ref(fields, errors_, "offering", row.offering, within(catalog_.offerings));
    read_id(fields, errors_, "claim", row.claim);
    need_integer(fields, "gpus_milli", row.gpus.count, 0, kMaxGpus);
    if (row.gpus > MilliGpu{}) fields.take_required("gpu");
    read_ref(fields, errors_, "gpu", row.gpu, within(catalog_.gpu_kinds));
    bool overcommitted = false;
    fields.boolean("overcommitted", overcommitted);
    if (overcommitted) {
      model::NodeId id;
      read_id(fields, errors_, "id", id);
      overcommitted_.insert(id);
    }
    fields.boolean("kept", row.is_foreign);
    if (const Node* node = fields.take_required("domains")) {
      Fields domains(*node, "nodes.domains", errors_);
      for (std::size_t level = 0; level < level_keys_.size(); ++level) {
        model::DomainId domain;
        read_ref(domains, errors_, level_keys_[level], domain, within(catalog_.domains));
        if (domain.valid()) row.domains.set(model::Level(static_cast<std::uint8_t>(level)), domain);
      }
      domains.finish();
    }
    if (exclusions_ == nullptr) {
      read_ref(fields, errors_, "node_class", row.node_class,
               [](model::NodeClassId id) { return id.value < kMaxNodeClasses; });
      fields.check("available", [&](const Node& available, ErrorList& errors) {
        Fields resources(available, "nodes.available", errors);
        read_resources(resources, row.available.emplace(), catalog_.extended_resources.size());
        resources.finish();
      });
    }
    read_instant(fields, "ready_at_ns", row.ready_at);
  }

  void claim(Fields& fields, model::Claim& row) {
    read_word(fields, errors_, "phase", row.phase);
    need_ref(fields, errors_, "pool", row.pool, within(catalog_.pools));
    need_ref(fields, errors_, "offering", row.offering, within(catalog_.offerings));
    read_ref(fields, errors_, "within", row.domain, within(catalog_.domains));
    read_id(fields, errors_, "group", row.group);
    fields.integer("group_size", row.group_size, 0, kMaxGroupSize);
    need_instant(fields, "requested_at_ns", row.requested_at);
    read_instant(fields, "expected_ready_at_ns", row.expected_ready_at);
    read_id(fields, errors_, "node", row.node);
  }

  void gang(model::GangId id, Fields& fields, model::Gang& row) {
    read_word(fields, errors_, "phase", row.phase);
    read_ref(fields, errors_, "service", row.service, within(catalog_.services));
    if (row.service.valid()) check_variant(fields, errors_);
    need_integer(fields, "ordinal", row.ordinal, 0, kMaxId);
    read_refs(fields, errors_, "pods", row.pods, within(state_.snapshot.pods));
    if (row.pods.empty()) errors_.fail(fields.node().place, "gangs: the gang has no pods, expected at least one");
    model::PodSet& spec = row.spec.pods;
    fields.integer("min_pods", spec.minimum, 0, kMaxGroupSize);
    need_ref(fields, errors_, "gpu", spec.gpu, within(catalog_.gpu_kinds));
    need_integer(fields, "gpus_per_pod_milli", spec.gpus_per_pod.count, 1, kMaxGpus);
    read_level(fields, errors_, "together", catalog_.topologies, row.spec.required_level);
    read_preferred(fields, errors_, catalog_.topologies, row.spec.preferred);
    read_pod_class(fields, errors_, spec.pod_class, catalog_, exclusions_);
    fields.integer("priority", row.spec.priority, -kMaxGangPriority, kMaxGangPriority);
    fields.boolean("preemptible", row.spec.preemptible);
    other_pods(fields, row.spec);
    const std::int64_t others = row.spec.count() - spec.count;
    spec.count = std::max(std::ssize(row.pods) - others, spec.minimum);
    missing_pods(id, fields, row);
    need_instant(fields, "created_at_ns", row.created_at);
    fields.boolean("resumed", row.resumed);
    read_instant(fields, "expected_ready_at_ns", row.expected_ready_at);
    read_instant(fields, "initialized_at_ns", row.initialized_at);
    read_instant(fields, "containers_started_at_ns", row.containers_started_at);
    fields.check("signals", [&](const Node& node, ErrorList& errors) {
      model::ReplicaSignals readings;
      Fields signals(node, "gangs.signals", errors);
      for (const model::ReplicaSignal& replica_signal : model::kReplicaSignals) {
        signal(signals, replica_signal.name, readings.*replica_signal.field, replica_signal.most);
      }
      signals.finish();
      state_.snapshot.signals.set(id, readings);
    });
  }

  /// Reads the pod sets of a gang after the first one.
  void other_pods(Fields& fields, model::GangSpec& spec) {
    for (const Node& item : fields.list("other_pods")) {
      if (spec.sets() == model::kMaxPodSets) {
        return errors_.fail(item.place, fmt::format("gangs.other_pods: found more than {} pod sets, expected at most "
                                                    "as many",
                                                    model::kMaxPodSets - 1));
      }
      Fields set(item, "gangs.other_pods", errors_);
      model::PodSet& row = spec.other_pods.emplace_back();
      need_integer(set, "count", row.count, 1, kMaxGroupSize);
      set.integer("min_pods", row.minimum, 0, kMaxGroupSize);
      if (row.minimum > row.count) {
        errors_.fail(item.place,
                     fmt::format("gangs.other_pods.min_pods: found {}, but the set has {} pods, expected at "
                                 "most as many",
                                 row.minimum, row.count));
      }
      need_ref(set, errors_, "gpu", row.gpu, within(catalog_.gpu_kinds));
      need_integer(set, "gpus_per_pod_milli", row.gpus_per_pod.count, 0, kMaxGpus);
      read_pod_class(set, errors_, row.pod_class, catalog_, exclusions_);
      set.finish();
    }
  }

  /// Reads how many of the pods that a gang needs do not exist. A file of an earlier program does not state this number
  /// for a gang that runs and has lost pods.
  void missing_pods(model::GangId id, Fields& fields, const model::Gang& row) {
    std::int64_t missing = 0;
    fields.integer("missing_pods", missing, 0, kMaxGroupSize);
    const std::int64_t lacking = row.spec.count() - std::ssize(row.pods);
    if (missing == 0 && lacking > 0) {
      below_minimum_.emplace_back(id, fields.node().place);
    } else if (missing != lacking) {
      errors_.fail(fields.node().place, fmt::format("gangs.missing_pods: found {}, expected {}, the number by which "
                                                    "min_pods is above the pods of the gang",
                                                    missing, lacking));
    }
  }

  /// Refuses gangs that have fewer pods than they need and do not state `missing_pods`, unless one of their pods is
  /// no longer pending.
  void check_minimums() {
    for (const auto& [id, place] : below_minimum_) {
      if (!errors_.ok()) return;
      const model::Gang& gang = state_.snapshot.gangs.at(id);
      const bool runs = std::ranges::any_of(gang.pods, [&](model::PodId pod) {
        return state_.snapshot.pods.at(pod).phase != model::Pod::Phase::pending;
      });
      if (runs) continue;
      errors_.fail(place,
                   fmt::format("gangs.min_pods: found {}, but the gang has {} pods, expected at most as many, or "
                               "missing_pods: {}",
                               gang.spec.pods.minimum, gang.pods.size(), gang.spec.count() - std::ssize(gang.pods)));
    }
  }

  /// Sets the queue that each gang asks for. A file states the queues of pods, and the first pod stands for its gang.
  void set_queues() {
    if (!errors_.ok()) return;
    std::vector<std::pair<model::GangId, model::QueueId>> queues;
    state_.snapshot.gangs.for_each([&](model::GangId id, const model::Gang& gang) {
      const model::QueueId queue = state_.snapshot.pods.at(gang.pods.front()).queue;
      if (queue.valid()) queues.emplace_back(id, queue);
    });
    for (const auto& [id, queue] : queues) {
      model::Gang gang = state_.snapshot.gangs.at(id);
      gang.spec.queue = queue;
      state_.snapshot.gangs.set(id, std::move(gang));
    }
  }

  void pod(Fields& fields, model::Pod& row) {
    read_word(fields, errors_, "phase", row.phase);
    need_ref(fields, errors_, "gang", row.gang, within(state_.snapshot.gangs));
    need_integer(fields, "gpus_milli", row.gpus.count, 0, kMaxGpus);
    pod_set(fields, row);
    read_ref(fields, errors_, "node", row.node, within(state_.snapshot.nodes));
    bool on_unseen_node = false;
    fields.boolean("on_unseen_node", on_unseen_node);
    const bool needs_node = runs_without_node(row);
    if (needs_node && !on_unseen_node) {
      errors_.fail(fields.node().place, "pods.node: found none on a " + std::string(word(row.phase)) +
                                            " pod, expected its node, or on_unseen_node: true if the node has no row");
    }
    if (!needs_node && on_unseen_node) {
      errors_.fail(fields.node().place, "pods.on_unseen_node: found true on a " + std::string(word(row.phase)) +
                                            " pod " + (row.node.valid() ? "with" : "without") +
                                            " a node, expected it only on running pods without a node");
    }
    need_instant(fields, "created_at_ns", row.created_at);
    read_ref(fields, errors_, "queue", row.queue, within(catalog_.queues));
    devices(fields, row);
  }

  /// Reads the number of the pod's set within its gang.
  void pod_set(Fields& fields, model::Pod& row) {
    const model::Gang* gang = state_.snapshot.gangs.find(row.gang);
    std::int64_t set = 0;
    fields.integer("set", set, 0, gang == nullptr ? 0 : std::ssize(gang->spec.other_pods));
    row.set = static_cast<std::uint8_t>(set);
  }

  /// Reads the numbers of the devices that a pod holds, each once.
  void devices(Fields& fields, model::Pod& row) {
    for (const Node& node : fields.list("devices")) {
      const std::optional<std::int64_t> number = manifest::read_integer(node.text);
      const std::int64_t least = row.devices.empty() ? 0 : row.devices.back() + 1;
      if (node.kind != Node::Kind::scalar || !number || *number < least || *number > kMaxDevice) {
        return errors_.fail(node.place, fmt::format("pods.devices: found {}, expected numbers of devices of 0..{} in "
                                                    "ascending order",
                                                    node.words(), kMaxDevice));
      }
      row.devices.push_back(static_cast<std::uint16_t>(*number));
    }
    if (!row.devices.empty() && !row.node.valid()) {
      errors_.fail(fields.node().place, "pods.devices: found devices on a pod without a node, expected none");
    }
  }

  const manifest::JsonFile& file_;
  SavedState& state_;
  const model::Catalog& catalog_;
  ExclusionLists* exclusions_;  ///< null for formats after 1
  ErrorList& errors_;
  std::vector<std::string> level_keys_;  ///< key of each level; `Fields` keeps references to these texts
  std::set<model::NodeId> overcommitted_;
  /// Gangs that have fewer pods than they need and do not state `missing_pods`.
  std::vector<std::pair<model::GangId, manifest::Place>> below_minimum_;
};

/// Reads a memory from the text in one of the file's strings.
template <typename Memory, typename Parse>
void read_memory_text(const Node& node, const std::string& name, Memory& out, Parse parse, ErrorList& errors) {
  if (node.kind != Node::Kind::scalar) {
    return errors.fail(node.place, name + ": found " + node.words() + ", expected a text");
  }
  Result<Memory> memory = parse(node.text);
  if (!memory) return errors.fail(node.place, name + ": " + memory.error().message);
  out = std::move(*memory);
}

void read_planned(const Node& item, const model::Catalog& catalog, control::Memory& out, ErrorList& errors) {
  Fields fields(item, "memory.planned", errors);
  model::PlannedGang planned;
  need_ref(fields, errors, "service", planned.service, within(catalog.services));
  check_variant(fields, errors);
  need_integer(fields, "ordinal", planned.ordinal, 0, kMaxId);
  need_instant(fields, "decided_at_ns", planned.decided_at);
  fields.finish();
  const auto same = [&](const model::PlannedGang& other) {
    return other.service == planned.service && other.ordinal == planned.ordinal;
  };
  if (std::ranges::any_of(out.planned, same)) {
    errors.fail(item.place, "memory.planned.ordinal: found " + std::to_string(planned.ordinal) +
                                " a second time for this service, expected another number");
  }
  out.planned.push_back(planned);
}

/// Reads the replica counts that actions on their way ask for, one row for each service.
void read_requested(const Node& item, const model::Catalog& catalog, control::Memory& out, ErrorList& errors) {
  Fields fields(item, "memory.requested", errors);
  control::RequestedReplicas requested;
  need_ref(fields, errors, "service", requested.service, within(catalog.services));
  need_integer(fields, "replicas", requested.replicas, 0, kMaxReplicas);
  fields.finish();
  if (!out.requested.empty() && requested.service <= out.requested.back().service) {
    errors.fail(item.place, fmt::format("memory.requested.service: found {} after {}, expected ascending services",
                                        requested.service.value, out.requested.back().service.value));
  }
  out.requested.push_back(requested);
}

void read_memory(const Node& node, const model::Catalog& catalog, control::Memory& out, ErrorList& errors) {
  Fields fields(node, "memory", errors);
  for (const Node& item : need_list(fields, "scale")) {
    read_memory_text(item, "memory.scale", out.scale.emplace_back(), decide::scale::parse_memory, errors);
  }
  if (out.scale.size() != catalog.services.size()) {
    errors.fail(node.place, "memory.scale: found " + std::to_string(out.scale.size()) +
                                " rows, expected one for each of " + std::to_string(catalog.services.size()) +
                                " services");
  }
  if (const Node* text = fields.take_required("place")) {
    read_memory_text(*text, "memory.place", out.place, decide::place::parse_memory, errors);
  }
  if (const Node* text = fields.take_required("provision")) {
    read_memory_text(*text, "memory.provision", out.provision, decide::provision::parse_memory, errors);
  }
  for (const Node& item : need_list(fields, "planned")) read_planned(item, catalog, out, errors);
  for (const Node& item : fields.list("requested")) read_requested(item, catalog, out, errors);
  fields.finish();
}

void read_policies(const Node& node, control::Policies& out, ErrorList& errors) {
  Fields fields(node, "policies", errors);
  need_text(fields, "name", out.name);
  for (const Node& policy : need_list(fields, "scale")) {
    out.scale.push_back(settings::read_scale(policy, errors));
    require_written_keys(policy, settings::to_json(out.scale.back()), "policies.scale", errors);
  }
  if (const Node* layer = fields.take("place")) {
    out.place = settings::read_place(*layer, errors);
    require_written_keys(*layer, settings::to_json(*out.place), "policies.place", errors);
  }
  if (const Node* layer = fields.take("provision")) {
    if (!out.place) errors.fail(layer->place, "policies.provision: found without policies.place, expected both");
    out.provision = settings::read_provision(*layer, "policies.provision", errors);
    require_written_keys(*layer, settings::to_json(*out.provision), "policies.provision", errors);
  }
  fields.finish();
}

/// Returns the place of a field below `from`, or of the nearest value above it.
manifest::Place place_of_field(const Node& from, std::string_view field) {
  const Node* at = &from;
  while (!field.empty()) {
    const std::size_t dot = std::min(field.find('.'), field.size());
    const Node* inner = at->find(field.substr(0, dot));
    if (inner == nullptr) break;
    at = inner;
    field.remove_prefix(std::min(dot + 1, field.size()));
  }
  return at->place;
}

/// Returns the place of a row's field in the file, or the place of the row if it lacks the field.
manifest::Place place_of(const manifest::JsonFile& file, const model::Inconsistency& fault) {
  constexpr std::string_view kCatalog = "catalog.";
  if (fault.table.starts_with(kCatalog)) {
    const Node* rows = file.root.find("catalog")->find(std::string_view(fault.table).substr(kCatalog.size()));
    return place_of_field(known_row(rows->items, fault.id), fault.field);
  }
  manifest::Place place = file.root.find(fault.table)->place;
  for_each_row(file, fault.table, {}, [&](const Node& row) {
    if (manifest::read_integer(row.find("id")->text) != fault.id) return true;
    place = place_of_field(row, fault.field);
    return false;
  });
  return place;
}

void report_inconsistency(const std::optional<model::Inconsistency>& fault, const manifest::JsonFile& file,
                          ErrorList& errors) {
  if (!fault || !errors.ok()) return;
  const std::string field = fault->field.empty() ? "" : "." + fault->field;
  errors.fail(place_of(file, *fault), fault->table + field + ": " + fault->message);
}

double in_gpus(MilliGpu gpus) { return static_cast<double>(gpus.count) / 1000; }

/// Finds a node whose mark `overcommitted` is wrong. The mark is right if the pods on the node hold more GPUs than the
/// node has, or a device that it does not have. This happens if the node lost GPUs after the pods were bound.
std::optional<model::Inconsistency> find_overcommitted(const model::Snapshot& snapshot,
                                                       const std::set<model::NodeId>& marked) {
  const std::map<model::NodeId, MilliGpu> bound = bound_gpus(snapshot);
  const std::map<model::NodeId, std::uint16_t> vanished = vanished_devices(snapshot);
  std::optional<model::Inconsistency> fault;
  snapshot.nodes.for_each([&](model::NodeId id, const model::Node& node) {
    const auto found = bound.find(id);
    const MilliGpu held = found == bound.end() ? MilliGpu{} : found->second;
    const auto device = vanished.find(id);
    if (fault || (held > node.gpus || device != vanished.end()) == marked.contains(id)) return;
    if (device != vanished.end() && held <= node.gpus) {
      fault = model::Inconsistency{"nodes", id.value, "gpus_milli",
                                   fmt::format("found {} GPUs, but a pod holds device {} there, expected more, or "
                                               "overcommitted: true",
                                               in_gpus(node.gpus), device->second)};
      return;
    }
    fault = held > node.gpus
                ? model::Inconsistency{"nodes", id.value, "gpus_milli",
                                       fmt::format("found {} GPUs, but pods hold {} there, expected at least as many, "
                                                   "or overcommitted: true",
                                                   in_gpus(node.gpus), in_gpus(held))}
                : model::Inconsistency{"nodes", id.value, "overcommitted",
                                       fmt::format("found true, but pods hold {} of {} GPUs there, expected more",
                                                   in_gpus(held), in_gpus(node.gpus))};
  });
  return fault;
}

/// Limits for the largest cluster that Capstan is designed for: 100,000 GPUs in as many pods. `nodes` limits the values
/// of one row, and of everything outside the tables.
constexpr manifest::Limits kLimits{.bytes = 256u << 20, .nodes = 10'000'000};

/// A file that is not JSON is read as YAML if it is not larger than this, because reading YAML takes seventy bytes of
/// memory for each byte of the file.
constexpr std::size_t kMaxYamlBytes = 16u << 20;

Result<SavedState> read_document(const manifest::JsonFile& file) {
  const Node& document = file.root;
  if (auto other = manifest::other_input_instead_of(document, manifest::InputFile::snapshot)) {
    return std::unexpected(std::move(*other));
  }
  SavedState state;
  ErrorList errors;
  Fields fields(document, "snapshot", errors);
  std::int64_t format = 0;
  if (fields.take_required("format_version") != nullptr) fields.integer("format_version", format, 1, kFormat);
  need_integer(fields, "version", state.snapshot.version, 0, kMaxTime);
  need_instant(fields, "at_ns", state.snapshot.at);
  if (const Node* policies = fields.take_required("policies")) read_policies(*policies, state.policies, errors);
  model::Catalog catalog;
  ExclusionLists exclusion_lists;
  ExclusionLists* exclusions = format == 1 ? &exclusion_lists : nullptr;
  if (const Node* node = fields.take_required("catalog")) catalog = read_catalog(*node, exclusions, errors);
  if (const std::size_t policies = state.policies.scale.size(); errors.ok() && policies != catalog.services.size()) {
    errors.fail(document.place, "policies.scale: found " + std::to_string(policies) +
                                    " policies, expected one for each of " + std::to_string(catalog.services.size()) +
                                    " services");
  }
  if (errors.ok()) report_inconsistency(find_inconsistency(catalog), file, errors);
  TableReader tables(file, state, catalog, exclusions, errors);
  if (errors.ok()) tables.read(fields);
  if (errors.ok()) exclusion_lists.apply(state.snapshot, catalog);
  if (const Node* node = fields.take_required("memory"); node != nullptr && errors.ok()) {
    read_memory(*node, catalog, state.memory, errors);
  }
  fields.finish();
  state.snapshot.catalog = std::make_shared<const model::Catalog>(catalog);
  if (errors.ok()) report_inconsistency(find_inconsistency(state.snapshot), file, errors);
  if (errors.ok()) report_inconsistency(find_overcommitted(state.snapshot, tables.overcommitted()), file, errors);
  if (errors.ok()) {
    if (const auto fault = find_fault(state.memory, state.snapshot)) {
      errors.fail(document.find("memory")->place, "memory: " + *fault);
    }
  }
  if (!errors.ok()) return std::unexpected(*errors.error);
  return state;
}

}  // namespace

Result<SavedState> parse(std::string_view text, const std::string& file) {
  Result<manifest::JsonFile> json = manifest::read_json(text, file, kLimits, kTables);
  if (!json && text.size() <= kMaxYamlBytes) {
    Result<Node> document = manifest::parse(text, file, kLimits);
    if (!document) return std::unexpected(document.error());
    json = manifest::JsonFile{std::move(*document), {}};
  }
  if (!json) return std::unexpected(json.error());
  return read_document(*json);
}

Result<SavedState> read(const std::string& path) {
  const Result<std::string> text = manifest::read_text(path, kLimits);
  if (!text) return std::unexpected(text.error());
  return parse(*text, path);
}

}  // namespace capstan::archive
