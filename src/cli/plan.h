#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"

namespace capstan::cli {

enum class PlanOutput : std::uint8_t { text, markdown, json };

struct PlanArguments {
  std::string spec;
  std::vector<std::string> sets{};  ///< changes to the spec, as "path=value"
  std::string out;                  ///< folder for the manifests, new or empty; empty: none are written
  std::string against;              ///< folder or file with manifests to compare with; empty: none
  std::string report{};             ///< HTML file to write with charts of the proof; empty: none
  bool example = false;
  bool details = false;  ///< true: the page also has the arithmetic, the reasons and sample manifests
  PlanOutput output = PlanOutput::text;
  unsigned jobs = 0;  ///< simulations at a time; 0: one for each core
};
/// Prints a plan for a spec and writes its manifests, or compares them with existing ones.
ExitCode make_plan(const PlanArguments& arguments);

}  // namespace capstan::cli
