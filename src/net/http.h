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

/// The value of the first header of that name (any case), or null.
const std::string* find_header(const std::vector<Header>& headers, std::string_view name);

/// Whom to trust and who we are. All certificates and keys are PEM texts in memory; no file is read.
struct Tls {
  std::string ca;           ///< empty: the system's certificate authorities
  std::string certificate;  ///< ours, with its chain; empty: none
  std::string key;          ///< ours
  std::string server_name;  ///< to verify and to send as SNI instead of the URL's host; empty: the URL's host
  bool verify = true;       ///< false only where a user said so
  friend bool operator==(const Tls&, const Tls&) = default;
};

/// What an exchange may cost. A duration of zero is no bound.
struct Limits {
  Duration connect = std::chrono::seconds(5);  ///< until the connection is ready, the wait for a free one included
  Duration total = std::chrono::seconds(30);   ///< from start to the last byte
  Duration idle{};                             ///< without one byte received
  std::size_t header_bytes = 64u << 10;
  std::size_t body_bytes = 16u << 20;  ///< of a body, streamed or collected; 0: no bound (only sensible when streamed)
};

struct Request {
  std::string method = "GET";
  std::string url;  ///< http or https
  std::vector<Header> headers;
  std::string body;
  std::shared_ptr<const Tls> tls;  ///< shared by all requests of one server: equal contents share connections
  std::string proxy;               ///< URL; empty: none, whatever the environment says
  Limits limits;
};

struct Response {
  int status = 0;  ///< 0 until the headers are complete
  std::vector<Header> headers;
  std::string body;  ///< empty where the handler streams
};

/// Why an exchange ended without a whole response.
enum class Failure : std::uint8_t {
  none,
  refused,          ///< by this client: a malformed URL or header, or more requests than its bound
  resolve,          ///< no address for the host's name
  connect,          ///< nobody listens, no route
  tls,              ///< certificate or handshake
  connect_timeout,  ///< `Limits::connect`
  total_timeout,    ///< `Limits::total`
  idle_timeout,     ///< `Limits::idle`
  lost,             ///< the connection ended in the middle
  too_large,        ///< `Limits::header_bytes` or `Limits::body_bytes`
  protocol,         ///< not HTTP
};

std::string_view name_of(Failure failure);

/// How an exchange ended.
struct Exchange {
  Failure failure = Failure::none;
  std::string message;  ///< of a failure, for people
  bool sent = false;    ///< the server may have seen the request: after a failure, whether it took effect is unknown
  Response response;    ///< as far as it came

  bool ok() const { return failure == Failure::none; }
};

/// What to do with a response. Called from within `HttpClient::run_once`; may start and cancel requests.
struct Handler {
  std::function<void(const Response&)> on_headers;  ///< status and headers are there; may be empty
  std::function<void(std::string_view)> on_body;    ///< a piece, as it arrives; empty: collected in `Response::body`
  std::function<void(Exchange)> on_done;            ///< once, and last; never after `cancel`
};

using RequestId = std::uint64_t;  ///< never used again, never 0

/// Something that exchanges requests for responses: an `HttpClient`, or a server of a test.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Never blocks and never calls the handler before it returns.
  virtual RequestId start(Request request, Handler handler) = 0;
  /// Forgets a request; unknown ids are ignored. The server may have seen it.
  virtual void cancel(RequestId id) = 0;
};

}  // namespace capstan::net
