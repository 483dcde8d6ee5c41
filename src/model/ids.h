#pragma once

#include "base/ids.h"

namespace capstan::model {

using ServiceId = Id<struct ServiceTag>;
using GpuKindId = Id<struct GpuKindTag>;
using DomainId = Id<struct DomainTag>;
using InstanceTypeId = Id<struct InstanceTypeTag>;
using OfferingId = Id<struct OfferingTag>;
using PoolId = Id<struct PoolTag>;
using QueueId = Id<struct QueueTag>;
using NodeId = Id<struct NodeTag>;
using NodeClassId = Id<struct NodeClassTag>;
using ClaimId = Id<struct ClaimTag>;
using ClaimGroupId = Id<struct ClaimGroupTag>;
using GangId = Id<struct GangTag>;
using PodId = Id<struct PodTag>;
using PodClassId = Id<struct PodClassTag>;
using ActionToken = Id<struct ActionTokenTag>;

}  // namespace capstan::model
