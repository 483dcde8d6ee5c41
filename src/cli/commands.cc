#include "cli/commands.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "archive/measured_result.h"
#include "archive/recording.h"
#include "archive/recording_file.h"
#include "archive/saved_state.h"
#include "base/number_text.h"
#include "base/replace_file.h"
#include "base/unit_text.h"
#include "cli/offline.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "experiment/compare.h"
#include "experiment/report/render.h"
#include "experiment/report/threshold.h"
#include "experiment/run/job_names.h"
#include "experiment/run/prepare.h"
#include "experiment/text/words.h"
#include "scenario/from_snapshot.h"
#include "serve/page.h"

namespace capstan::cli {

ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::input:
      return kError;
    case ErrorKind::infeasible:
      return kInfeasible;
    case ErrorKind::usage:
      return kUsage;
  }
  return kError;
}

ExitCode report(const Error& error) { return report(manifest::Errors(error)); }

ExitCode report(const manifest::Errors& errors) {
  std::fputs((errors.text() + "\n").c_str(), stderr);
  return exit_code(errors.kind);
}

ExitCode print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return kOk;
  if (errno == EPIPE) return kError;  // the reader closed the pipe, because it has read enough
  return report({ErrorKind::input, "standard output", 0, 0, std::string("cannot be written: ") + std::strerror(errno)});
}

namespace {

ExitCode judge(const std::vector<experiment::Threshold>& thresholds, const experiment::Comparison& comparison) {
  ExitCode code = kOk;
  for (const experiment::Threshold& threshold : thresholds) {
    for (const experiment::RunResult& result : comparison.results) {
      if (!threshold.missed(result)) continue;
      std::fputs(fmt::format("threshold missed (--fail-on {}): {} has {}\n", threshold.text, result.policy,
                             threshold.figure_text(result))
                     .c_str(),
                 stderr);
      code = kFindings;
    }
  }
  return code;
}

bool wants_sparklines(const SimulateArguments& arguments) {
  if (!arguments.compare || arguments.sparklines == SparklineMode::never) return false;
  return arguments.sparklines == SparklineMode::always || (output_is_terminal() && locale_is_utf8());
}

/// Returns the line with the number of simulated requests and the time that the simulation took. The time differs from
/// run to run, so the line is not a part of the result.
std::string effort_words(const experiment::Comparison& comparison, double seconds) {
  RequestCount requests = comparison.extra_requests;
  std::int64_t jobs = 0;
  for (const experiment::RunResult& result : comparison.results) {
    requests += result.requests.arrived;
    jobs += result.job_outcomes().arrived;
  }
  const auto policies = static_cast<std::int64_t>(comparison.results.size());
  std::string words = count_text(policies, "policy", "policies");
  if (comparison.extra_runs > 0) {
    words += " and " + count_text(comparison.extra_runs, "further run", "further runs");
  }
  const bool only_jobs = comparison.results.front().has_only_jobs();
  return fmt::format("{}, {} simulated {} in {:.2f} s\n", words, grouped_text(only_jobs ? jobs : requests),
                     only_jobs ? "jobs" : "requests", seconds);
}

/// Returns the arguments that select the same scenario with the same changes, quoted for a shell.
std::string scenario_arguments(const SimulateArguments& arguments) {
  const scenario::ScenarioOverrides& changed = arguments.overrides;
  std::string words = experiment::shell_word(arguments.scenario);
  if (!arguments.from_snapshot.empty()) words += " --from-snapshot " + experiment::shell_word(arguments.from_snapshot);
  if (!arguments.service.empty()) words += " --service " + experiment::shell_word(arguments.service);
  if (changed.trace) words += " --trace " + experiment::shell_word(*changed.trace);
  for (const std::string& set : changed.sets) words += " --set " + experiment::shell_word(set);
  if (changed.seed) words += fmt::format(" --seed {}", *changed.seed);
  return words;
}

/// Simulates the only policy of the scenario, and records the inputs of its decisions.
Result<experiment::Comparison> record(const scenario::Scenario& scenario, const std::string& path,
                                      const experiment::ProgressCallback& progress) {
  const scenario::PolicySpec& policy = scenario.policies.front();
  if (const Result<void> known = check_memory_is_known(policy, "--record"); !known) {
    return std::unexpected(known.error());
  }
  if (archive::examine(path).content == archive::FileContent::recording) {
    return std::unexpected(Error::about(path, "the file exists and is a recording, expected a new name"));
  }
  Result<archive::Recorder> recorder = archive::Recorder::create(path);
  if (!recorder) return std::unexpected(recorder.error());
  experiment::PreparedRun prepared = experiment::prepare(scenario, policy, scenario.seed);
  Result<void> written;
  prepared.setup.input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                      const control::DueDecisions& due) {
    if (written)
      written = recorder->add(
          {snapshot, experiment::job_names(snapshot, prepared.setup.cluster), policy.policies, memory, due});
  };
  prepared.setup.outcome_observer = [&](const control::ActionOutcome& outcome) {
    if (written) written = recorder->add_outcome(outcome);
  };
  prepared.setup.should_end = [&] { return !written; };
  prepared.setup.keep_history = scenario.history;
  Result<experiment::RunResult> run = experiment::simulate(prepared.setup, progress);
  if (!run) return std::unexpected(run.error());
  if (written) written = recorder->finish();
  if (!written) return std::unexpected(written.error());
  experiment::Comparison comparison = experiment::describe(scenario);
  comparison.results.push_back(*std::move(run));
  // A controller cannot measure single requests, teams or goals. The page of the recording shows those of the
  // simulation.
  written = archive::write_measured(path, experiment::render_json(comparison, {.compact = true}));
  if (!written) return std::unexpected(written.error());
  return comparison;
}

