#include <fmt/format.h>

#include <algorithm>

#include "base/known_row.h"
#include "model/consistency.h"
#include "model/named_level.h"
#include "scenario/read_parts.h"

namespace capstan::scenario {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

/// Largest number of domains of a topology in one zone, summed over its levels.
constexpr std::int64_t kMaxDomains = 100'000;
/// Largest size of a domain, in NVLink domains.
constexpr std::int64_t kMaxSize = 1'000'000;

constexpr const char* kWhat = "cluster.topologies";

model::Topology read_topology(const Node& node, ErrorList& errors) {
  Fields fields(node, kWhat, errors);
  model::Topology topology;
  if (fields.take_required("name") != nullptr) fields.text("name", topology.name);
  for (const Node& item : fields.non_empty_list("levels")) {
    Fields of_level(item, "cluster.topologies.levels", errors);
    model::Topology::LevelInfo& level = topology.levels.emplace_back();
    if (of_level.take_required("name") != nullptr) of_level.text("name", level.name);
    of_level.take_required("nvlink_domains");  // read_domain_sizes() reads it
    of_level.finish();
  }
  fields.finish();
  return topology;
}

/// Returns the place of a defect in the file.
const manifest::Place& place_of(const Node& topology, const model::TopologyFault& fault) {
  const Node* node = &topology;
  if (const Node* levels = topology.find("levels"); levels != nullptr && fault.depth) {
    node = &known_row(levels->items, *fault.depth);
  }
  const Node* field = node->find(fault.field);
  return field == nullptr ? node->place : field->place;
}

/// Returns the position of a topology by its name, and reports an unknown name.
std::size_t topology_named(const Fields& fields, const std::string& name, const model::Catalog& catalog,
                           ErrorList& errors) {
  const auto found = std::ranges::find(catalog.topologies, name, &model::Topology::name);
  if (found != catalog.topologies.end()) return static_cast<std::size_t>(found - catalog.topologies.begin());
  std::vector<std::string_view> names;
  for (const model::Topology& topology : catalog.topologies) names.push_back(topology.name);
  errors.fail(fields.place_for_error({"name"}),
              fmt::format("{}.name: found \"{}\", expected {}", fields.what(), name, manifest::one_of(names)));
  return 0;
}

/// Reads the name of a level of the topology; nothing if the key is absent or names no level.
std::optional<model::Level> read_level_name(Fields& fields, std::string_view key, const model::Catalog& catalog,
                                            std::size_t topology, ErrorList& errors) {
  if (fields.take(key) == nullptr) return std::nullopt;
  std::string name;
  if (!fields.text(key, name)) return std::nullopt;
  const std::optional<model::Level> level = model::level_named(catalog.topologies, topology, name);
  if (level) return level;
  std::vector<std::string_view> names = {"node", "cluster"};
  for (const model::Topology::LevelInfo& depth : catalog.topologies[topology].levels) {
    if (depth.name != "cluster") names.insert(names.begin() + 1, depth.name);
  }
  errors.fail(fields.place_for_error({key}),
              fmt::format("{}.{}: found \"{}\", expected {}", fields.what(), key, name, manifest::one_of(names)));
  return std::nullopt;
}

/// Reads the sizes of the domains of one topology.
std::vector<std::int64_t> read_sizes(const Node& topology, std::int64_t per_zone, ErrorList& errors) {
  std::vector<std::int64_t> sizes;
  std::int64_t wider_size = per_zone, domains = 0;
  std::string wider = "zone";
  const Node* levels = topology.find("levels");
  if (levels == nullptr) return sizes;
  for (const Node& item : levels->items) {
    Fields fields(item, "cluster.topologies.levels", errors);
    std::int64_t size = 1;
    std::string name;
    fields.text("name", name);
    if (!fields.integer("nvlink_domains", size, 1, kMaxSize)) return {};
    if (wider_size % size != 0) {
      errors.fail(fields.place_for_error({"nvlink_domains"}),
                  fmt::format("{}.nvlink_domains: found {}, expected a number that divides the {} of a {}: otherwise "
                              "one {} would lie in two {}s",
                              fields.what(), size, wider_size, wider, name, wider));
      return {};
    }
    domains += per_zone / size;
    if (domains > kMaxDomains) {
      errors.fail(item.place, fmt::format("{}: a zone has more than {} domains of this topology, expected fewer",
                                          fields.what(), kMaxDomains));
      return {};
    }
    sizes.push_back(size);
    wider_size = size;
    wider = name;
  }
  return sizes;
}

}  // namespace

void read_topologies(const Node& cluster, model::Catalog& catalog, ErrorList& errors) {
  const Node* list = cluster.find("topologies");
  if (list == nullptr || list->kind != Node::Kind::sequence) return;  // read_cluster() reports another kind
  for (const Node& item : list->items) {
    const manifest::Mark topology(errors);
    catalog.topologies.push_back(read_topology(item, errors));
    if (!topology.ok()) return catalog.topologies.resize(1);
    if (const std::optional<model::TopologyFault> fault = model::find_fault(catalog.topologies)) {
      const char* of_level = fault->depth ? ".levels" : "";
      errors.fail(place_of(item, *fault), fmt::format("{}{}.{}: {}", kWhat, of_level, fault->field, fault->message));
      return catalog.topologies.resize(1);
    }
  }
}

std::optional<std::vector<std::vector<std::int64_t>>> read_domain_sizes(std::span<const Node> topologies,
                                                                        std::int64_t nvlink_domains_per_zone,
                                                                        ErrorList& errors) {
  std::vector<std::vector<std::int64_t>> sizes;
  for (const Node& topology : topologies) {
    sizes.push_back(read_sizes(topology, nvlink_domains_per_zone, errors));
    if (sizes.back().empty()) return std::nullopt;
  }
  return sizes;
}

void read_constraint(const Node& node, const std::string& owner, const model::Catalog& catalog,
                     model::Workload& workload, ErrorList& errors) {
  Fields fields(node, owner + ".topology", errors);
  std::string name(model::kStandardTopology);
  fields.text("name", name);
  const std::size_t topology = topology_named(fields, name, catalog, errors);
  if (const auto required = read_level_name(fields, "required", catalog, topology, errors)) {
    workload.required_level = *required;
  }
  workload.preferred = read_level_name(fields, "preferred", catalog, topology, errors);
  fields.finish();
  if (const auto fault = model::preference_fault(catalog, workload.required_level, workload.preferred)) {
    errors.fail(fields.place_for_error({"preferred"}), fmt::format("{}.preferred: {}", fields.what(), *fault));
    workload.preferred.reset();
  }
}

}  // namespace capstan::scenario
