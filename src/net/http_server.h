#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "net/http_parser.h"
#include "net/http_request.h"
#include "net/monotonic.h"
#include "net/socket_address.h"

namespace capstan::net {

struct HttpServerLimits {
  HttpLimits request;
  std::size_t connections = 1024;            ///< largest number of connections; others wait in the kernel's backlog
  std::size_t output_bytes = 4 << 20;        ///< largest unsent output; a client with more is disconnected
  Duration idle = std::chrono::seconds(75);  ///< longest time of a connection without a request
  Duration request_time = std::chrono::seconds(30);  ///< longest time from the first to the last byte of a request
  Duration stalled = std::chrono::seconds(30);       ///< longest time without progress while output is pending
};

/// An address that the server listens on. Ids are never reused.
using ListenerId = Id<struct ListenerTag>;

/// One request with its reply, until the reply has ended or the client is gone. Ids are never reused.
enum class ExchangeId : std::uint64_t {};

/// Handles the requests of a server. It is called from within HttpServer::run_once and may call the server. `on_gone`
/// is also called from within HttpServer::close.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Takes a request, which must be answered now or later. A HEAD request is answered like a GET; the server leaves out
  /// the body.
  virtual void on_request(ExchangeId exchange, ListenerId listener, const HttpRequest& request) = 0;
  /// Reports that the client left before the end of its reply, which ends the exchange. A client that closes only its
  /// sending side counts as gone.
  virtual void on_gone(ExchangeId exchange) = 0;
};

struct HttpReply {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string_view body;
  std::vector<Header> headers = {};  ///< additional headers
};

/// An HTTP/1.1 server for many addresses in one thread, with non-blocking sockets and one epoll. Requests on one
/// connection are handled one after the other. Output is sent at the end of run_once(), so that everything for one
/// client is sent together.
///
/// Calls with an exchange that has ended do nothing, so a caller need not check whether the client has left.
class HttpServer {
 public:
  /// `handler` outlives the server.
  HttpServer(Clock clock, const HttpServerLimits& limits, HttpHandler& handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Binds an address; port 0 picks a free port. Connections are refused until the listener is opened. An error has
  /// the kind `input`, the address and the reason of the system.
  Result<ListenerId> bind(const SocketAddress& address);
  Result<void> open(ListenerId listener);
  /// Binds and opens an address.
  Result<ListenerId> listen(const SocketAddress& address);
  const SocketAddress& address(ListenerId listener) const;  ///< address with the actual port

  /// Effect of a closed listener on its connections: they stay, or they are cut at once as if the process were killed.
  /// A cut also ends their exchanges.
  enum class Connections : std::uint8_t { stay, cut };
  void close(ListenerId listener, Connections connections);

  /// Closes all listeners and idle connections. The other connections close when their reply has ended.
  void finish();
  std::size_t connections() const { return open_; }

  void reply(ExchangeId exchange, const HttpReply& reply);

  // These functions send a reply in pieces.
  void begin(ExchangeId exchange, int status, std::string_view content_type);
  void write(ExchangeId exchange, std::string_view piece);
  void end(ExchangeId exchange);

  /// Waits for events for at most `max_wait`, handles them and sends pending output. Returns true if there were events.
  bool run_once(Duration max_wait);

  /// Returns a descriptor for another event loop. It is readable if a socket has an event. Deadlines of connections,
  /// and output that was written since the last run_once(), do not make it readable.
  int poll_fd() const { return epoll_; }

 private:
  struct Connection;
  struct Listener;

  void accept_from(std::uint32_t index);
  void pause_accepting(bool paused);
  void on_event(std::uint32_t index, std::uint32_t events);
  bool receive(Connection& c);
  void take_bytes(Connection& c, std::string_view bytes);
  void next_request(Connection& c);
  void refuse(Connection& c);
  void flush(Connection& c);
  void ended(Connection& c);
  void flush_all();
  void update_events(Connection& c);
  void mark_dirty(Connection& c);
  void drop(Connection& c);
  void sweep();
  Connection* find(ExchangeId exchange);
  void head(Connection& c, int status, std::string_view content_type, const std::vector<Header>& headers);

  Clock clock_;
  HttpServerLimits limits_;
  HttpHandler& handler_;
  int epoll_ = -1;
  Instant now_{};
  Instant next_sweep_{};
  bool finishing_ = false;
  bool paused_ = false;
  std::size_t open_ = 0;
  std::uint32_t serial_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;  ///< connections by index; null: the index is free
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> freed_;  ///< indices freed in this round; later events of the round may still have them
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::uint32_t> dirty_;  ///< connections with pending output
};

}  // namespace capstan::net
