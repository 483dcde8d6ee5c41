#include <array>
#include <memory>
#include <set>

#include "archive/check_memory.h"
#include "archive/read_catalog.h"
#include "archive/rows.h"
#include "archive/saved_state.h"
#include "model/signal_names.h"
#include "settings/policy.h"

namespace capstan::archive {
namespace {

using manifest::Fields;
using manifest::Node;
using manifest::Verdict;

/// Reads the tables row by row. Ids come first in a pass of their own, because rows refer to rows further down.
class TableReader {
 public:
  TableReader(SavedState& state, const model::Catalog& catalog, Verdict& verdict)
      : state_(state), catalog_(catalog), verdict_(verdict) {}

  void read(Fields& top) {
    model::Snapshot& s = state_.snapshot;
    make(top, "services", s.services);
    make(top, "nodes", s.nodes);
    make(top, "claims", s.claims);
    make(top, "gangs", s.gangs);
    make(top, "pods", s.pods);
    each(top, "services", s.services, [&](Fields& f, model::ServiceState& row) { service(f, row); });
    each(top, "nodes", s.nodes, state_.names.nodes, [&](Fields& f, model::Node& row) { node(f, row); });
    each(top, "claims", s.claims, state_.names.claims, [&](Fields& f, model::Claim& row) { claim(f, row); });
    each(top, "gangs", s.gangs, state_.names.gangs, [&](Fields& f, model::Gang& row) { gang(f, row); });
    each(top, "pods", s.pods, state_.names.pods, [&](Fields& f, model::Pod& row) { pod(f, row); });
  }

 private:
  template <typename IdType, typename T>
  void make(Fields& top, const char* key, SharedTable<IdType, T>& rows) {
    for (const Node& item : top.list(key)) {
      Fields fields(item, key, verdict_);
      IdType id{0};
      if (fields.need("id") != nullptr) read_id(fields, verdict_, "id", id);
      if (!verdict_.ok()) return;
      if (rows.find(id) != nullptr) {
        return verdict_.fail(item.place, std::string(key) + ": a second row with id " + std::to_string(id.value) +
                                             ", expected each id once");
      }
      rows.set(id, T{});
    }
  }

  template <typename IdType, typename T, typename Read>
  void each(Fields& top, const char* key, SharedTable<IdType, T>& rows, Read&& read) {
    SharedTable<IdType, std::string> no_names;
    each(top, key, rows, no_names, read);
  }

  template <typename IdType, typename T, typename Read>
  void each(Fields& top, const char* key, SharedTable<IdType, T>& rows, SharedTable<IdType, std::string>& names,
            Read&& read) {
    for (const Node& item : top.list(key)) {
      if (!verdict_.ok()) return;
      Fields fields(item, key, verdict_);
      IdType id;
      read_id(fields, verdict_, "id", id);
      std::string name;
      fields.text("name", name);
      T row;
      read(fields, row);
      fields.finish();
      if (!verdict_.ok()) return;
      rows.set(id, std::move(row));
      if (!name.empty()) names.set(id, std::move(name));
    }
  }

  void signal(Fields& from, std::string_view key, model::Signal& out, std::int64_t most) {
    from.check(key, [&](const Node& node, Verdict& verdict) {
      Fields fields(node, std::string(key), verdict);
      read_word(fields, verdict, "state", out.state);
      fields.integer("value", out.value, 0, most);
      read_duration_ns(fields, "age_ns", out.age);
      fields.finish();
    });
  }

  void service(Fields& fields, model::ServiceState& row) {
    fields.integer("desired_replicas", row.desired_replicas, 0, kMaxReplicas);
    fields.integer("leaving", row.leaving, 0, row.desired_replicas);
    signal(fields, "gateway_waiting", row.gateway_waiting, kMaxGauge);
  }

  void node(Fields& fields, model::Node& row) {
    read_word(fields, verdict_, "phase", row.phase);
    read_ref(fields, verdict_, "pool", row.pool, within(catalog_.pools));
    if (row.pool.valid()) fields.need("offering");  // what is bought has a price
    read_ref(fields, verdict_, "offering", row.offering, within(catalog_.offerings));
    read_id(fields, verdict_, "claim", row.claim);
    read_ref(fields, verdict_, "gpu", row.gpu, within(catalog_.gpu_kinds));
    fields.integer("gpus_milli", row.gpus.count, 0, kMaxGpus);
    fields.boolean("kept", row.kept);
    fields.check("domains", [&](const Node& given, Verdict& verdict) {
      Fields domains(given, "nodes.domains", verdict);
      for (std::size_t level = 0; level < model::kTopologyLevels; ++level) {
        read_ref(domains, verdict, kWords<model::TopologyLevel>[level], row.domains[level], within(catalog_.domains));
      }
      domains.finish();
    });
    read_instant(fields, "ready_at_ns", row.ready_at);
  }

