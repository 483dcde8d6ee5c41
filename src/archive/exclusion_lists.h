#pragma once

#include <compare>
#include <map>
#include <vector>

#include "model/catalog.h"
#include "model/snapshot.h"

namespace capstan::archive {

/// Turns the lists of format 1 into the classes of later formats. Format 1 of a snapshot file lists for each gang and
/// variant the nodes and purchases that its pods may not use. Later formats state classes of pods and nodes.
class ExclusionLists {
 public:
  struct Row {
    std::vector<model::NodeId> nodes{};        ///< ascending; some may not exist
    std::vector<model::Purchase> purchases{};  ///< ascending
    friend auto operator<=>(const Row&, const Row&) = default;
  };

  /// Returns the class of the pods with this list; none for an empty list.
  model::PodClassId add(Row row);
  /// Gives nodes their classes, and the catalog all classes.
  void apply(model::Snapshot& snapshot, model::Catalog& catalog) const;

 private:
  std::map<Row, model::PodClassId> rows_;
};

}  // namespace capstan::archive
