#include "operator/loop/endpoints.h"

namespace capstan::op {

Endpoints::Answer Endpoints::answer(std::string_view method, std::string_view path) const {
  Answer answer;
  if (method != "GET" && method != "HEAD") {
    answer.status = 405;
  } else if (path == "/healthz" || path == "/livez") {
    answer.body = "ok\n";
  } else if (path == "/metrics") {
    answer.type = "text/plain; version=0.0.4; charset=utf-8";
    answer.body = metrics_page(process_, recording_ ? recording_() : std::nullopt);
  } else if (path == "/readyz") {
    // A standby is ready too: it knows the cluster and can take over.
    for (const std::string& line : process_.loop().watch().waiting_for()) answer.body += "waits for " + line + "\n";
    for (const auto& [kind, age] : process_.too_old()) {
      answer.body += "has received nothing about " + kind + " for " + std::to_string(whole_seconds(age)) + " s\n";
    }
    answer.status = answer.body.empty() ? 200 : 503;
    if (answer.body.empty()) answer.body = "ok\n";
  } else {
    answer.status = 404;
  }
  return answer;
}

void Endpoints::on_request(net::ExchangeId exchange, net::ListenerId, const net::HttpRequest& request) {
  const Answer given = answer(request.method, request.path);
  server_->reply(exchange, {.status = given.status, .content_type = given.type, .body = given.body, .headers = {}});
}

}  // namespace capstan::op
