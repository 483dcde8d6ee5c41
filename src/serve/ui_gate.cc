#include "serve/ui_gate.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "kube/base64.h"
#include "net/http.h"
#include "serve/guard.h"

namespace capstan::serve {
namespace {

using Verdict = kube::AccessVerdict;

constexpr std::string_view kRoot = "/ui";

/// Makes a browser ask for a name and a password.
constexpr std::string_view kChallenge =
    R"(Basic realm="Capstan: any name, and a token of the cluster as the password")";

/// Returns the path below /ui as the dashboard knows it: "/api/events" for "/ui/api/events".
std::string inner_path(std::string_view path) {
  if (path == kRoot) return "/";
  return std::string(path.starts_with("/ui/") ? path.substr(kRoot.size()) : path);
}

/// Returns the part after the name of a scheme, such as "Bearer"; nothing if the value has another scheme.
std::optional<std::string_view> after_scheme(std::string_view value, std::string_view scheme) {
  if (value.size() <= scheme.size() || value[scheme.size()] != ' ') return std::nullopt;
  if (!equal_any_case(value.substr(0, scheme.size()), scheme)) return std::nullopt;
  value.remove_prefix(scheme.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

}  // namespace

std::string token_of(const net::HttpRequest& request) {
  const auto is_authorization = [](const net::Header& header) { return equal_any_case(header.name, "Authorization"); };
  if (std::ranges::count_if(request.headers, is_authorization) != 1) return {};
  const std::string& value = std::ranges::find_if(request.headers, is_authorization)->value;
  if (const auto token = after_scheme(value, "Bearer")) return std::string(*token);
  const auto login = after_scheme(value, "Basic");
  const auto decoded = login ? kube::base64_decode(*login) : std::nullopt;
  if (!decoded) return {};
  const std::size_t colon = decoded->find(':');
  return colon == decoded->npos ? std::string() : decoded->substr(colon + 1);
}

UiGate::UiGate(Dashboard& dashboard, Access access, kube::AccessReviewer& reviewer, net::Clock clock)
    : dashboard_(dashboard), access_(std::move(access)), reviewer_(reviewer), clock_(std::move(clock)) {}

void UiGate::answer_on(net::HttpServer& server) {
  server_ = &server;
  dashboard_.answer_on(server);
}

void UiGate::on_request(net::ExchangeId exchange, net::ListenerId listener, const net::HttpRequest& request) {
  net::HttpRequest inner = request;
  inner.path = inner_path(request.path);
  // These checks come before the token is reviewed. A page of another site can make a browser send its token, and such
  // a request must not even reach the API server.
  if (const std::optional<Refusal> refused = refusal(inner, access_)) {
    return dashboard_.send_error(exchange, refused->status, refused->why);
  }
  if (inner.method == "POST") return dashboard_.send_error(exchange, 405, "nothing can be changed here");
  std::string token = token_of(request);
  waiting_.insert(exchange);
  reviewer_.review(token, [this, exchange, listener, inner = std::move(inner), token](const Verdict& verdict) {
    if (waiting_.erase(exchange) == 0) return;  // the client has left
    if (verdict.kind != Verdict::Kind::allowed) return refuse(exchange, verdict);
    dashboard_.on_request(exchange, listener, inner);
    if (dashboard_.streams(exchange)) streams_[exchange] = {token, clock_() + kReviewAgainAfter};
  });
}

void UiGate::refuse(net::ExchangeId exchange, const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::allowed:
      return;
    case Verdict::Kind::unknown_token:
      return dashboard_.send_error(exchange, 401, verdict.why, {{"WWW-Authenticate", std::string(kChallenge)}});
    case Verdict::Kind::forbidden:
      return dashboard_.send_error(exchange, 403, verdict.why);
    case Verdict::Kind::unavailable:
      return dashboard_.send_error(exchange, 503, verdict.why, {{"Retry-After", "5"}});
  }
}

void UiGate::on_gone(net::ExchangeId exchange) {
  waiting_.erase(exchange);
  streams_.erase(exchange);
  dashboard_.on_gone(exchange);
}

void UiGate::run_once() {
  std::erase_if(streams_, [&](const auto& entry) { return !dashboard_.streams(entry.first); });
  const Instant now = clock_();
  std::vector<std::pair<net::ExchangeId, std::string>> due;
  for (auto& [exchange, stream] : streams_) {
    if (now < stream.review_at) continue;
    stream.review_at = now + kReviewAgainAfter;
    due.emplace_back(exchange, stream.token);
  }
  for (const auto& [exchange, token] : due) {
    reviewer_.review(token, [this, exchange](const Verdict& verdict) {
      if (verdict.kind == Verdict::Kind::allowed || !streams_.contains(exchange)) return;
      on_gone(exchange);
      server_->end(exchange);
    });
  }
}

Instant UiGate::next_deadline() const {
  Instant next = Instant::never();
  for (const auto& [exchange, stream] : streams_) next = std::min(next, stream.review_at);
  return next;
}

}  // namespace capstan::serve
