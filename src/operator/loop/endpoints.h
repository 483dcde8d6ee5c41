#pragma once

#include <string>
#include <string_view>

#include "net/http_server.h"
#include "operator/loop/process.h"

namespace capstan::op {

/// What a process answers over HTTP: /metrics, /healthz (it turns, or nobody would answer) and /readyz (it knows the
/// cluster; otherwise what it waits for, a line each). Others: 404.
class Endpoints final : public net::HttpHandler {
 public:
  explicit Endpoints(const Process& process) : process_(process) {}
  /// The server outlives the handler's requests.
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
  net::HttpServer* server_ = nullptr;
};

}  // namespace capstan::op