/// Writes the page with charts, if the arguments name a file for it.
Result<void> write_report(const SimulateArguments& arguments, const experiment::Comparison& comparison) {
  if (arguments.report.empty()) return {};
  const experiment::JsonParts parts{.decisions = true, .command = command_again(arguments), .compact = true};
  return replace_file(arguments.report, serve::page(experiment::render_json(comparison, parts)));
}

}  // namespace

std::string command_again(const SimulateArguments& arguments) {
  std::string words = arguments.compare ? "capstan compare " : "capstan sim ";
  words += scenario_arguments(arguments);
  for (const std::string& name : arguments.overrides.policies) words += " --policy " + experiment::shell_word(name);
  return words + (arguments.bound ? " --bound" : "");
}

ExitCode simulate(const SimulateArguments& arguments) {
  std::vector<experiment::Threshold> thresholds;
  for (const std::string& text : arguments.fail_on) {
    Result<experiment::Threshold> threshold = experiment::parse_threshold(text);
    if (!threshold) return report(threshold.error());
    thresholds.push_back(std::move(*threshold));
  }
  scenario::ScenarioOverrides overrides = arguments.overrides;
  if (!arguments.from_snapshot.empty()) {
    const Result<archive::SavedState> state = archive::read(arguments.from_snapshot);
    if (!state) return report(state.error());
    const auto changes = scenario::changes_of(state->snapshot, arguments.service, arguments.from_snapshot);
    if (!changes) return report(changes.error());
    // A later change replaces an earlier one, so --set overrides the snapshot.
    overrides.sets.insert(overrides.sets.begin(), changes->begin(), changes->end());
  }
  if (arguments.bound) overrides.sets.push_back("bound=true");
  scenario::ScenarioResult scenario = scenario::read_scenario(arguments.scenario, overrides);
  if (!scenario) return report(scenario.error());
  if (!arguments.compare) scenario->policies.resize(1);
  scenario->bound = arguments.compare && scenario->bound;
  scenario->advice = arguments.compare && !arguments.no_advice;
  scenario->history = arguments.details || !arguments.report.empty();
  if (!arguments.report.empty()) {
    if (const Result<void> good = check_replaceable(arguments.report); !good) return report(good.error());
  }

  const Stopwatch watch;
  Result<experiment::Comparison> comparison = [&] {
    ProgressReport report(progress_output());
    const auto note = [&](const experiment::Progress& progress) { report.note(progress); };
    if (!arguments.record.empty()) return record(*scenario, arguments.record, note);
    return experiment::compare(*scenario, arguments.jobs, note);
  }();
  const double elapsed = std::chrono::duration<double>(watch.elapsed()).count();
  if (!comparison) return report(comparison.error());

  if (const Result<void> written = write_report(arguments, *comparison); !written) return report(written.error());
  const bool json = arguments.output == Output::json;
  const experiment::RenderOptions options{.color = wants_color(),
                                          .frontier = arguments.frontier,
                                          .sparklines = wants_sparklines(arguments),
                                          .all_rows = arguments.verbose,
                                          .width = output_width()};
  experiment::JsonParts parts;
  if (arguments.details) parts = {.decisions = true, .command = command_again(arguments)};
  const ExitCode printed = print(json ? experiment::render_json(*comparison, parts)
                                      : experiment::render_text(*comparison, scenario_arguments(arguments), options));
  if (printed != kOk) return printed;
  if (!json) {
    std::fputs(effort_words(*comparison, elapsed).c_str(), stderr);
  }
  return judge(thresholds, *comparison);
}

ExitCode version(Output output) {
  return print(output == Output::json ? "{\"format_version\": 1, \"version\": \"" CAPSTAN_VERSION "\"}\n"
                                      : "capstan " CAPSTAN_VERSION "\n");
}

}  // namespace capstan::cli
