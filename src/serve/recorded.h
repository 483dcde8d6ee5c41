#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "archive/recording.h"
#include "archive/redecide.h"
#include "base/error.h"
#include "serve/awaited_outcomes.h"
#include "serve/recorded_history.h"

namespace capstan::serve {

/// The numbers of one service at one moment. No value: it is unknown, or the service did not exist.
struct ServiceFigures {
  using Value = std::optional<std::int64_t>;
  Value desired{}, ready{}, starting{}, waiting{};
  Value running{};           ///< requests in the batches of the replicas
  Value late_ppm{};          ///< mean share of late requests of the ready replicas
  Value late_allowed_ppm{};  ///< share that the SLO allows; no value: there is no SLO
  Value ttft_p99_us{};       ///< highest value of the ready replicas
  Value ttft_slo_us{};       ///< bound of the SLO; no value: there is none
  Value tpot_p99_us{};       ///< highest value of the ready replicas; no value: the engines do not report it
  Value tpot_slo_us{};       ///< bound of the SLO; no value: there is none
  Value silent{};            ///< ready replicas without a usable reading of their load
  Value age_ms{};            ///< age of the oldest reading; no value without a ready replica
};
using FiguresOfServices = std::map<model::ServiceId, ServiceFigures>;

/// Returns the numbers of every service in a state.
FiguresOfServices numbers_of(const model::Snapshot& snapshot, const archive::RepeatedDecisions& decided);

/// A recording as the page shows it.
struct RecordedPage {
  /// The recording in the form of a result: the numbers of every service over time, the nodes and replicas, the latest
  /// actions with their reasons, and what a recorded simulation measured.
  std::string json;
  /// The decisions of a state as JSON, by the position of the state in the recording: for each of its actions, in their
  /// order, the arithmetic and the command that prints it. Only states with actions in `json` have an entry.
  std::map<std::int64_t, std::string> decisions;
  std::int64_t states = 0;    ///< states of the recording
  AwaitedOutcomes awaited{};  ///< its actions without an outcome
};

/// Returns the data of the page before the first event, as JSON: a recording without states.
/// @param command  the command that gives the whole result; empty: there is none
std::string empty_recording(const std::string& source, const std::string& policy, const std::string& command);

struct RecordedLimits {
  /// Largest number of moments in a series, at least 2. If there are more states, the states with changes are chosen,
  /// changes of the wanted replicas first. Each moment has the values of its state, not a mean.
  std::size_t points = 4000;
  std::size_t actions = 10'000;  ///< actions that are shown, the latest ones
};

/// Decides all states of a recording again, to show what its controller did and why.
/// @param path      path of the recording, for commands, errors and the measured result that belongs to it
/// @param progress  is called after each state with the number of states so far and of all states
/// @param history   notes every state, and the page has its nodes and replicas; null: neither
Result<RecordedPage> read_recorded(archive::Recording& recording, const std::string& path,
                                   const std::function<void(std::int64_t, std::int64_t)>& progress = {},
                                   RecordedHistory* history = nullptr, const RecordedLimits& limits = {});

/// Returns the command that decides a recording again.
std::string replay_words(const std::string& path);

/// An action for which a command is named.
struct CommandSubject {
  std::string at;      ///< moment of the decision, as `--at` takes it
  std::string layer;   ///< "scale", "place" or "provision"
  std::string object;  ///< object of the action, as `capstan explain` takes it; empty: none
};
/// Returns the command that prints a decision again.
using DecisionCommand = std::function<std::string(const CommandSubject& subject)>;

/// Returns the command for the decisions of a recording.
DecisionCommand replay_command(const std::string& path);
/// Returns the command for the decisions of a controller that keeps no recording. The command decides again from the
/// state that the cluster has when the command runs.
/// @param ns  namespace of the controller; empty: the default of `capstan snapshot`
DecisionCommand now_command(const std::string& ns);

/// One state as the page shows it while a simulation runs or a recording grows.
struct ShownState {
  std::string numbers;    ///< JSON on one line: the moment, the numbers of every service, and the actions
  std::string decisions;  ///< as in `RecordedPage::decisions`; empty if there is no action
};

/// @param position  number of the state since the start, from 0
/// @param outcomes  outcomes of earlier actions that have arrived since the last state
ShownState show_state(std::int64_t position, const archive::SavedState& state,
                      const archive::RepeatedDecisions& decided, const DecisionCommand& command,
                      const std::vector<ShownOutcome>& outcomes = {});

/// Returns the arithmetic of all decisions: a paragraph for each service, and one each for placement and nodes.
std::string arithmetic_of(const archive::SavedState& state, const archive::RepeatedDecisions& decided);

}  // namespace capstan::serve
