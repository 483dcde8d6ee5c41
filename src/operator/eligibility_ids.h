#pragma once

#include "operator/class_ids.h"
#include "operator/node_resources.h"

namespace capstan::op {

/// What is kept from look to look, so that classes and resources keep their ids.
struct EligibilityIds {
  ClassIds pods;
  ClassIds nodes;
  ExtendedResources extended;
};

}  // namespace capstan::op
