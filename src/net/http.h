#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace capstan::net {

struct Header {
  std::string name;
  std::string value;
  friend bool operator==(const Header&, const Header&) = default;
};

/// Returns the value of the first header with this name (in any case), or null.
const std::string* find_header(const std::vector<Header>& headers, std::string_view name);

/// Trusted authorities and client certificate. All certificates and keys are PEM texts in memory; no file is read.
struct Tls {
  std::string ca;           ///< trusted authorities; empty: those of the system
  std::string certificate;  ///< client certificate with its chain; empty: none
  std::string key;          ///< key of the client certificate
  std::string server_name;  ///< name to verify and to send as SNI; empty: the host of the URL
  bool verify = true;       ///< whether to verify the server; false only if the user asks for it
  friend bool operator==(const Tls&, const Tls&) = default;
};

/// Limits of an exchange. A duration of 0 means no limit.
struct Limits {
  Duration connect = std::chrono::seconds(5);  ///< time until a connection is ready, including the wait for a free one
  Duration total = std::chrono::seconds(30);   ///< time from the start to the last byte
  Duration idle{};                             ///< time without a received byte
  std::size_t header_bytes = 64u << 10;
  std::size_t body_bytes = 16u << 20;  ///< bytes of the body; 0: no limit, for streams only
};

struct Request {
  std::string method = "GET";
  std::string url;  ///< URL with the scheme http or https
  std::vector<Header> headers;
  std::string body;
  /// TLS settings; null: the defaults. Requests with equal settings share connections, even if the pointers differ.
  std::shared_ptr<const Tls> tls;
  std::string proxy;  ///< URL of the proxy; empty: none, even if the environment sets one
  Limits limits;
};

struct Response {
  int status = 0;  ///< HTTP status; 0 if no status line has arrived
  std::vector<Header> headers;
  std::string body;  ///< whole body; empty if the handler takes it in pieces
};

/// Reason why an exchange ended without a complete response.
enum class Failure : std::uint8_t {
  none,
  refused,          ///< this client refused the request: an invalid URL or header, or too many requests
  resolve,          ///< the name of the host has no address
  connect,          ///< connection refused, or no route
  tls,              ///< invalid certificate, or the handshake failed
  connect_timeout,  ///< `Limits::connect` exceeded
  total_timeout,    ///< `Limits::total` exceeded
  idle_timeout,     ///< `Limits::idle` exceeded
  lost,             ///< the connection ended during the response
  too_large,        ///< `Limits::header_bytes` or `Limits::body_bytes` exceeded
  protocol,         ///< the response is not HTTP
};

std::string_view name_of(Failure failure);

/// The result of an exchange.
struct Exchange {
  Failure failure = Failure::none;
  std::string message;  ///< description of a failure, for people
  bool sent = false;    ///< the server may have the request, so a failed request may have taken effect
  Response response;    ///< everything that was received

  bool ok() const { return failure == Failure::none; }
};

/// Callbacks for a response. They are called from within `HttpClient::run_once` and may start and cancel requests.
struct Handler {
  std::function<void(const Response&)> on_headers;  ///< called with status and headers; may be empty
  /// Called with each piece of the body; empty: the body is collected in `Response::body`.
  std::function<void(std::string_view)> on_body;
  std::function<void(Exchange)> on_done;  ///< called once, at the end; never after `cancel`
};

using RequestId = std::uint64_t;  ///< unique, never 0

/// Sends requests and delivers responses: an `HttpClient`, or a fake server in a test.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Starts a request. It never blocks and returns before the handler is called.
  virtual RequestId start(Request request, Handler handler) = 0;
  /// Cancels a request, which the server may already have. Unknown ids are ignored.
  virtual void cancel(RequestId id) = 0;
};

}  // namespace capstan::net
