#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "net/http_server.h"
#include "serve/guard.h"
#include "serve/what_if.h"
#include "serve/worker.h"

namespace capstan::serve {

/// The content that a server shows.
struct Content {
  std::string source;  ///< name of the file or of the controller, for people
  std::string result;  ///< JSON of a result or of a recording
  /// Limits of the changes that the page may make; nothing: the result cannot be simulated again.
  std::optional<WhatIfLimits> what_if{};
  /// Decisions of a recording, by state, as JSON; empty if a result is shown.
  std::map<std::int64_t, std::string> decisions{};
  /// Returns the changes of nodes and replicas after a place in the history (RecordedHistory::json). The function is
  /// empty if a result is shown.
  std::function<std::string(std::string_view after)> history{};
  double live_speed = 0;         ///< simulated time for each unit of real time; 0: nothing runs
  bool receives_states = false;  ///< true: a recording or a controller whose further states arrive as events
  bool is_controller = false;    ///< true: a controller that runs, instead of a file
  std::int64_t first_event = 0;  ///< number of the first event, which is the number of states in the result
  /// Differs between contents. A page that comes back with events of another content has to load again.
  std::int64_t epoch = 0;
};

/// Limits of the events that are kept for pages that are opened later; older ones are dropped.
struct EventLimits {
  std::size_t count = 50'000;
  std::size_t bytes = std::size_t{64} << 20;  ///< bytes of the events and of their decisions
};

/// Returns the limits of the server: small requests, few connections, and replies as large as the largest result.
net::HttpServerLimits dashboard_limits();

/// Returns {"format_version": 1, "error": ...} on one line.
std::string error_json(std::string_view why);

/// Answers the requests of one page and its scripts. No request changes anything. The only request that starts work
/// asks to simulate a change of a scenario. One simulation runs at a time, and a newer request replaces it.
class Dashboard final : public net::HttpHandler {
 public:
  /// Simulates a change. It is called on another thread and ends soon after a stop is requested.
  using Simulate = std::function<Result<std::string>(const WhatIf& change, const std::stop_token& stop)>;

  explicit Dashboard(Access access, EventLimits limits = {}) : access_(std::move(access)), limits_(limits) {}
  /// Sets the server that sends the answers. It outlives the requests.
  void answer_on(net::HttpServer& server) { server_ = &server; }
  /// Sets the content that is shown, before the first request.
  void show(Content content, Simulate simulate = {});
  /// Replaces a live run by its result. Pages that are open keep its events and decisions.
  void show_result(std::string result);
  /// Replaces the content that is shown. Pages that are open load again.
  void replace(Content content);
  /// Sets the fault that the pages show. An empty text ends the fault.
  void set_notice(std::string notice);

  void on_request(net::ExchangeId exchange, net::ListenerId listener, const net::HttpRequest& request) override;
  void on_gone(net::ExchangeId exchange) override;

  /// Sends an event to the pages that are open, and keeps it for pages that are opened later.
  /// @param data       one line
  /// @param decisions  decisions of this state as JSON; empty: none
  void add_event(std::string_view type, std::string_view data, std::string decisions = {});
  /// Returns true while the page of this exchange gets events.
  bool streams(net::ExchangeId exchange) const { return streams_.contains(exchange); }
  void send_error(net::ExchangeId exchange, int status, std::string_view why, std::vector<net::Header> further = {});
  /// Ends the streams of events and stops simulations, so that their connections can close.
  void finish();

  /// Sends the results of simulations that have ended.
  void run_once();
  /// Returns a descriptor that is readable if run_once() has something to send.
  int poll_fd() const { return worker_.poll_fd(); }

 private:
  void make_page();
  bool has_stream() const { return content_.live_speed > 0 || content_.receives_states || !events_.empty(); }
  /// Returns the number of the first kept event that a page has not seen; nothing if the page has to load again.
  std::optional<std::int64_t> next_event(std::optional<std::string_view> last_seen) const;
  void answer(net::ExchangeId exchange, const net::HttpRequest& request);
  void answer_events(net::ExchangeId exchange, const net::HttpRequest& request);
  void answer_decision(net::ExchangeId exchange, std::string_view query);
  void answer_history(net::ExchangeId exchange, std::string_view query);
  void answer_what_if(net::ExchangeId exchange, const net::HttpRequest& request);
  void send(net::ExchangeId exchange, int status, std::string_view type, std::string_view body,
            std::string_view policy = {}, std::vector<net::Header> further = {});

  Access access_;
  EventLimits limits_;
  Content content_;
  Simulate simulate_;
  std::string page_;
  std::string page_policy_;
  net::HttpServer* server_ = nullptr;
  std::deque<std::string> events_;  ///< latest events, as they are sent
  std::int64_t first_event_ = 0;    ///< number of the first event of `events_`
  std::size_t event_bytes_ = 0;     ///< bytes of the events and of their decisions
  std::string notice_;
  std::set<net::ExchangeId> streams_;                 ///< pages that get events
  std::map<Worker::JobId, net::ExchangeId> waiting_;  ///< exchanges that get the result of a job
  bool is_ending_ = false;
  Worker worker_;
};

}  // namespace capstan::serve
