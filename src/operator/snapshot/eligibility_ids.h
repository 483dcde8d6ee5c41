#pragma once

#include "operator/snapshot/class_ids.h"
#include "operator/snapshot/node_resources.h"

namespace capstan::op {

/// Ids that classes and resources keep from look to look.
struct EligibilityIds {
  ClassIds pods;
  ClassIds nodes;
  ExtendedResources extended;
};

}  // namespace capstan::op
