#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "scenario/scenario.h"

// The commands. Each takes its parsed arguments, prints its result and returns the program's exit code.
namespace capstan::cli {

/// Exit codes (docs/reference/exit-codes.md).
enum ExitCode : int { kOk = 0, kError = 1, kFindings = 2, kInfeasible = 3, kUsage = 64 };

ExitCode exit_code(ErrorKind kind);
/// Writes the error to standard error.
ExitCode report(const Error& error);
ExitCode report(const manifest::Errors& errors);
/// Writes a whole result to standard output at once. If that fails, for example because the disk is full, it reports
/// the error. It reports nothing if the reader has closed the pipe.
ExitCode print(const std::string& text);

enum class Output : std::uint8_t { text, json };
enum class SparklineMode : std::uint8_t { automatic, always, never };

struct SimulateArguments {
  std::string scenario;
  scenario::ScenarioOverrides overrides;
  std::string from_snapshot;  ///< snapshot file with the initial state; empty: the scenario states it
  std::string service;        ///< name of the service in the snapshot
  Output output = Output::text;
  unsigned jobs = 0;                 ///< concurrent runs; 0 = one for each core
  std::vector<std::string> fail_on;  ///< thresholds, "met<99%", "score<50"; exit code 2 if any policy misses one
  bool frontier = false;             ///< compare: also print the policies that no other policy beats
                                     ///< (`RenderOptions::frontier`)
  bool verbose = false;              ///< text: a row for every service, class of jobs, queue and team
  bool bound = false;                ///< compare: also compute the cost that perfect foresight would reach
  bool no_advice = false;            ///< compare: leave out the additional runs from which the advice follows
  bool compare = false;              ///< simulate all policies; false: the named policy, or the first
  SparklineMode sparklines = SparklineMode::automatic;  ///< compare, in text: draw the run over time
  std::string record;    ///< sim: file to write with the inputs of every decision; empty: none
  bool details = false;  ///< JSON: also write the decisions and the history of nodes and replicas
  std::string report;    ///< HTML file to write with charts of the result; empty: none
};
ExitCode simulate(const SimulateArguments& arguments);
/// Returns the command that gives the same result again.
std::string command_again(const SimulateArguments& arguments);

struct PredictArguments {
  std::string engine = "vllm";
  std::string points;
  std::string step_times;  ///< path of the user's own step-time rows; empty: none
  Output output = Output::text;
};
ExitCode predict(const PredictArguments& arguments);

ExitCode version(Output output);

}  // namespace capstan::cli
