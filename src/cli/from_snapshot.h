#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace capstan::archive {
struct SavedState;
}

namespace capstan::cli {

/// What a scenario starts from when it starts from a cluster's state: changes in the words of `--set`. The nodes that
/// take pods stand at the start, each with the GPUs that no other work holds there; those on which nothing is left are
/// not there. The service that the state has, or the one of this name where it has several, begins with as many
/// replicas as it is asked for.
/// @param file  the state's, for errors
/// @return an error where there is no such service, or several and none is named, or no node has room for anything
Result<std::vector<std::string>> changes_of(const archive::SavedState& state, const std::string& service,
                                            const std::string& file);

/// The same of a file that `capstan snapshot` wrote.
Result<std::vector<std::string>> read_changes(const std::string& path, const std::string& service);

}  // namespace capstan::cli
