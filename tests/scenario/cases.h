#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "experiment/compare.h"

namespace capstan::golden {

/// A claim about a result that must stay true, written in cases.txt as:
///
///   unmet of "duty cycle" > 1.5 x unmet of "queue"
///   held_gpu_minutes of "gang" = 0
struct Claim {
  struct Side {
    double factor = 1;   ///< factor of the figure; without a figure, the number itself
    std::string figure;  ///< a name of figures.h, or empty
    std::string policy;
  };
  std::string text;
  Side left;
  char relation = '=';  ///< '<', '>' or '='
  Side right;
};

/// A comparison with a golden result: a scenario of scenarios/, changed by `--set`, and its claims.
struct Case {
  std::string name;      ///< name of its golden file
  std::string scenario;  ///< stem of the scenario's file
  std::vector<std::string> sets;
  std::vector<Claim> claims;
};

/// Reads cases.txt. An error names the line.
Result<std::vector<Case>> read_cases(std::string_view text, const std::string& file);

/// Returns the message for a claim that does not hold, with its numbers; empty if it holds.
std::string claim_fault(const Claim& claim, const experiment::Comparison& comparison);

}  // namespace capstan::golden
