#pragma once

#include <cstdint>
#include <optional>

#include "model/catalog.h"
#include "model/reason.h"

namespace capstan::model {

/// Returns the reason why a pool may not buy `count` nodes: the first of its limits that the nodes would exceed, or a
/// limited amount that is not known for the offering. Returns no value if the pool may buy them.
/// @param in_use  amounts of the pool's nodes, nodes on their way included
std::optional<Reason> refusal_of_pool(const Catalog& catalog, PoolId pool, OfferingId offering, std::int64_t count,
                                      const NodeAmounts& in_use);

}  // namespace capstan::model
