#include "signals/prometheus_client.h"

#include "base/file.h"

namespace capstan::signals {
namespace {

constexpr std::size_t kMaxCredentialBytes = 1u << 20;

Result<std::string> read_credential(const std::string& path, const char* expected) {
  std::expected<std::string, FileFault> text = read_file(path, kMaxCredentialBytes);
  if (text && !text->empty()) return std::move(*text);
  const bool size = text || text.error() == FileFault::too_large;
  return std::unexpected(Error{
      .file = path, .message = std::string(size ? "empty or too large" : "cannot be read") + ", expected " + expected});
}

/// Returns a time in seconds with three decimals, as the API expects it.
std::string seconds_text(std::int64_t ms) {
  const std::string sign = ms < 0 ? "-" : "";
  const std::int64_t size = ms < 0 ? -ms : ms;
  const std::string fraction = std::to_string(1000 + size % 1000).substr(1);
  return sign + std::to_string(size / 1000) + "." + fraction;
}

}  // namespace

PrometheusClient::PrometheusClient(net::Transport& transport, net::Clock clock, PrometheusServer server)
    : transport_(transport), clock_(std::move(clock)), server_(std::move(server)) {
  while (server_.url.ends_with('/')) server_.url.pop_back();
}

PrometheusClient::~PrometheusClient() {
  for (const net::RequestId id : requests_) transport_.cancel(id);
}

Result<void> PrometheusClient::instant(const std::string& query, std::optional<std::int64_t> unix_ms, Callback done) {
  Fields fields = {{"query", query}};
  if (unix_ms) fields.emplace_back("time", seconds_text(*unix_ms));
  return ask("/api/v1/query", fields, std::move(done));
}

Result<void> PrometheusClient::range(const std::string& query, std::int64_t start_ms, std::int64_t end_ms,
                                     Duration step, Callback done) {
  const std::int64_t step_ms = step / std::chrono::milliseconds(1);
  if (end_ms < start_ms || step_ms <= 0) {
    return std::unexpected(Error{
        .kind = ErrorKind::usage,
        .file = server_.url,
        .message =
            "the range ends before it starts or its step is below 1 ms, expected start <= end and a longer step"});
  }
  return ask("/api/v1/query_range",
             {{"query", query},
              {"start", seconds_text(start_ms)},
              {"end", seconds_text(end_ms)},
              {"step", seconds_text(step_ms)}},
             std::move(done));
}

Result<void> PrometheusClient::refresh_credentials() {
  const Instant now = clock_();
  if (credentials_at_ && now - *credentials_at_ < kCredentialAge) return {};
  if (!server_.bearer_token_file.empty()) {
    Result<std::string> token = read_credential(server_.bearer_token_file, "a bearer token");
    if (!token) return std::unexpected(token.error());
    while (!token->empty() && (token->back() == '\n' || token->back() == '\r' || token->back() == ' '))
      token->pop_back();
    for (const char c : *token) {
      if (c <= ' ' || c >= 0x7f) {
        return std::unexpected(Error{
            .file = server_.bearer_token_file,
            .message =
                "the token contains a blank, a control character or a byte outside ASCII, expected a bearer token"});
      }
    }
    token_ = std::move(*token);
  }
  net::Tls tls;
  const struct {
    const std::string& path;
    const char* expected;
    std::string& text;
  } files[] = {{server_.ca_file, "certificates of authorities in PEM", tls.ca},
               {server_.certificate_file, "a certificate in PEM", tls.certificate},
               {server_.key_file, "a key in PEM", tls.key}};
  for (const auto& file : files) {
    if (file.path.empty()) continue;
    Result<std::string> text = read_credential(file.path, file.expected);
    if (!text) return std::unexpected(text.error());
    file.text = std::move(*text);
  }
  if (tls.certificate.empty() != tls.key.empty()) {
    return std::unexpected(Error{.file = tls.key.empty() ? server_.certificate_file : server_.key_file,
                                 .message = "only one of certificate and key is set, expected both"});
  }
  if (!tls_ || !(*tls_ == tls)) tls_ = std::make_shared<const net::Tls>(std::move(tls));
  credentials_at_ = now;
  return {};
}

Result<void> PrometheusClient::ask(const std::string& path, const Fields& fields, Callback done) {
  if (Result<void> fresh = refresh_credentials(); !fresh) return fresh;
  net::Request request;
  request.method = "POST";  // a query may be longer than a URL
  request.url = server_.url + path;
  request.headers = server_.headers;
  request.headers.push_back({"Content-Type", "application/x-www-form-urlencoded"});
  if (!token_.empty()) request.headers.push_back({"Authorization", "Bearer " + token_});
  request.body = form_encoded(fields);
  request.tls = tls_;
  request.limits.connect = server_.timeout;
  request.limits.total = server_.timeout;
  request.limits.body_bytes = server_.body_bytes;
  const auto id = std::make_shared<net::RequestId>(0);
  net::Handler handler;
  handler.on_done = [this, id, url = request.url, done = std::move(done)](const net::Exchange& exchange) {
    requests_.erase(*id);
    if (exchange.response.status == 401) credentials_at_.reset();  // the file may have a newer token
    done(read(exchange, url));
  };
  *id = transport_.start(std::move(request), std::move(handler));
  requests_.insert(*id);
  return {};
}

Result<ApiAnswer> PrometheusClient::read(const net::Exchange& exchange, const std::string& url) const {
  const auto failure = [&](std::string message) {
    return std::unexpected(Error{.file = url, .message = std::move(message)});
  };
  if (!exchange.ok()) {
    return failure("the query failed (" + std::string(net::name_of(exchange.failure)) + "): " + exchange.message);
  }
  Result<ApiAnswer> answer = parse_api_answer(exchange.response.body, url);
  const int status = exchange.response.status;
  if (status == 200) return answer;
  // Prometheus reports its errors as JSON with a status of 4xx or 5xx. A proxy in front of it may answer in any format.
  const bool has_message = !answer && answer.error().message.find("Prometheus API") == std::string::npos;
  return failure("HTTP status " + std::to_string(status) +
                 (has_message ? ": " + answer.error().message : ", expected 200"));
}

}  // namespace capstan::signals
