#include "cli/serve.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

#include "archive/recording.h"
#include "base/input_file.h"
#include "cli/offline.h"
#include "cli/progress.h"
#include "cli/stop_signal.h"
#include "experiment/text/words.h"
#include "net/http_server.h"
#include "net/monotonic.h"
#include "serve/dashboard.h"
#include "serve/live.h"
#include "serve/recorded.h"
#include "serve/recorded_history.h"
#include "serve/recording_stream.h"
#include "serve/result_file.h"
#include "serve/variations.h"

namespace capstan::cli {
namespace {

using namespace std::chrono_literals;

/// Longest time to send what is pending after a signal.
constexpr Duration kShutdown = 2s;

/// The served content, and for a scenario the object that simulates it again.
struct Served {
  serve::Content content;
  std::shared_ptr<const serve::Variations> variations{};
  std::unique_ptr<serve::LiveRun> live{};
  std::unique_ptr<serve::RecordingStream> stream{};
  std::shared_ptr<serve::RecordedHistory> history{};  ///< history of a live run or a recording
};
using Opened = std::expected<Served, manifest::Errors>;

/// Returns a value that this server and earlier servers have used for no other content: the present time.
std::int64_t new_epoch(const net::Clock& clock) { return clock().since_start.count(); }

/// Returns the function by which pages read a history.
std::function<std::string(std::string_view)> reader_of(std::shared_ptr<const serve::RecordedHistory> history) {
  return [history = std::move(history)](std::string_view after) { return history->json(after); };
}

/// Refuses options that change a scenario.
Result<void> check_no_changes(const ServeArguments& arguments) {
  const scenario::ScenarioOverrides& changes = arguments.overrides;
  const bool none = changes.sets.empty() && !changes.trace && !changes.seed && changes.policies.empty();
  if (none) return {};
  return std::unexpected(Error{ErrorKind::usage, arguments.file, 0, 0,
                               "is no scenario, expected none of --policy, --trace, --seed and --set"});
}

Opened open_result(const ServeArguments& arguments, std::string text) {
  Result<void> good = check_no_changes(arguments);
  if (good) good = serve::check_result(text, arguments.file);
  if (!good) return std::unexpected(manifest::Errors(good.error()));
  return Served{{.source = arguments.file, .result = std::move(text)}};
}

/// Reads a scenario and simulates it.
Opened open_scenario(const ServeArguments& arguments) {
  SimulateArguments again;
  again.scenario = arguments.file;
  again.overrides = arguments.overrides;
  again.compare = true;
  const auto command = [again](const std::vector<std::string>& sets) {
    SimulateArguments changed = again;
    changed.overrides.sets.insert(changed.overrides.sets.end(), sets.begin(), sets.end());
    return command_again(changed);
  };
  auto variations = serve::Variations::open(arguments.file, arguments.overrides, command);
  if (!variations) return std::unexpected(variations.error());
  Result<std::string> result = [&] {
    ProgressReport report(progress_output());
    return variations->simulate([&](const experiment::Progress& progress) { report.note(progress); });
  }();
  if (!result) return std::unexpected(manifest::Errors(result.error()));
  serve::Content content{.source = arguments.file, .result = *std::move(result), .what_if = variations->limits()};
  return Served{std::move(content), std::make_shared<const serve::Variations>(*std::move(variations))};
}

/// Starts a simulation of a scenario's first policy.
Opened open_live(const ServeArguments& arguments) {
  scenario::ScenarioResult scenario = scenario::read_scenario(arguments.file, arguments.overrides);
  if (!scenario) return std::unexpected(scenario.error());
  scenario->history = true;
  const scenario::PolicySpec& policy = scenario->policies.front();
  if (const Result<void> known = check_memory_is_known(policy, "--live"); !known) {
    return std::unexpected(manifest::Errors(known.error()));
  }
  SimulateArguments again;
  again.scenario = arguments.file;
  again.overrides = arguments.overrides;
  again.overrides.policies = {policy.policies.name};
  const std::string command = command_again(again);
  const auto explain =
      [service = scenario->service().name,
       run = command.substr(std::string_view("capstan sim ").size())](const serve::CommandSubject& subject) {
        const std::string& object = subject.object.empty() ? service : subject.object;
        return fmt::format("capstan explain {} --scenario {} --at {} --verbose", experiment::shell_word(object), run,
                           subject.at);
      };
  serve::Content content{.source = arguments.file,
                         .result = serve::empty_recording(arguments.file, policy.policies.name, command),
                         .live_speed = arguments.speed};
  const auto history = std::make_shared<serve::RecordedHistory>(new_epoch(net::machine_clock()));
  content.history = reader_of(history);
  auto live = std::make_unique<serve::LiveRun>(*std::move(scenario), arguments.speed, explain, command, history,
                                               net::machine_clock());
  return Served{.content = std::move(content), .live = std::move(live), .history = history};
}

/// Decides a recording again, which shows the actions of the recorded controller and their reasons.
Opened open_recording(const ServeArguments& arguments) {
  if (const Result<void> good = check_no_changes(arguments); !good)
    return std::unexpected(manifest::Errors(good.error()));
  Result<archive::Recording> recording = archive::Recording::open(arguments.file);
  if (!recording) return std::unexpected(manifest::Errors(recording.error()));
  const auto history = std::make_shared<serve::RecordedHistory>(new_epoch(net::machine_clock()));
  Result<serve::RecordedPage> recorded = [&] {
    ProgressReport report(progress_output());
    const auto progress = [&](std::int64_t done, std::int64_t all) {
      report.note([done, all](Duration) { return fmt::format("{} of {} states decided again", done, all); });
    };
    return serve::read_recorded(*recording, arguments.file, progress, history.get());
  }();
  if (!recorded) return std::unexpected(manifest::Errors(recorded.error()));
  serve::Content content{.source = arguments.file, .result = std::move(recorded->json)};
  content.decisions = std::move(recorded->decisions);
  content.receives_states = true;
  content.first_event = recorded->states;
  content.history = reader_of(history);
  auto stream = std::make_unique<serve::RecordingStream>(arguments.file, recording->place(), recorded->states, history,
                                                         std::move(recorded->awaited));
  return Served{.content = std::move(content), .stream = std::move(stream), .history = history};
}

Opened open(const ServeArguments& arguments) {
  const serve::FileKind kind = serve::kind_of_path(arguments.file);
  if (kind == serve::FileKind::page) {
    return std::unexpected(manifest::Errors(
        Error::about(arguments.file,
                     "this is a page, such as one that --report wrote: open it in a browser; expected a result, a "
                     "recording or a scenario")));
  }
  if (arguments.live && kind != serve::FileKind::scenario) {
    return std::unexpected(
        manifest::Errors(Error{ErrorKind::usage, "--live", 0, 0, arguments.file + " is no scenario"}));
  }
  if (arguments.live) return open_live(arguments);
  if (kind == serve::FileKind::recording) return open_recording(arguments);
  Result<std::string> text = read_input(arguments.file, "a result, a recording or a scenario");
  if (!text) return std::unexpected(manifest::Errors(text.error()));
  return kind == serve::FileKind::result ? open_result(arguments, *std::move(text)) : open_scenario(arguments);
}

/// Passes the events of a simulation to the pages.
void pass_events(serve::LiveRun& live, serve::Dashboard& dashboard) {
  using Kind = serve::LiveRun::Event::Kind;
  for (serve::LiveRun::Event& event : live.take_events()) {
    if (event.kind == Kind::state) {
      dashboard.add_event("state", event.state.numbers, std::move(event.state.decisions));
      continue;
    }
    dashboard.add_event(event.kind == Kind::ended ? "ended" : "failed", serve::error_json(event.error));
    if (event.kind == Kind::ended) dashboard.show_result(std::move(event.result));
  }
}

/// Passes the new states of a recording to the pages.
void pass_events(const Served& served, serve::Dashboard& dashboard, const std::string& file, const net::Clock& clock) {
  using Kind = serve::RecordingStream::Event::Kind;
  for (serve::RecordingStream::Event& event : served.stream->take_events()) {
    switch (event.kind) {
      case Kind::state:
        dashboard.add_event("state", event.state.numbers, std::move(event.state.decisions));
        break;
      case Kind::replaced: {
        const std::string command = serve::replay_words(file);
        dashboard.replace({.source = file,
                           .result = serve::empty_recording(file, event.text, command),
                           .history = reader_of(served.history),
                           .receives_states = true,
                           .epoch = new_epoch(clock)});
        break;
      }
      case Kind::fault:
        if (!event.text.empty()) std::fputs((event.text + "\n").c_str(), stderr);
        dashboard.set_notice(std::move(event.text));
        break;
    }
  }
}

/// Serves until a signal arrives. Then waits for open connections until a time limit or a second signal.
/// @param file  the file that is served
void run_until_signal(net::HttpServer& server, serve::Dashboard& dashboard, Served& served, const std::string& file,
                      const net::Clock& clock) {
  const auto wait = [&] {
    std::array<pollfd, 3> sockets{{{server.poll_fd(), POLLIN, 0}, {dashboard.poll_fd(), POLLIN, 0}, {-1, POLLIN, 0}}};
    if (served.live != nullptr) sockets[2].fd = served.live->poll_fd();
    if (served.stream != nullptr) sockets[2].fd = served.stream->poll_fd();
    poll(sockets.data(), sockets.size(), static_cast<int>(kStopPollInterval / 1ms));
    dashboard.run_once();
    if (served.live != nullptr) pass_events(*served.live, dashboard);
    if (served.stream != nullptr) pass_events(served, dashboard, file, clock);
    server.run_once(Duration{});
  };
  while (stop_signals() == 0) wait();
  dashboard.finish();
  server.finish();
  const Instant end = clock() + kShutdown;
  while (stop_signals() == 1 && server.connections() > 0 && clock() < end) wait();
}

ExitCode print_url(const net::SocketAddress& address, Output output) {
  const std::string url = fmt::format("http://{}/", address.text());
  const ExitCode printed =
      print(output == Output::json ? fmt::format("{{\"format_version\": 1, \"url\": \"{}\"}}\n", url) : url + "\n");
  if (printed == kOk) std::fputs("Open this address in a browser. Ctrl-C ends the server.\n", stderr);
  return printed;
}

}  // namespace

ExitCode serve(const ServeArguments& arguments) {
  const Result<net::SocketAddress> address = net::parse_socket_address(arguments.listen);
  if (!address) {
    return report({ErrorKind::usage, "--listen " + arguments.listen, 0, 0, address.error().message});
  }
  const net::Clock clock = net::machine_clock();
  serve::Dashboard dashboard(serve::Access::for_server(*address, arguments.hosts));
  net::HttpServer server(clock, serve::dashboard_limits(), dashboard);
  dashboard.answer_on(server);
  // The address is bound before the simulation, so that an address in use is reported at once.
  const Result<net::ListenerId> listener = server.bind(*address);
  if (!listener) return report(listener.error());
  Opened opened = open(arguments);
  if (!opened) return report(opened.error());
  serve::Dashboard::Simulate simulate;
  if (opened->variations) {
    simulate = [variations = opened->variations, clock](const serve::WhatIf& change, const std::stop_token& stop) {
      return variations->simulate(change, stop, clock);
    };
  }
  opened->content.epoch = new_epoch(clock);
  dashboard.show(std::move(opened->content), std::move(simulate));
  if (const Result<void> listens = server.open(*listener); !listens) return report(listens.error());
  catch_stop_signals();
  if (const ExitCode printed = print_url(server.address(*listener), arguments.output); printed != kOk) return printed;
  run_until_signal(server, dashboard, *opened, arguments.file, clock);
  return kOk;
}

}  // namespace capstan::cli
