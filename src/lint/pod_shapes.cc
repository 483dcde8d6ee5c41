#include "lint/pod_shapes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lint/bundled_facts.h"
#include "lint/fact_rows.h"

namespace capstan::lint {
namespace {

using manifest::Value;

constexpr int kSearchDepth = 12;  ///< depth in mappings and lists, from the root of an object

PodMaker maker_of(std::string_view word) {
  constexpr std::pair<std::string_view, PodMaker> kMakers[] = {{"serving", PodMaker::serving},
                                                               {"plain", PodMaker::plain},
                                                               {"operated", PodMaker::operated},
                                                               {"merged", PodMaker::merged}};
  const auto found = std::ranges::find(kMakers, word, &std::pair<std::string_view, PodMaker>::first);
  return found == std::end(kMakers) ? PodMaker::grouped : found->second;
}

PodShape shape_of(const std::vector<std::string_view>& row) {
  PodShape shape{.kind = row[0],
                 .groups = split(row[1], ' '),
                 .maker = maker_of(row[2]),
                 .unit = row[3],
                 .metadata = row[4],
                 .spec = row[5],
                 .container = row[6]};
  for (std::string_view& group : shape.groups) {
    if (group == "core") group = {};
  }
  return shape;
}

/// Returns the table, sorted by kind. Rows of one kind keep the order of the file, which lists the rows of the same API
/// groups one after another.
const std::vector<PodShape>& table() {
  static const std::vector<PodShape> shapes = [] {
    std::vector<PodShape> list;
    for (const auto& row : fact_rows(kPodShapesCsv)) list.push_back(shape_of(row));
    std::ranges::stable_sort(list, {}, &PodShape::kind);
    return list;
  }();
  return shapes;
}

bool looks_like_pod(const Value& spec) {
  const Value& containers = spec["containers"];
  if (!containers.is_sequence() || containers.count == 0) return false;
  return std::ranges::all_of(containers.children(), [](const Value& container) {
    return container["name"].is_scalar() && (container["image"].is_scalar() || container["resources"].is_mapping());
  });
}

void search(const Value& value, int depth, const std::function<void(const Value&, const Value&)>& visit) {
  if (depth == 0 || (!value.is_mapping() && !value.is_sequence())) return;
  if (value.is_mapping() && looks_like_pod(value["spec"])) {
    visit(value["metadata"], value["spec"]);
  } else if (value.is_mapping() && looks_like_pod(value)) {
    visit(Value::missing(), value);
  } else {
    for (const Value& child : value.children()) search(child, depth - 1, visit);
  }
}

}  // namespace

std::span<const PodShape> pod_shapes() { return table(); }

std::span<const PodShape> pod_shapes(std::string_view kind) {
  return std::ranges::equal_range(table(), kind, {}, &PodShape::kind);
}

std::span<const PodShape> pod_shapes(std::string_view kind, std::string_view group) {
  const std::span<const PodShape> rows = pod_shapes(kind);
  const auto of_group = [&](const PodShape& row) { return std::ranges::find(row.groups, group) != row.groups.end(); };
  const auto first = std::ranges::find_if(rows, of_group);
  return {first, std::find_if_not(first, rows.end(), of_group)};
}

void search_pods(const Value& root, const std::function<void(const Value&, const Value&)>& visit) {
  for (const Value& part : root.children()) {
    if (part.key != "metadata" && part.key != "status") search(part, kSearchDepth, visit);
  }
}

bool holds_pods(const Value& root) {
  bool found = false;
  search_pods(root, [&](const Value&, const Value&) { found = true; });
  return found;
}

bool describes_pods_only(std::string_view group) {
  constexpr std::string_view kGroups[] = {
      "apiextensions.k8s.io",    "admissionregistration.k8s.io", "kyverno.io",
      "policies.kyverno.io",     "templates.gatekeeper.sh",      "constraints.gatekeeper.sh",
      "mutations.gatekeeper.sh", "kustomize.config.k8s.io"};
  return std::ranges::find(kGroups, group) != std::end(kGroups);
}

}  // namespace capstan::lint
