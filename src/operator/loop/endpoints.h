#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/http_server.h"
#include "operator/loop/metrics_page.h"
#include "operator/loop/process.h"

namespace capstan::op {

/// Answers HTTP requests about a process. /metrics returns its metrics. /healthz and /livez always succeed, because a
/// process that hangs does not answer. /readyz succeeds while the process has a recent copy of the cluster. Otherwise
/// it lists the missing and the old parts, one line each. Any other path returns 404.
class Endpoints final : public net::HttpHandler {
 public:
  /// @param recording  returns the figures of the recording; empty: there is none
  explicit Endpoints(const Process& process, std::function<std::optional<RecordingFigures>()> recording = {})
      : process_(process), recording_(std::move(recording)) {}
  /// Sets the server that sends the answers. It outlives the requests.
  void answer_on(net::HttpServer& server) { server_ = &server; }

  void on_request(net::ExchangeId exchange, net::ListenerId listener, const net::HttpRequest& request) override;
  void on_gone(net::ExchangeId) override {}

  struct Answer {
    int status = 200;
    std::string_view type = "text/plain; charset=utf-8";
    std::string body;
  };
  Answer answer(std::string_view method, std::string_view path) const;

 private:
  const Process& process_;
  std::function<std::optional<RecordingFigures>()> recording_;
  net::HttpServer* server_ = nullptr;
};

}  // namespace capstan::op
