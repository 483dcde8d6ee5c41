#pragma once

#include <string>

#include "cli/commands.h"

namespace capstan::cli {

struct ConformanceArguments {
  std::string suite;  ///< the stem of a case file, such as "hpa"
  std::string cases;  ///< path of the case file
  Output output = Output::text;
};
/// Runs test cases of another autoscaler against Capstan's re-implementation of it. Exit code 2 if a case fails.
ExitCode conformance(const ConformanceArguments& arguments);

}  // namespace capstan::cli
