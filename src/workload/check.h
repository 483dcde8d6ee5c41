#pragma once

#include <optional>
#include <string>

#include "workload/spec.h"

namespace capstan::workload {

/// One setting that `open` refuses.
struct Fault {
  std::string setting;  ///< where it stands in a spec, as scenarios spell it: "generator.rate.period"
  std::string message;  ///< "the period is 0 s, expected 60 s to 31622400 s"
};

/// The first thing that is wrong with a workload's settings. This is where each of their bounds stands: `open` refuses
/// by it, and whoever reads settings from a file asks it too, and adds the line.
std::optional<Fault> find_fault(const WorkloadSpec& spec);

/// Whether a load stops without a duration.
bool ends_by_itself(const WorkloadSpec& spec);

}  // namespace capstan::workload
