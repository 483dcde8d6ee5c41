#pragma once

#include <string>
#include <vector>

#include "manifest/yaml.h"
#include "plan/plan.h"

namespace capstan::plan {

/// A Kubernetes object that exists.
struct ExistingObject {
  std::string file{};
  manifest::Node body{};

  std::string kind() const;
  std::string name() const;
};

/// One change that turns an existing object into the plan's.
struct Difference {
  std::string file{};      ///< of the existing object; of a missing object: the plan's file
  std::uint32_t line = 0;  ///< of the existing value, or of the mapping that lacks it; 0: the object is missing
  std::string object{};    ///< "NodePool h100"
  std::string path{};      ///< "spec.disruption.consolidateAfter"; empty: the object is missing
  std::string found{};     ///< "0s"; empty: nothing
  std::string planned{};   ///< "1h"
  std::string why{};       ///< the plan's comment on the value; empty: none
};

/// Compares the objects of a plan with existing ones. Objects match by kind and name, or if both sides have only one
/// object of the kind and API group. Values that the plan does not set are not compared, and neither is metadata. Of
/// folders that are alternatives, such as replicas/keda and replicas/hpa, only the ones with an existing object are
/// compared.
std::vector<Difference> find_differences(const Plan& plan, const std::vector<ExistingObject>& existing);

}  // namespace capstan::plan
