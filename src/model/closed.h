#pragma once

#include <vector>

#include "model/ids.h"

namespace capstan::model {

/// An offering that is bought through a pool.
struct Purchase {
  PoolId pool;
  OfferingId offering;
  friend auto operator<=>(const Purchase&, const Purchase&) = default;
};

/// Nodes on which pods may not run although GPUs are free there, because of taints, required labels or a lack of other
/// resources. The builder of the snapshot finds them, because decisions know GPUs and domains only.
struct Closed {
  std::vector<NodeId> nodes;        ///< excluded nodes, ascending; some may no longer exist
  std::vector<Purchase> purchases;  ///< purchases whose new nodes could not run the pods either, ascending
  friend bool operator==(const Closed&, const Closed&) = default;
};

}  // namespace capstan::model
