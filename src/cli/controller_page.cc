#include "cli/controller_page.h"

#include <algorithm>
#include <utility>

#include "serve/last_decisions.h"
#include "serve/recorded.h"

namespace capstan::cli {
namespace {

/// Lower limits than those of `capstan serve`, because the page shares the memory of the controller.
constexpr serve::EventLimits kEventLimits{.count = 10'000, .bytes = std::size_t{8} << 20};

/// Returns a low limit on requests to the API server, so that reviews of unknown tokens do not use up the requests that
/// the API server allows the controller.
kube::Client::Options few_requests() {
  kube::Client::Options options;
  options.requests_per_second = 5;
  options.burst = 20;
  options.queue_max = 64;
  options.body_bytes_max = std::size_t{1} << 20;
  return options;
}

net::HttpServerLimits few_connections() {
  net::HttpServerLimits limits = serve::dashboard_limits();
  limits.connections = 32;
  limits.output_bytes = 2 * kEventLimits.bytes;
  return limits;
}

serve::Access access_of(const ControllerPage::Options& options) {
  serve::Access access = serve::Access::for_server(options.address, options.hosts);
  access.host_option = "--ui-host";
  return access;
}

/// Returns why the process shows no new decisions; empty if it decides.
std::string notice_of(const op::Process& process) {
  if (process.loop().begun()) return {};
  if (!process.leads()) return "this controller is a standby, and another one decides";
  std::string text = "the controller does not decide yet";
  for (const std::string& line : process.waiting_for()) text += "; it waits for " + line;
  return text;
}

}  // namespace

ControllerPage::ControllerPage(Dependencies dependencies, const Options& options)
    : address_(options.address),
      command_(serve::now_command(options.ns)),
      client_(dependencies.transport, dependencies.credentials, dependencies.clock, dependencies.random,
              few_requests()),
      reviewer_(client_, dependencies.clock, {.path = "/ui"}),
      history_(dependencies.clock().since_start.count()),
      dashboard_(access_of(options), kEventLimits),
      gate_(dashboard_, access_of(options), reviewer_, dependencies.clock),
      server_(dependencies.clock, few_connections(), gate_) {
  gate_.answer_on(server_);
  std::string command;
  if (!options.record.empty()) {
    command = serve::replay_words(options.record);
    command_ = serve::replay_command(options.record);
  }
  dashboard_.show({.source = options.name,
                   .result = serve::empty_recording(options.name, "capstan run", command),
                   .history = [this](std::string_view after) { return history_.json(after); },
                   .receives_states = true,
                   .is_controller = true,
                   .epoch = dependencies.clock().since_start.count()});
}

Result<net::SocketAddress> ControllerPage::listen() {
  const Result<net::ListenerId> listener = server_.listen(address_);
  if (!listener) return std::unexpected(listener.error());
  return server_.address(*listener);
}

void ControllerPage::run_once(const op::Process& process) {
  const op::DecisionLoop& loop = process.loop();
  if (loop.begun()) {
    is_leading_ = true;
    if (has_new_decision_ || loop.controller().log().count() > next_action_) show(loop);
  } else {
    next_action_ = 0;  // the log starts anew when the process leads again
    if (std::exchange(is_leading_, false)) history_.clear();
  }
  has_new_decision_ = false;
  if (std::string notice = notice_of(process); notice != notice_) {
    notice_ = notice;
    dashboard_.set_notice(std::move(notice));
  }
  gate_.run_once();
  client_.run_once();
}

void ControllerPage::note_outcome(const control::ActionOutcome& outcome, const model::Catalog& catalog) {
  const std::int64_t decision = outcome.decided_at.since_start.count();
  if (auto shown = awaited_.take(decision, archive::recorded_outcome(outcome, catalog))) {
    outcomes_.push_back(*std::move(shown));
  }
}

void ControllerPage::show(const op::DecisionLoop& loop) {
  const model::Snapshot& snapshot = loop.world().snapshot();
  const archive::SavedState state{snapshot, loop.world().objects().names(), loop.controller().in_force(), {}};
  const archive::RepeatedDecisions decided = serve::last_decisions(loop.controller(), next_action_);
  next_action_ = loop.controller().log().count();
  history_.note(state, decided);
  awaited_.add(snapshot.at.since_start.count(), position_, decided);
  serve::ShownState shown = serve::show_state(position_++, state, decided, command_, std::exchange(outcomes_, {}));
  dashboard_.add_event("state", shown.numbers, std::move(shown.decisions));
}

Instant ControllerPage::next_deadline() const { return std::min(gate_.next_deadline(), client_.next_deadline()); }

}  // namespace capstan::cli
