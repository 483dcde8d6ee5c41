#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "experiment/compare.h"

namespace capstan::scenario {

/// What a result must go on saying, in the words of cases.txt:
///
///   unmet of "duty cycle" > 1.5 x unmet of "queue"
///   held_gpu_minutes of "gang" = 0
struct Claim {
  struct Side {
    double factor = 1;   ///< or the number itself, where no figure is named
    std::string figure;  ///< a name of figures.h, or empty
    std::string policy;
  };
  std::string text;
  Side left;
  char relation = '=';  ///< '<', '>' or '='
  Side right;
};

/// One comparison that is kept: a scenario of scenarios/, changed by `--set`, and its claims.
struct Case {
  std::string name;      ///< of its golden file
  std::string scenario;  ///< the file's stem
  std::vector<std::string> sets;
  std::vector<Claim> claims;
};

/// Reads cases.txt. Errors name the line.
Result<std::vector<Case>> read_cases(std::string_view text, const std::string& file);

/// What is wrong with a claim, with its numbers; empty where it holds.
std::string broken(const Claim& claim, const experiment::Comparison& comparison);

}  // namespace capstan::scenario
