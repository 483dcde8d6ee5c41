#include "cli/run.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "archive/flight_recorder.h"
#include "cli/controller_page.h"
#include "cli/offline.h"
#include "cli/stop_signal.h"
#include "kube/client.h"
#include "kube/wall_clock.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "operator/loop/decision_loop.h"
#include "operator/loop/endpoints.h"
#include "operator/loop/log.h"
#include "operator/loop/process.h"
#include "operator/memory/checkpoint_store.h"

namespace capstan::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kOnceMax = 60s;     // longest wait for the data of one decision
constexpr Duration kWatchPeriod = 5s;  // time between two looks at a cluster that is only watched

/// Returns a text that identifies this process. A process that starts later in the same pod has another text.
std::string identity(kube::WallTime wall) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("{}_{:x}_{:x}", host.data(), getpid(), wall.unix_us);
}

/// Waits for the sockets, at most until `next`.
void wait(kube::Session& session, const std::vector<net::HttpServer*>& servers, Instant next) {
  next = std::min(next, session.http.next_deadline());
  const Instant now = session.clock();
  const Duration timeout = next <= now ? Duration{} : std::min(kStopPollInterval, next - now);
  std::vector<pollfd> sockets = {{session.http.poll_fd(), POLLIN, 0}};
  for (const net::HttpServer* server : servers) sockets.push_back({server->poll_fd(), POLLIN, 0});
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  poll(sockets.data(), sockets.size(), static_cast<int>(ms));
  session.http.run_once(Duration{});
  for (net::HttpServer* server : servers) server->run_once(Duration{});
}

Error missing_data(const std::vector<std::string>& lines) {
  std::string text = fmt::format("the data for a decision is incomplete after {} s", kOnceMax / 1s);
  for (const std::string& line : lines) text += "; waiting for " + line;
  return {.file = {}, .message = text};
}

/// Waits until the cluster, the load of its replicas and the checkpoint of its controller are known. Returns the
/// checkpoint.
Result<op::Checkpoint> wait_for_data(kube::Session& session, op::DecisionLoop& loop, const std::stop_token& stop) {
  op::CheckpointStore store(session.client, session.clock, session.ns, [] { return false; });
  store.start_reading();
  const Instant end = session.clock() + kOnceMax;
  const auto is_stopped = [&] { return stop_signals() != 0 || stop.stop_requested(); };
  while (!is_stopped() && (!loop.ready() || !store.read())) {
    if (session.clock() >= end) return std::unexpected(missing_data(loop.waiting_for()));
    loop.run_once();
    store.run_once();
    session.client.run_once();
    const Instant next = std::min({loop.next_deadline(), store.next_deadline(), session.client.next_deadline()});
    wait(session, {}, next);
  }
  if (is_stopped()) return std::unexpected(Error{.file = {}, .message = "interrupted"});
  return *store.read();
}

/// Decides once and returns the inputs of this decision.
archive::SavedState decide_once(op::DecisionLoop& loop, const op::Checkpoint& checkpoint) {
  std::optional<archive::SavedState> state;
  loop.begin(checkpoint,
             [&](const model::Snapshot& snapshot, const control::Memory& memory, const control::DueDecisions&) {
               state = {snapshot, loop.world().objects().names(), loop.controller().in_force(), memory};
             });
  loop.decide();
  // The loop calls the function above only if there is something to decide. Otherwise the inputs are collected here.
  if (!state) {
    state = {loop.world().snapshot(), loop.world().objects().names(), loop.world().policies(),
             loop.controller().memory()};
  }
  return *std::move(state);
}

/// Opens the recording of the decisions, if a file is stated.
Result<std::optional<archive::FlightRecorder>> open_recorder(const RunArguments& arguments,
                                                             const kube::Session& session, const op::Log& log) {
  if (arguments.record.empty()) return std::nullopt;
  const auto note = [log](bool is_error, const std::string& message) {
    log({.level = is_error ? op::LogLine::Level::error : op::LogLine::Level::info, .message = message});
  };
  Result<archive::FlightRecorder> opened = archive::FlightRecorder::open(arguments.record, session.clock(), note);
  if (!opened) return std::unexpected(opened.error());
  return *std::move(opened);
}

/// Returns the figures of a recording for the metrics; nothing without one.
std::optional<op::RecordingFigures> figures_of(const std::optional<archive::FlightRecorder>& flight) {
  if (!flight) return std::nullopt;
  return op::RecordingFigures{flight->is_recording(), flight->lost()};
}

/// Opens the page of the process, if an address is stated.
Result<std::unique_ptr<ControllerPage>> open_page(const RunArguments& arguments, kube::Session& session,
                                                  const op::Log& log) {
  std::unique_ptr<ControllerPage> page;
  if (arguments.ui == "none") return page;
  const Result<net::SocketAddress> address = net::parse_socket_address(arguments.ui);
  if (!address) return std::unexpected(address.error());
  page = std::make_unique<ControllerPage>(
      ControllerPage::Dependencies{.transport = session.http,
                                   .credentials = session.credentials,
                                   .clock = session.clock,
                                   .random = RandomStream(session.random.bits(), "page")},
      ControllerPage::Options{.address = *address,
                              .hosts = arguments.ui_hosts,
                              .record = arguments.record,
                              .ns = session.ns,
                              .name = "The controller in " + session.ns});
  const Result<net::SocketAddress> listens = page->listen();
  if (!listens) return std::unexpected(listens.error());
  log({.message = "shows its page at http://" + listens->text() + "/ui"});
  return page;
}

