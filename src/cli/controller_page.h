#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "kube/access_review.h"
#include "kube/client.h"
#include "kube/credentials.h"
#include "net/http.h"
#include "net/http_server.h"
#include "operator/loop/process.h"
#include "serve/awaited_outcomes.h"
#include "serve/dashboard.h"
#include "serve/recorded.h"
#include "serve/recorded_history.h"
#include "serve/ui_gate.h"

namespace capstan::cli {

/// The page /ui of a running controller. It shows what `capstan serve` shows for a growing recording, and only to users
/// whom the API server authorizes. The page reads the decisions and changes nothing.
class ControllerPage {
 public:
  struct Options {
    net::SocketAddress address;
    std::vector<std::string> hosts{};  ///< further names under which browsers reach the page
    std::string record{};              ///< file of the recording, for commands; empty: none
    std::string ns{};                  ///< namespace of the controller, for commands; empty: not given
    std::string name{};                ///< heading of the page
  };
  /// The objects that the page uses. They must outlive the page.
  struct Dependencies {
    net::Transport& transport;
    kube::Credentials& credentials;
    net::Clock clock;
    RandomStream random;
  };

  ControllerPage(Dependencies dependencies, const Options& options);
  /// Binds the address. Returns the address with the actual port.
  Result<net::SocketAddress> listen();

  /// Notes that the controller is about to decide.
  void note_decision() { has_new_decision_ = true; }
  /// Notes the end of an action.
  /// @param catalog  for the names in its reason
  void note_outcome(const control::ActionOutcome& outcome, const model::Catalog& catalog);
  /// Shows the decisions that the process has made since the last call.
  void run_once(const op::Process& process);
  net::HttpServer& server() { return server_; }
  Instant next_deadline() const;

 private:
  void show(const op::DecisionLoop& loop);

  net::SocketAddress address_;
  serve::DecisionCommand command_;
  kube::Client client_;
  kube::AccessReviewer reviewer_;
  serve::RecordedHistory history_;
  serve::Dashboard dashboard_;
  serve::UiGate gate_;
  net::HttpServer server_;
  bool has_new_decision_ = false;
  bool is_leading_ = false;
  std::int64_t position_ = 0;
  std::uint64_t next_action_ = 0;  ///< number in the log of the first action that was not shown
  std::string notice_;
  serve::AwaitedOutcomes awaited_;
  std::vector<serve::ShownOutcome> outcomes_;  ///< outcomes that the page gets with the next state
};

}  // namespace capstan::cli