  void claim(Fields& fields, model::Claim& row) {
    read_word(fields, verdict_, "phase", row.phase);
    need_ref(fields, verdict_, "pool", row.pool, within(catalog_.pools));
    need_ref(fields, verdict_, "offering", row.offering, within(catalog_.offerings));
    read_ref(fields, verdict_, "within", row.within, within(catalog_.domains));
    read_id(fields, verdict_, "group", row.group);
    fields.integer("group_size", row.group_size, 0, kMostAtOnce);
    read_instant(fields, "requested_at_ns", row.requested_at);
    read_instant(fields, "expected_ready_at_ns", row.expected_ready_at);
    read_id(fields, verdict_, "node", row.node);
  }

  void gang(Fields& fields, model::Gang& row) {
    read_word(fields, verdict_, "phase", row.phase);
    read_ref(fields, verdict_, "service", row.service, within(catalog_.services));
    if (row.service.valid() && verdict_.ok()) {
      need_ref(fields, verdict_, "variant", row.variant, within(catalog_.service(row.service).variants));
    }
    fields.integer("ordinal", row.ordinal, 0, kMaxId);
    read_refs(fields, verdict_, "pods", row.pods, within(state_.snapshot.pods));
    if (row.pods.empty()) verdict_.fail(fields.node().place, "gangs: no pods, expected at least one");
    fields.integer("min_pods", row.min_pods, 0, kMostAtOnce);
    need_ref(fields, verdict_, "gpu", row.gpu, within(catalog_.gpu_kinds));
    if (fields.need("gpus_per_pod_milli") != nullptr) {
      fields.integer("gpus_per_pod_milli", row.gpus_per_pod.count, 1, kMaxGpus);
    }
    read_word(fields, verdict_, "together", row.together);
    read_closed(fields, verdict_, row.closed, catalog_);
    read_instant(fields, "created_at_ns", row.created_at);
    fields.boolean("resumed", row.resumed);
    read_instant(fields, "expected_ready_at_ns", row.expected_ready_at);
    fields.check("signals", [&](const Node& given, Verdict& verdict) {
      Fields signals(given, "gangs.signals", verdict);
      for (const model::ReplicaSignal& field : model::kReplicaSignals) {
        signal(signals, field.name, row.signals.*field.field, field.counter ? kMaxCounter : kMaxGauge);
      }
      signals.finish();
    });
  }

  void pod(Fields& fields, model::Pod& row) {
    read_word(fields, verdict_, "phase", row.phase);
    need_ref(fields, verdict_, "gang", row.gang, within(state_.snapshot.gangs));
    fields.integer("gpus_milli", row.gpus.count, 0, kMaxGpus);
    read_ref(fields, verdict_, "node", row.node, within(state_.snapshot.nodes));
    read_instant(fields, "created_at_ns", row.created_at);
    read_ref(fields, verdict_, "queue", row.queue, within(catalog_.queues));
  }

