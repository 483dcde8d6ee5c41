#pragma once

#include <optional>
#include <string>

#include "workload/spec.h"

namespace capstan::workload {

/// A setting that `open` refuses.
struct Fault {
  std::string setting;  ///< path of the setting as scenarios spell it: "generator.rate.period"
  std::string message;  ///< "the period is 0 s, expected 1 min to 366 d"
};

/// Returns the first fault in a workload's settings, if any. `open` refuses a workload by this check. Code that reads
/// settings from a file calls it, too, and adds the line of the setting to the message.
std::optional<Fault> find_fault(const WorkloadSpec& spec);

/// Returns true if the load ends without a duration.
bool ends_by_itself(const WorkloadSpec& spec);

}  // namespace capstan::workload
