#pragma once

#include "fleet/failure_domains.h"
#include "fleet/index.h"

// Names of the fleet and the model that all layers use.
namespace capstan::decide {

using fleet::AssumedPod;
using fleet::AssumedRooms;
using fleet::BestPlace;
using fleet::DomainRoom;
using fleet::even_share;
using fleet::FailureDomain;
using fleet::FreeGpus;
using fleet::FreeNodes;
using fleet::Index;
using fleet::kNowhere;
using fleet::NodeRoom;
using fleet::NodeSpace;
using fleet::Rooms;
using model::DomainId;
using model::GangId;
using model::GpuKindId;
using model::NodeId;
using model::PodId;
using model::PoolId;
using model::QueueId;
using model::ServiceId;
using model::TopologyLevel;

}  // namespace capstan::decide
