#pragma once

#include <string>

#include "base/shared_table.h"
#include "model/ids.h"

namespace capstan::model {

/// What people call the rows of a snapshot: "node-7", "team-a/chat-6f9c-x2x4b". Decisions do not see names; a world
/// whose rows have none (the simulator's) leaves the tables empty.
struct Names {
  SharedTable<NodeId, std::string> nodes;
  SharedTable<ClaimId, std::string> claims;
  SharedTable<GangId, std::string> gangs;
  SharedTable<PodId, std::string> pods;
};

}  // namespace capstan::model
