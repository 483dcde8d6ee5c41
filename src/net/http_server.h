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
  std::size_t connections = 1024;                    ///< at once; more wait in the kernel's backlog
  std::size_t output_bytes = 4 << 20;                ///< a client that lets more pile up is cut off
  Duration idle = std::chrono::seconds(75);          ///< a connection without a request
  Duration request_time = std::chrono::seconds(30);  ///< from a request's first byte to its last
  Duration stalled = std::chrono::seconds(30);       ///< a client that takes nothing of what is there for it
};

/// An address that the server listens on. Never used again.
using ListenerId = Id<struct ListenerTag>;

/// One request and its reply, until the reply has ended or the client has gone. Never used again.
enum class ExchangeId : std::uint64_t {};

/// What a server does with requests. Called from within HttpServer::run_once, and may call the server.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Must be answered, now or later. A HEAD request is answered as a GET would be; the server leaves out the body.
  virtual void on_request(ExchangeId exchange, ListenerId listener, const HttpRequest& request) = 0;
  /// The client went away before its reply had ended: the exchange is over. A client that only closes its sending side
  /// counts as gone.
  virtual void on_gone(ExchangeId exchange) = 0;
};

struct HttpReply {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string_view body;
  std::vector<Header> headers = {};  ///< more of them
};

/// An HTTP/1.1 server for many addresses in one thread: non-blocking sockets, one epoll, requests one after another on
/// each connection. Nothing is written before the end of run_once(), so that what a round has to
/// say to a client goes out in one piece.
///
/// Calls with an exchange that is over do nothing: whoever answers late need not know that the client left.
class HttpServer {
 public:
  /// `handler` outlives the server.
  HttpServer(Clock clock, const HttpServerLimits& limits, HttpHandler& handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Takes the address; port 0 picks a free one. Connections are refused until it is opened. Error (input): the address
  /// and the system's reason.
  Result<ListenerId> bind(const SocketAddress& address);
  Result<void> open(ListenerId listener);
  /// Both.
  Result<ListenerId> listen(const SocketAddress& address);
  const SocketAddress& address(ListenerId listener) const;  ///< with the port that it really has

  /// No new connections there. Those that are stay, or are cut off at once as when a process is killed; then their
  /// exchanges are gone.
  enum class Connections : std::uint8_t { stay, cut };
  void close(ListenerId listener, Connections connections);

  /// No new connections anywhere, idle ones are closed, and the others as soon as their reply has ended.
  void finish();
  std::size_t connections() const { return open_; }

  void reply(ExchangeId exchange, const HttpReply& reply);

  // A reply in pieces.
  void begin(ExchangeId exchange, int status, std::string_view content_type);
  void write(ExchangeId exchange, std::string_view piece);
  void end(ExchangeId exchange);

  /// Handles what there is, waiting at most `max_wait` for it, and sends what was written. True if anything happened.
  bool run_once(Duration max_wait);

  /// Readable when run_once() has something to do: for a loop that waits for other things too.
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
  void want(Connection& c);
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
  std::vector<std::unique_ptr<Connection>> connections_;  ///< by index; an absent one is free
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> freed_;  ///< in this round: events of it may still name them
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::uint32_t> dirty_;  ///< connections with something to send
};

}  // namespace capstan::net
