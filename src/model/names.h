#pragma once

#include <string>

#include "base/shared_table.h"
#include "model/ids.h"

namespace capstan::model {

/// Names of the rows of a snapshot, such as "node-7" or "team-a/chat-6f9c-x2x4b". Decisions do not use names. The
/// simulator names only batch jobs, such as "eval 7".
struct Names {
  SharedTable<NodeId, std::string> nodes;
  SharedTable<ClaimId, std::string> claims;
  SharedTable<GangId, std::string> gangs;
  SharedTable<PodId, std::string> pods;
};

}  // namespace capstan::model
