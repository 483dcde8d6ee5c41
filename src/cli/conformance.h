#pragma once

#include <string>

#include "cli/commands.h"

namespace capstan::cli {

struct ConformanceArguments {
  std::string suite;  ///< the stem of a case file: "hpa"
  std::string cases;
  Output output = Output::text;
};
/// Asks a peer what its own tests ask. Exit 2 when a case fails.
ExitCode conformance(const ConformanceArguments& arguments);

}  // namespace capstan::cli