Result<void> serve_metrics(const RunArguments& arguments, net::HttpServer& server, const op::Log& log) {
  if (arguments.listen == "none") return {};
  const Result<net::SocketAddress> address = net::parse_socket_address(arguments.listen);
  if (!address) return std::unexpected(address.error());
  const Result<net::ListenerId> listener = server.listen(*address);
  if (!listener) return std::unexpected(listener.error());
  log({.message = "listens on " + server.address(*listener).text()});
  return {};
}

Result<void> serve(const RunArguments& arguments, kube::Session& session) {
  const auto log = [&](const op::LogLine& line) {
    std::fputs((op::json_line(line, session.wall()) + "\n").c_str(), stderr);
  };
  Result<std::optional<archive::FlightRecorder>> opened = open_recorder(arguments, session, log);
  if (!opened) return std::unexpected(opened.error());
  std::optional<archive::FlightRecorder>& flight = *opened;
  const Result<std::unique_ptr<ControllerPage>> page = open_page(arguments, session, log);
  if (!page) return std::unexpected(page.error());
  const op::Process* decider = nullptr;
  const auto input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                  const control::DueDecisions& due) {
    const op::DecisionLoop& loop = decider->loop();
    if (flight) {
      flight->add({snapshot, loop.world().objects().names(), loop.controller().in_force(), memory, due},
                  session.clock());
    }
    if (*page) (*page)->note_decision();
  };
  const auto outcome_observer = [&](const control::ActionOutcome& outcome) {
    if (flight) flight->add_outcome(outcome);
    if (*page) (*page)->note_outcome(outcome, *decider->loop().world().snapshot().catalog);
  };
  op::Process process({.transport = session.http,
                       .client = session.client,
                       .clock = session.clock,
                       .wall = session.wall,
                       .random = RandomStream(session.random.bits(), "process"),
                       .input_observer = input_observer,
                       .outcome_observer = outcome_observer},
                      {.ns = session.ns,
                       .identity = identity(session.started),
                       .detail = *page ? decide::Detail::candidates : decide::Detail::reasons},
                      log);
  decider = &process;
  op::Endpoints endpoints(process, [&] { return figures_of(flight); });
  net::HttpServer server(session.clock, net::HttpServerLimits(), endpoints);
  endpoints.answer_on(server);
  if (Result<void> listens = serve_metrics(arguments, server, log); !listens) return listens;
  std::vector<net::HttpServer*> servers = {&server};
  if (*page) servers.push_back(&(*page)->server());
  while (!process.stopped() && stop_signals() < 2) {
    if (stop_signals() == 1) process.stop();
    process.run_once();
    Instant next = process.next_deadline();
    if (*page) {
      (*page)->run_once(process);
      next = std::min(next, (*page)->next_deadline());
    }
    wait(session, servers, next);
  }
  if (flight) flight->finish();
  return {};
}

}  // namespace

Result<archive::SavedState> live_state(const kube::ClusterArguments& arguments) {
  catch_stop_signals();
  std::optional<archive::SavedState> state;
  std::stop_source stop;
  const Result<void> watched = watch_states(arguments, stop.get_token(), [&](const archive::SavedState& seen) {
    state = seen;
    stop.request_stop();
  });
  if (!watched) return std::unexpected(watched.error());
  if (!state) return std::unexpected(Error{.file = {}, .message = "interrupted"});
  return *std::move(state);
}

Result<void> watch_states(const kube::ClusterArguments& arguments, const std::stop_token& stop,
                          const std::function<void(const archive::SavedState&)>& visit) {
  Result<std::unique_ptr<kube::Session>> opened = kube::open_session(arguments);
  if (!opened) return std::unexpected(opened.error());
  kube::Session& session = **opened;
  op::DecisionLoop loop(session.http, session.client, session.clock, RandomStream(session.random.bits(), "loop"),
                        nullptr);
  const auto is_stopped = [&] { return stop_signals() != 0 || stop.stop_requested(); };
  while (!is_stopped()) {
    // The controller may have changed its checkpoint since the last pass.
    const Result<op::Checkpoint> checkpoint = wait_for_data(session, loop, stop);
    if (!checkpoint && is_stopped()) break;
    if (!checkpoint) return std::unexpected(checkpoint.error());
    visit(decide_once(loop, *checkpoint));
    loop.end();
    const Instant next = session.clock() + kWatchPeriod;
    while (!is_stopped() && session.clock() < next) {
      loop.run_once();
      session.client.run_once();
      wait(session, {}, std::min({next, loop.next_deadline(), session.client.next_deadline()}));
    }
  }
  return {};
}

ExitCode run(const RunArguments& arguments) {
  if (arguments.once) {
    const Result<archive::SavedState> state = live_state(arguments.cluster);
    return state ? print_decision(*state, Layer::scale, arguments.output) : report(state.error());
  }
  catch_stop_signals();
  Result<std::unique_ptr<kube::Session>> session = kube::open_session(arguments.cluster);
  if (!session) return report(session.error());
  const Result<void> served = serve(arguments, **session);
  return served ? kOk : report(served.error());
}

}  // namespace capstan::cli
