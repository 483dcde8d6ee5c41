#pragma once

#include <string>

#include "cli/commands.h"

namespace capstan::cli {

enum class PlanOutput : std::uint8_t { text, markdown, json };

struct PlanArguments {
  std::string spec;
  std::string out;      ///< folder for the manifests, new or empty; empty: none are written
  std::string against;  ///< folder or file with manifests to compare with; empty: none
  bool example = false;
  PlanOutput output = PlanOutput::text;
  unsigned jobs = 0;  ///< simulations at a time; 0: one for each core
};
/// Prints a plan for a spec, and writes its manifests.
ExitCode make_plan(const PlanArguments& arguments);

}  // namespace capstan::cli
