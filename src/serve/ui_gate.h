#pragma once

#include <map>
#include <set>
#include <string>

#include "kube/access_review.h"
#include "net/http_server.h"
#include "net/monotonic.h"
#include "serve/dashboard.h"

namespace capstan::serve {

/// Returns the token of a request: of `Authorization: Bearer TOKEN`, or the password of `Authorization: Basic`, which a
/// browser sends after it has asked a person. Empty if there is none.
std::string token_of(const net::HttpRequest& request);

/// Stands in front of a dashboard, and passes on only requests whose token may read /ui. Every other request is
/// refused, whatever its path is, and no request changes anything. The page is at /ui, and its data below /ui/api and
/// /api.
class UiGate final : public net::HttpHandler {
 public:
  /// Time after which the token of an open stream of events is reviewed again.
  static constexpr Duration kReviewAgainAfter = std::chrono::seconds(30);

  /// The arguments must outlive the gate.
  UiGate(Dashboard& dashboard, Access access, kube::AccessReviewer& reviewer, net::Clock clock);
  /// Sets the server that sends the answers. The server must outlive the requests.
  void answer_on(net::HttpServer& server);

  void on_request(net::ExchangeId exchange, net::ListenerId listener, const net::HttpRequest& request) override;
  void on_gone(net::ExchangeId exchange) override;

  /// Reviews the token of each open stream whose next review is due. A stream whose token is no longer allowed ends.
  void run_once();
  Instant next_deadline() const;

 private:
  struct Stream {
    std::string token;
    Instant review_at;
  };

  void refuse(net::ExchangeId exchange, const kube::AccessVerdict& verdict);

  Dashboard& dashboard_;
  Access access_;
  kube::AccessReviewer& reviewer_;
  net::Clock clock_;
  net::HttpServer* server_ = nullptr;
  std::set<net::ExchangeId> waiting_;          ///< requests whose token is being reviewed
  std::map<net::ExchangeId, Stream> streams_;  ///< open streams of events
};

}  // namespace capstan::serve
