#include "kube/credentials.h"

#include <algorithm>

#include "base/trimmed.h"
#include "kube/base64.h"
#include "kube/json.h"

namespace capstan::kube {
namespace {

/// Longest time before a plugin runs again, even if its credentials expire later or never.
constexpr Duration kPluginLifeMax = std::chrono::hours(12);
constexpr Duration kPollPlugin = std::chrono::milliseconds(20);

std::string cluster_info(const Config& config) {
  if (!config.exec || !config.exec->provide_cluster_info) return {};
  const std::string cluster = R"({"server":)" + json_quote(config.server) + R"(,"certificate-authority-data":)" +
                              json_quote(base64_encode(config.ca)) + R"(,"insecure-skip-tls-verify":)" +
                              (config.verify ? "false" : "true") + "}";
  return R"({"apiVersion":)" + json_quote(config.exec->api_version) +
         R"(,"kind":"ExecCredential","spec":{"interactive":false,"cluster":)" + cluster + "}}";
}

}  // namespace

Credentials::Credentials(Config config, ReadFile read_file, std::unique_ptr<Plugin> plugin, WallClock wall_clock)
    : config_(std::move(config)),
      read_file_(std::move(read_file)),
      plugin_(std::move(plugin)),
      wall_clock_(std::move(wall_clock)) {
  if (!config_.exec && config_.token_file.empty()) {
    use(config_.token, config_.certificate, config_.key);
    next_ = Instant::never();
  }
}

void Credentials::run_once(Instant now) {
  if (now < next_) return;
  if (!config_.token_file.empty()) {
    read_token_file(now);
  } else if (config_.exec) {
    run_plugin(now);
  }
}

void Credentials::refused() {
  if (config_.token_file.empty() && !config_.exec) return;
  next_ = {};
  if (config_.exec) ready_ = false;  // the old token of a token file stays in use until the next call reads the file
}

void Credentials::sign(net::Request& request) const {
  request.tls = tls_;
  request.proxy = config_.proxy;
  if (!authorization_.empty()) request.headers.push_back({"Authorization", authorization_});
}

void Credentials::read_token_file(Instant now) {
  const Result<std::string> text = read_file_(config_.token_file);
  if (!text) return failed(text.error(), now);
  const std::string token(trimmed(*text, " \t\r\n"));
  if (token.empty()) return failed(Error::about(config_.token_file, "the file is empty, expected a token"), now);
  use(token, config_.certificate, config_.key);
  next_ = now + kReadAgainAfter;
}

void Credentials::run_plugin(Instant now) {
  if (!plugin_runs_) {
    const Result<void> started = plugin_->start(*config_.exec, cluster_info(config_));
    if (!started) return failed(started.error(), now);
    plugin_runs_ = true;
    plugin_until_ = now + kPluginMax;
  }
  if (const std::optional<Result<std::string>> output = plugin_->poll()) {
    plugin_runs_ = false;
    take(*output, now);
  } else if (now >= plugin_until_) {
    plugin_->stop();
    plugin_runs_ = false;
    failed(Error::about({}, "exec plugin " + config_.exec->command + ": no answer within 30 s"), now);
  } else {
    next_ = now + kPollPlugin;
  }
}

/// Reads the output of the plugin, which should be an ExecCredential.
void Credentials::take(const Result<std::string>& output, Instant now) {
  const std::string plugin = "exec plugin " + config_.exec->command;
  if (!output) return failed(output.error(), now);
  JsonDocument document;
  const Result<Json> root = document.parse(*output);
  if (!root) return failed(Error::about({}, plugin + ": its output is " + root.error().message), now);
  if ((*root)["kind"].text() != "ExecCredential" || (*root)["apiVersion"].text() != config_.exec->api_version) {
    return failed(Error::about({}, plugin + ": its output is not an ExecCredential of " + config_.exec->api_version),
                  now);
  }
  const Json status = (*root)["status"];
  const std::string token(status["token"].text());
  const std::string certificate(status["clientCertificateData"].text());
  const std::string key(status["clientKeyData"].text());
  if (certificate.empty() != key.empty() || (token.empty() && certificate.empty())) {
    return failed(
        Error::about(
            {}, plugin + ": status has no credentials, expected token or both clientCertificateData and clientKeyData"),
        now);
  }
  Duration life = kPluginLifeMax;
  if (const std::string_view text = status["expirationTimestamp"].text(); !text.empty()) {
    const std::optional<WallTime> expires = read_wall_time(text);
    if (!expires)
      return failed(Error::about({}, plugin + ": status.expirationTimestamp is not a time, expected RFC 3339"), now);
    const std::int64_t left_us = std::clamp<std::int64_t>(expires->unix_us - wall_clock_().unix_us, 0,
                                                          kPluginLifeMax / std::chrono::microseconds(1));
    life = std::chrono::microseconds(left_us);
  }
  use(token, certificate.empty() ? config_.certificate : certificate, key.empty() ? config_.key : key);
  next_ = now + std::max(life - kExpiryMargin, std::min(life, kRetryAfterFailure));
}

/// Records an error. The old credentials stay in use, because they may still be valid.
void Credentials::failed(Error error, Instant now) {
  error_ = std::move(error);
  next_ = now + kRetryAfterFailure;
}

void Credentials::use(std::string token, const std::string& certificate, const std::string& key) {
  authorization_.clear();
  if (!token.empty()) {
    authorization_ = "Bearer " + std::move(token);
  } else if (!config_.username.empty()) {
    authorization_ = "Basic " + base64_encode(config_.username + ":" + config_.password);
  }
  net::Tls tls{.ca = config_.ca,
               .certificate = certificate,
               .key = key,
               .server_name = config_.server_name,
               .verify = config_.verify};
  if (!tls_ || !(*tls_ == tls)) tls_ = std::make_shared<const net::Tls>(std::move(tls));
  error_.reset();
  ready_ = true;
}

}  // namespace capstan::kube