  SavedState& state_;
  const model::Catalog& catalog_;
  Verdict& verdict_;
};

/// The text of a memory inside one of the file's strings.
template <typename Memory, typename Parse>
void read_memory_text(const Node& node, const std::string& what, Memory& out, Parse parse, Verdict& verdict) {
  Result<Memory> memory = parse(node.text);
  if (!memory) return verdict.fail(node.place, what + ": " + memory.error().message);
  out = std::move(*memory);
}

void read_planned(const Node& item, const model::Catalog& catalog, control::Memory& out, Verdict& verdict) {
  Fields fields(item, "memory.planned", verdict);
  model::PlannedGang planned;
  need_ref(fields, verdict, "service", planned.service, within(catalog.services));
  if (verdict.ok()) {
    need_ref(fields, verdict, "variant", planned.variant, within(catalog.service(planned.service).variants));
  }
  fields.integer("ordinal", planned.ordinal, 0, kMaxId);
  read_instant(fields, "decided_at_ns", planned.decided_at);
  fields.finish();
  out.planned.push_back(planned);
}

void read_memory(const Node& node, const model::Catalog& catalog, control::Memory& out, Verdict& verdict) {
  Fields fields(node, "memory", verdict);
  for (const Node& item : fields.list("scale")) {
    read_memory_text(item, "memory.scale", out.scale.emplace_back(), decide::scale::parse_memory, verdict);
  }
  if (out.scale.size() != catalog.services.size()) {
    verdict.fail(node.place, "memory.scale: " + std::to_string(out.scale.size()) + " rows, expected one for each of " +
                                 std::to_string(catalog.services.size()) + " services");
  }
  if (const Node* text = fields.need("place")) {
    read_memory_text(*text, "memory.place", out.place, decide::place::parse_memory, verdict);
  }
  if (const Node* text = fields.need("provision")) {
    read_memory_text(*text, "memory.provision", out.provision, decide::provision::parse_memory, verdict);
  }
  for (const Node& item : fields.list("planned")) read_planned(item, catalog, out, verdict);
  fields.finish();
}

void read_policies(const Node& node, control::Policies& out, Verdict& verdict) {
  Fields fields(node, "policies", verdict);
  fields.text("name", out.name);
  for (const Node& each : fields.list("scale")) out.scale.push_back(settings::read_scale(each, verdict));
  if (const Node* layer = fields.take("place")) out.place = settings::read_place(*layer, verdict);
  if (const Node* layer = fields.take("provision")) {
    if (!out.place) verdict.fail(layer->place, "policies.provision: without place, whose shortfalls it answers");
    const Node mapping = settings::as_mapping(*layer);
    Fields provision(mapping, "policies.provision", verdict);
    settings::Provisioner which = settings::Provisioner::none;
    out.provision = settings::read_provision(provision, which, verdict);
    provision.finish();
  }
  fields.finish();
}

/// Each pod is listed by the gang it names, once, and by no other.
void check_membership(const model::Snapshot& snapshot, const manifest::Place& place, Verdict& verdict) {
  std::set<model::PodId> listed;
  snapshot.gangs.for_each([&](model::GangId id, const model::Gang& gang) {
    for (model::PodId pod : gang.pods) {
      if (snapshot.pods.at(pod).gang == id && listed.insert(pod).second) continue;
      verdict.fail(place, "gangs: gang " + std::to_string(id.value) + " lists pod " + std::to_string(pod.value) +
                              " twice or out of another gang, expected each pod in its own gang once");
    }
  });
  if (listed.size() == snapshot.pods.size()) return;
  verdict.fail(place, "pods: " + std::to_string(snapshot.pods.size()) + " pods, " + std::to_string(listed.size()) +
                          " are listed by gangs, expected each pod in its own gang once");
}

/// Of the design's largest cluster: 100,000 GPUs in as many pods, some twenty values a pod with its gang.
constexpr manifest::Limits kLimits{.bytes = 256u << 20, .nodes = 10'000'000};

Result<SavedState> read_document(const Node& document) {
  SavedState state;
  Verdict verdict;
  Fields fields(document, "snapshot", verdict);
  std::int64_t format = 0;
  if (fields.need("format_version") != nullptr) fields.integer("format_version", format, 1, 1);
  fields.integer("version", state.snapshot.version, 0, kMaxTime);
  read_instant(fields, "at_ns", state.snapshot.at);
  if (const Node* policies = fields.need("policies")) read_policies(*policies, state.policies, verdict);
  model::Catalog catalog;
  if (const Node* node = fields.need("catalog")) catalog = read_catalog(*node, verdict);
  if (const std::size_t given = state.policies.scale.size(); verdict.ok() && given != catalog.services.size()) {
    verdict.fail(document.place, "policies.scale: " + std::to_string(given) + " policies, expected one for each of " +
                                     std::to_string(catalog.services.size()) + " services");
  }
  if (verdict.ok()) TableReader(state, catalog, verdict).read(fields);
  if (verdict.ok()) check_membership(state.snapshot, document.place, verdict);
  if (const Node* node = fields.need("memory"); node != nullptr && verdict.ok()) {
    read_memory(*node, catalog, state.memory, verdict);
  }
  fields.finish();
  state.snapshot.catalog = std::make_shared<const model::Catalog>(std::move(catalog));
  if (verdict.ok()) {
    if (const auto fault = find_fault(state.memory, state.snapshot)) {
      verdict.fail(document.find("memory")->place, "memory: " + *fault);
    }
  }
  if (!verdict.ok()) return std::unexpected(*verdict.error);
  return state;
}

}  // namespace

Result<SavedState> parse(std::string_view text, const std::string& file) {
  const Result<Node> document = manifest::parse(text, file, kLimits);
  if (!document) return std::unexpected(document.error());
  return read_document(*document);
}

Result<SavedState> read(const std::string& path) {
  const Result<Node> document = manifest::parse_file(path, kLimits);
  if (!document) return std::unexpected(document.error());
  return read_document(*document);
}

}  // namespace capstan::archive
