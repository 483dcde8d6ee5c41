#pragma once

#include <expected>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/error.h"
#include "experiment/run/simulation.h"
#include "manifest/errors.h"
#include "net/monotonic.h"
#include "scenario/scenario.h"
#include "serve/what_if.h"

namespace capstan::serve {

/// Limits of one simulation that the page asks for.
struct VariationLimits {
  Duration time = std::chrono::seconds(60);
  RequestCount requests = 20'000'000;  ///< simulated requests of all policies together
};

/// A scenario that is simulated as it is and with changes. The file is read once.
class Variations {
 public:
  /// Returns the command that gives the result with these further assignments of `--set`.
  using Command = std::function<std::string(const std::vector<std::string>& sets)>;

  static std::expected<Variations, manifest::Errors> open(const std::string& path,
                                                          const scenario::ScenarioOverrides& overrides,
                                                          Command command);

  /// Simulates every policy of the scenario as it is. Returns the result as JSON.
  Result<std::string> simulate(const experiment::ProgressCallback& progress) const;
  /// Simulates every policy of the changed scenario. An error is one line for the page.
  Result<std::string> simulate(const WhatIf& change, const std::stop_token& stop, const net::Clock& clock,
                               const VariationLimits& limits = {}) const;

  const WhatIfLimits& limits() const { return limits_; }

 private:
  Variations(std::string text, scenario::Scenario scenario, manifest::Node root,
             const scenario::ScenarioOverrides& overrides, Command command);

  Result<std::string> render(const scenario::Scenario& scenario, const std::vector<std::string>& sets,
                             const experiment::ProgressCallback& progress, const std::stop_token& stop) const;

  std::string text_;
  scenario::Scenario scenario_;
  manifest::Node root_;
  scenario::ScenarioOverrides overrides_;
  Command command_;
  WhatIfLimits limits_;
};

}  // namespace capstan::serve
