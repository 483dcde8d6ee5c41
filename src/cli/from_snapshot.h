#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace capstan::archive {
struct SavedState;
}

namespace capstan::cli {

/// Returns the changes, in the form of `--set`, that make a scenario start with the state of a cluster. The scenario
/// gets the ready nodes, each with the GPUs that pods of other services leave free. Nodes without a free GPU are left
/// out. The service starts with the number of replicas that the state asks for.
/// @param service  name of the service; may be empty if the state has only one
/// @param file     path of the state, for errors
/// @return an error if the service does not exist, if several exist and none is named, or if no node has a free GPU
Result<std::vector<std::string>> changes_of(const archive::SavedState& state, const std::string& service,
                                            const std::string& file);

/// Returns the changes for the state in a file that `capstan snapshot` wrote.
Result<std::vector<std::string>> read_changes(const std::string& path, const std::string& service);

}  // namespace capstan::cli
