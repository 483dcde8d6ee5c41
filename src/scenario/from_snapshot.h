#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace capstan::model {
struct Snapshot;
}

namespace capstan::scenario {

/// Returns the changes, in the form of `--set`, that make a scenario start with the state of a cluster. The scenario
/// gets the ready nodes, each with the GPUs that pods of other services leave free. Nodes without a free GPU are left
/// out. The service starts with the number of replicas that the state asks for.
/// @param service  name of the service; may be empty if the state has only one
/// @param file     path of the state, for errors
/// @return an error if the service does not exist, if several exist and none is named, or if no node has a free GPU
Result<std::vector<std::string>> changes_of(const model::Snapshot& snapshot, const std::string& service,
                                            const std::string& file);

}  // namespace capstan::scenario
