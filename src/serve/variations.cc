#include "serve/variations.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "base/number_text.h"
#include "experiment/compare.h"
#include "experiment/report/render.h"
#include "experiment/text/words.h"
#include "manifest/path.h"

namespace capstan::serve {
namespace {

/// Stops a simulation that exceeds its limits.
class Watch {
 public:
  Watch(const net::Clock& clock, const VariationLimits& limits, const std::stop_token& stop)
      : clock_(clock), limits_(limits), end_(clock() + limits.time), outer_(stop, Forward{&stop_}) {}

  void note(const experiment::Progress& progress) {
    const bool too_long = clock_() >= end_;
    const bool too_many = progress.arrived > limits_.requests;
    if (!too_long && !too_many) return;
    exceeded_ = true;
    stop_.request_stop();
  }
  std::stop_token token() const { return stop_.get_token(); }
  bool exceeded() const { return exceeded_; }

 private:
  struct Forward {
    std::stop_source* to;
    void operator()() const { to->request_stop(); }
  };

  const net::Clock& clock_;
  const VariationLimits& limits_;
  Instant end_;
  std::stop_source stop_;
  std::atomic<bool> exceeded_ = false;
  std::stop_callback<Forward> outer_;
};

}  // namespace

std::expected<Variations, manifest::Errors> Variations::open(const std::string& path,
                                                             const scenario::ScenarioOverrides& overrides,
                                                             Command command) {
  Result<std::string> text = manifest::read_text(path);
  if (!text) return std::unexpected(manifest::Errors(text.error()));
  scenario::ScenarioResult scenario = scenario::parse_scenario(*text, path, overrides);
  if (!scenario) return std::unexpected(scenario.error());
  Result<manifest::Node> root = manifest::parse(*text, path);
  if (!root) return std::unexpected(manifest::Errors(root.error()));
  for (const std::string& set : overrides.sets) {
    if (Result<void> done = manifest::apply_set(*root, set); !done) {
      return std::unexpected(manifest::Errors(done.error()));
    }
  }
  return Variations(*std::move(text), *std::move(scenario), *std::move(root), overrides, std::move(command));
}

Variations::Variations(std::string text, scenario::Scenario scenario, manifest::Node root,
                       const scenario::ScenarioOverrides& overrides, Command command)
    : text_(std::move(text)),
      scenario_(std::move(scenario)),
      root_(std::move(root)),
      overrides_(overrides),
      command_(std::move(command)),
      limits_(what_if_limits(scenario_)) {}

Result<std::string> Variations::simulate(const experiment::ProgressCallback& progress) const {
  return render(scenario_, {}, progress, {});
}

Result<std::string> Variations::simulate(const WhatIf& change, const std::stop_token& stop, const net::Clock& clock,
                                         const VariationLimits& limits) const {
  const std::vector<std::string> sets = what_if_sets(change, scenario_, root_);
  scenario::ScenarioOverrides overrides = overrides_;
  overrides.sets.insert(overrides.sets.end(), sets.begin(), sets.end());
  const scenario::ScenarioResult scenario = scenario::parse_scenario(text_, scenario_.file, overrides);
  if (!scenario) return std::unexpected(scenario.error().list.front());
  Watch watch(clock, limits, stop);
  Result<std::string> result =
      render(*scenario, sets, [&](const experiment::Progress& progress) { watch.note(progress); }, watch.token());
  if (result || !watch.exceeded()) return result;
  return std::unexpected(
      Error::about({}, fmt::format("the simulation was stopped at its limit of {} s or {} requests",
                                   limits.time / std::chrono::seconds(1), grouped_text(limits.requests))));
}

Result<std::string> Variations::render(const scenario::Scenario& scenario, const std::vector<std::string>& sets,
                                       const experiment::ProgressCallback& progress,
                                       const std::stop_token& stop) const {
  scenario::Scenario plain = scenario;
  plain.advice = false;
  plain.bound = false;
  plain.history = true;
  const Result<experiment::Comparison> comparison = experiment::compare(plain, 0, progress, stop);
  if (!comparison) return std::unexpected(comparison.error());
  return experiment::render_json(*comparison, {.decisions = true, .command = command_(sets), .compact = true});
}

}  // namespace capstan::serve
