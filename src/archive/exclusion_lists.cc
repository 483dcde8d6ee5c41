#include "archive/exclusion_lists.h"

#include <algorithm>
#include <utility>

namespace capstan::archive {
namespace {

/// Gives equal columns the same id. The column of a node or purchase states for each pod class whether the node admits
/// pods of this class.
class Columns {
 public:
  model::NodeClassId id_of(std::vector<bool> column) {
    const auto next = static_cast<std::uint32_t>(ids_.size());
    return ids_.try_emplace(std::move(column), model::NodeClassId{next}).first->second;
  }
  void write(std::vector<model::PodClass>& pod_classes) const {
    for (std::size_t i = 0; i < pod_classes.size(); ++i) {
      pod_classes[i].node_classes.resize(ids_.size());
      for (const auto& [column, id] : ids_) pod_classes[i].node_classes[id.value] = column[i];
    }
  }

 private:
  std::map<std::vector<bool>, model::NodeClassId> ids_;
};

}  // namespace

model::PodClassId ExclusionLists::add(Row row) {
  if (row == Row{}) return {};
  const auto next = static_cast<std::uint32_t>(rows_.size());
  return rows_.try_emplace(std::move(row), model::PodClassId{next}).first->second;
}

void ExclusionLists::apply(model::Snapshot& snapshot, model::Catalog& catalog) const {
  if (rows_.empty()) return;
  Columns columns;
  std::vector<std::pair<model::NodeId, model::NodeClassId>> nodes;
  snapshot.nodes.for_each([&](model::NodeId id, const model::Node&) {
    std::vector<bool> column(rows_.size());
    for (const auto& [row, pods] : rows_) column[pods.value] = !std::ranges::binary_search(row.nodes, id);
    nodes.emplace_back(id, columns.id_of(std::move(column)));
  });
  for (const auto& [id, node_class] : nodes) {
    model::Node node = snapshot.nodes.at(id);
    node.node_class = node_class;
    snapshot.nodes.set(id, std::move(node));
  }
  model::Eligibility& out = catalog.eligibility;
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    for (const model::OfferingId offering : catalog.pools[p].offerings) {
      const model::Purchase purchase{{p}, offering};
      std::vector<bool> column(rows_.size());
      for (const auto& [row, pods] : rows_) column[pods.value] = !std::ranges::binary_search(row.purchases, purchase);
      out.purchases[purchase] = columns.id_of(std::move(column));
    }
  }
  out.pod_classes.resize(rows_.size());
  columns.write(out.pod_classes);
}

}  // namespace capstan::archive
