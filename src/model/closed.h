#pragma once

#include <vector>

#include "model/ids.h"

namespace capstan::model {

/// A node of an offering, bought through a pool.
struct Purchase {
  PoolId pool;
  OfferingId offering;
  friend auto operator<=>(const Purchase&, const Purchase&) = default;
};

/// Where pods may not go although GPUs are free there: taints that they do not tolerate, labels that they ask for,
/// other resources that are short. Decisions know GPUs and domains; whoever makes the snapshot knows the rest.
struct Closed {
  std::vector<NodeId> nodes;        ///< ascending; one that has gone may still be listed
  std::vector<Purchase> purchases;  ///< ascending; nodes that would be closed too
  friend bool operator==(const Closed&, const Closed&) = default;
};

}  // namespace capstan::model
