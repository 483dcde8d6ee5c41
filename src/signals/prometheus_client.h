#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "net/http.h"
#include "net/monotonic.h"
#include "signals/prometheus_api.h"

namespace capstan::signals {

/// Address and credentials for a server with Prometheus' HTTP API.
struct PrometheusServer {
  std::string url;                   ///< "https://prometheus.monitoring:9090", with a path prefix if the server has one
  std::vector<net::Header> headers;  ///< headers of every query, such as X-Scope-OrgID
  std::string bearer_token_file;     ///< path of the file with the token; empty: no token
  std::string ca_file;               ///< trusted authorities in PEM; empty: the system's
  std::string certificate_file;      ///< client certificate for mTLS; empty: none
  std::string key_file;              ///< key of the client certificate
  Duration timeout = std::chrono::seconds(10);
  std::size_t body_bytes = 64u << 20;
};

/// Time after which credential files are read again: tokens and certificates rotate while the program runs.
inline constexpr Duration kCredentialAge = std::chrono::seconds(30);

/// Sends queries. It never blocks: answers arrive from the transport's loop. All errors name the file or the URL.
class PrometheusClient {
 public:
  using Callback = std::function<void(Result<ApiAnswer>)>;

  /// `transport` outlives the client. Requests in flight when the client ends are cancelled.
  PrometheusClient(net::Transport& transport, net::Clock clock, PrometheusServer server);
  ~PrometheusClient();
  PrometheusClient(const PrometheusClient&) = delete;
  PrometheusClient& operator=(const PrometheusClient&) = delete;

  /// Asks for the value of an expression at `unix_ms` (milliseconds since 1970; empty: the server's current time).
  /// Returns an error, and does not call `done`, if a credential file cannot be read or is not valid.
  Result<void> instant(const std::string& query, std::optional<std::int64_t> unix_ms, Callback done);
  /// Asks for the values from `start_ms` to `end_ms`, one every `step`.
  Result<void> range(const std::string& query, std::int64_t start_ms, std::int64_t end_ms, Duration step,
                     Callback done);

  std::size_t in_flight() const { return requests_.size(); }

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  Result<void> ask(const std::string& path, const Fields& fields, Callback done);
  Result<void> refresh_credentials();
  Result<ApiAnswer> read(const net::Exchange& exchange, const std::string& url) const;

  net::Transport& transport_;
  net::Clock clock_;
  PrometheusServer server_;
  std::optional<Instant> credentials_at_;
  std::string token_;
  std::shared_ptr<const net::Tls> tls_;
  std::set<net::RequestId> requests_;
};

}  // namespace capstan::signals
