#include "net/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/known_row.h"

namespace capstan::net {
namespace {

constexpr std::uint64_t kListenerBit = std::uint64_t{1} << 63;
constexpr std::size_t kReadBytes = 65'536;
constexpr std::size_t kPipelinedBytesMax = 65'536;  // bytes of later requests that a client may send before its reply
constexpr std::size_t kDiscardedBytesMax =
    1 << 20;  // bytes to discard after the last reply of a connection; it is dropped if more arrive
constexpr int kBacklog = 1024;
constexpr int kEventsARound = 256;
constexpr int kAcceptsARound = 64;
constexpr Duration kSweepEvery = std::chrono::seconds(1);
constexpr Duration kLinger = std::chrono::seconds(2);

/// Owns a descriptor.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

std::string_view status_text(int status) {
  constexpr std::pair<int, std::string_view> kTexts[] = {{100, "Continue"},
                                                         {200, "OK"},
                                                         {204, "No Content"},
                                                         {400, "Bad Request"},
                                                         {401, "Unauthorized"},
                                                         {403, "Forbidden"},
                                                         {404, "Not Found"},
                                                         {405, "Method Not Allowed"},
                                                         {409, "Conflict"},
                                                         {413, "Content Too Large"},
                                                         {415, "Unsupported Media Type"},
                                                         {417, "Expectation Failed"},
                                                         {422, "Unprocessable Content"},
                                                         {429, "Too Many Requests"},
                                                         {431, "Request Header Fields Too Large"},
                                                         {500, "Internal Server Error"},
                                                         {501, "Not Implemented"},
                                                         {503, "Service Unavailable"},
                                                         {505, "HTTP Version Not Supported"}};
  for (const auto& [code, text] : kTexts) {
    if (code == status) return text;
  }
  return "Status";
}

struct NativeAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

NativeAddress native(const SocketAddress& address) {
  NativeAddress out;
  if (address.host.find(':') == address.host.npos) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(out.storage);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr);
    out.size = sizeof v4;
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(out.storage);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr);
    out.size = sizeof v6;
  }
  return out;
}

std::uint16_t bound_port(int fd) {
  NativeAddress bound;
  bound.size = sizeof bound.storage;
  getsockname(fd, bound.get(), &bound.size);
  const bool v4 = bound.storage.ss_family == AF_INET;
  return ntohs(v4 ? reinterpret_cast<sockaddr_in&>(bound.storage).sin_port
                  : reinterpret_cast<sockaddr_in6&>(bound.storage).sin6_port);
}

void watch_listener(int epoll, int operation, int fd, std::uint32_t listener) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = kListenerBit | listener}};
  epoll_ctl(epoll, operation, fd, &event);
}

Error not_available(const SocketAddress& address) {
  return {.file = address.text(),
          .message = fmt::format("cannot listen on this address: {}, expected a free address of this machine",
                                 std::strerror(errno))};
}

}  // namespace

struct HttpServer::Listener {
  Listener(int fd, SocketAddress on, std::size_t at)
      : socket(fd), address(std::move(on)), index(static_cast<std::uint32_t>(at)) {}

  Socket socket;
  SocketAddress address;
  std::uint32_t index;
  bool open = false;
};

/// A connection of a client. Up to `kPipelinedBytesMax`, its data is read even while a reply is pending, so that a
/// closed connection is noticed.
struct HttpServer::Connection {
  enum class Phase : std::uint8_t {
    reading,  ///< waits for a request, or reads one
    waiting,  ///< waits for the reply
    closing,  ///< sends nothing more and discards what the client sends, until the client closes too
  };

  Connection(int fd, std::uint32_t at, ListenerId from, const HttpLimits& limits)
      : socket(fd), index(at), listener(from), parser(limits) {}

  Socket socket;
  std::uint32_t index;
  ListenerId listener;
  HttpParser parser;
  Phase phase = Phase::reading;
  std::uint32_t serial = 0;   ///< number of the current exchange
  std::uint32_t watched = 0;  ///< events that epoll watches
  bool dirty = false;
  bool began = false;    ///< the head of the reply is written
  bool ended = false;    ///< the whole reply is written
  bool chunks = false;   ///< the body of the reply is chunked
  bool no_body = false;  ///< the reply has no body (HEAD)
  bool keep_alive = true;
  std::string next_input;  ///< received data after the current request
  std::string output;
  std::size_t sent = 0;  ///< bytes of `output` that are sent
  std::size_t discarded_bytes = 0;
  Instant deadline;

  std::size_t unsent() const { return output.size() - sent; }
};

HttpServer::HttpServer(Clock clock, const HttpServerLimits& limits, HttpHandler& handler)
    : clock_(std::move(clock)),
      limits_(limits),
      handler_(handler),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      now_(clock_()),
      next_sweep_(now_ + kSweepEvery) {
  CAPSTAN_ASSERT(epoll_ >= 0);
}

HttpServer::~HttpServer() {
  connections_.clear();
  listeners_.clear();
  ::close(epoll_);
}

// --- listening ---

Result<ListenerId> HttpServer::bind(const SocketAddress& address) {
  NativeAddress wanted = native(address);
  const int fd = ::socket(wanted.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  auto listener = std::make_unique<Listener>(fd, address, listeners_.size());
  const int on = 1;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd, wanted.get(), wanted.size) != 0) {
    return std::unexpected(not_available(address));
  }
  listener->address.port = bound_port(fd);
  listeners_.push_back(std::move(listener));
  return ListenerId{listeners_.back()->index};
}

Result<void> HttpServer::open(ListenerId listener) {
  const int fd = known_row(listeners_, listener.value)->socket.fd();
  if (::listen(fd, kBacklog) != 0) return std::unexpected(not_available(address(listener)));
  listeners_[listener.value]->open = true;
  if (!paused_) watch_listener(epoll_, EPOLL_CTL_ADD, fd, listener.value);
  return {};
}

Result<ListenerId> HttpServer::listen(const SocketAddress& address) {
  const Result<ListenerId> listener = bind(address);
  if (!listener) return listener;
  const Result<void> opened = open(*listener);
  if (opened) return listener;
  close(*listener, Connections::stay);
  return std::unexpected(opened.error());
}

const SocketAddress& HttpServer::address(ListenerId listener) const {
  return known_row(listeners_, listener.value)->address;
}

void HttpServer::close(ListenerId listener, Connections connections) {
  known_row(listeners_, listener.value).reset();
  if (connections == Connections::stay) return;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (connections_[i] && connections_[i]->listener == listener) drop(*connections_[i]);
  }
}

void HttpServer::finish() {
  finishing_ = true;
  for (auto& listener : listeners_) listener.reset();
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    Connection* c = connections_[i].get();
    if (c == nullptr) continue;
    c->keep_alive = false;
    if (c->phase == Connection::Phase::reading && !c->parser.began() && c->unsent() == 0) drop(*c);
  }
}

/// Stops or resumes watching the listeners. They are not watched while the server has its maximum of connections. If
/// the system has no descriptor or memory for another connection, they are not watched until one ends.
void HttpServer::pause_accepting(bool paused) {
  if (paused_ == paused) return;
  paused_ = paused;
  for (const auto& listener : listeners_) {
    if (!listener || !listener->open) continue;
    watch_listener(epoll_, paused ? EPOLL_CTL_DEL : EPOLL_CTL_ADD, listener->socket.fd(), listener->index);
  }
}

void HttpServer::accept_from(std::uint32_t index) {
  for (int i = 0; i < kAcceptsARound && listeners_[index] && !paused_; ++i) {
    const int fd = accept4(listeners_[index]->socket.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) pause_accepting(true);
      return;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto at = static_cast<std::uint32_t>(connections_.size());
    if (free_.empty()) {
      connections_.emplace_back();
    } else {
      at = free_.back();
      free_.pop_back();
    }
    connections_[at] = std::make_unique<Connection>(fd, at, ListenerId{index}, limits_.request);
    Connection& c = *connections_[at];
    c.deadline = now_ + limits_.idle;
    epoll_event event{.events = EPOLLIN | EPOLLRDHUP, .data = {.u64 = at}};
    c.watched = event.events;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    if (++open_ >= limits_.connections) pause_accepting(true);
  }
}

// --- reading ---

bool HttpServer::run_once(Duration max_wait) {
  now_ = clock_();
  flush_all();
  for (const std::uint32_t index : std::exchange(freed_, {})) free_.push_back(index);
  std::array<epoll_event, kEventsARound> events;
  const Duration wait = open_ > 0 ? std::min(max_wait, kSweepEvery) : max_wait;
  const auto wait_ms =
      std::chrono::ceil<std::chrono::milliseconds>(std::clamp<Duration>(wait, Duration{}, kSweepEvery * 60));
  const int count = epoll_wait(epoll_, events.data(), kEventsARound, static_cast<int>(wait_ms.count()));
  now_ = clock_();
  for (int i = 0; i < count; ++i) {
    const std::uint64_t source = events[static_cast<std::size_t>(i)].data.u64;
    if ((source & kListenerBit) != 0) {
      accept_from(static_cast<std::uint32_t>(source));
    } else {
      on_event(static_cast<std::uint32_t>(source), events[static_cast<std::size_t>(i)].events);
    }
  }
  flush_all();
  if (now_ >= next_sweep_) sweep();
  return count > 0;
}

void HttpServer::on_event(std::uint32_t index, std::uint32_t events) {
  Connection* c = connections_[index].get();
  if (c == nullptr) return;  // an earlier event of this round dropped it
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return drop(*c);
  if ((events & EPOLLIN) != 0 && !receive(*c)) return drop(*c);
  if (connections_[index].get() != c) return;
  // The client has closed its side and nothing more is read, so the connection is over.
  if ((events & EPOLLRDHUP) != 0 && (c->watched & EPOLLIN) == 0) return drop(*c);
  if ((events & EPOLLOUT) != 0) mark_dirty(*c);
}

/// Reads available data. Returns false if the client is gone.
bool HttpServer::receive(Connection& c) {
  std::array<char, kReadBytes> buffer;
  const ssize_t got = recv(c.socket.fd(), buffer.data(), buffer.size(), 0);
  if (got == 0) return false;
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  take_bytes(c, {buffer.data(), static_cast<std::size_t>(got)});
  return true;
}

void HttpServer::take_bytes(Connection& c, std::string_view bytes) {
  if (c.phase == Connection::Phase::closing) {
    c.discarded_bytes += bytes.size();
    if (c.discarded_bytes > kDiscardedBytesMax) drop(c);
    return;
  }
  c.next_input.append(bytes);
  if (c.phase == Connection::Phase::reading) return next_request(c);
  if (c.next_input.size() > kPipelinedBytesMax) update_events(c);
}

/// Parses the data of the client up to the end of one request.
void HttpServer::next_request(Connection& c) {
  const bool began = c.parser.began();
  c.next_input.erase(0, c.parser.feed(c.next_input));
  if (c.parser.take_continue()) {
    c.output += "HTTP/1.1 100 Continue\r\n\r\n";
    mark_dirty(c);
  }
  if (!began && c.parser.began()) c.deadline = now_ + limits_.request_time;
  if (c.parser.state() == HttpParser::State::failed) return refuse(c);
  if (c.parser.state() != HttpParser::State::done) return;

  const HttpRequest request = c.parser.take();
  c.phase = Connection::Phase::waiting;
  c.serial = ++serial_;
  c.began = c.ended = false;
  c.chunks = request.chunks;
  c.no_body = request.method == "HEAD";
  c.keep_alive = request.keep_alive && !finishing_;
  c.deadline = Instant::never();
  handler_.on_request(ExchangeId{std::uint64_t{c.serial} << 32 | c.index}, c.listener, request);
}

/// Replies with the error of an invalid request and closes the connection.
void HttpServer::refuse(Connection& c) {
  c.chunks = true;
  c.keep_alive = false;
  const std::string body = fmt::format("{}\n", c.parser.reason());
  head(c, c.parser.status(), "text/plain; charset=utf-8", {{"Content-Length", std::to_string(body.size())}});
  c.output += body;
  c.phase = Connection::Phase::waiting;
  c.serial = ++serial_;  // the refusal has no exchange
  c.ended = true;
  mark_dirty(c);
}

// --- replying ---

HttpServer::Connection* HttpServer::find(ExchangeId exchange) {
  const auto index = static_cast<std::uint32_t>(exchange);
  if (index >= connections_.size() || !connections_[index]) return nullptr;
  Connection& c = *connections_[index];
  const bool is_current = c.phase == Connection::Phase::waiting && !c.ended &&
                          c.serial == static_cast<std::uint32_t>(static_cast<std::uint64_t>(exchange) >> 32);
  return is_current ? &c : nullptr;
}

void HttpServer::head(Connection& c, int status, std::string_view content_type, const std::vector<Header>& headers) {
  c.began = true;
  c.output += fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", status, status_text(status), content_type);
  for (const Header& header : headers) c.output += fmt::format("{}: {}\r\n", header.name, header.value);
  if (!c.keep_alive) c.output += "Connection: close\r\n";
  c.output += "\r\n";
}

void HttpServer::reply(ExchangeId exchange, const HttpReply& reply) {
  Connection* c = find(exchange);
  if (c == nullptr) return;
  CAPSTAN_ASSERT(!c->began);
  std::vector<Header> headers = reply.headers;
  headers.push_back({"Content-Length", std::to_string(reply.body.size())});
  head(*c, reply.status, reply.content_type, headers);
  if (!c->no_body) c->output += reply.body;
  c->ended = true;
  mark_dirty(*c);
}

void HttpServer::begin(ExchangeId exchange, int status, std::string_view content_type) {
  Connection* c = find(exchange);
  if (c == nullptr) return;
  CAPSTAN_ASSERT(!c->began);
  std::vector<Header> headers = {{"Cache-Control", "no-store"}};
  if (c->chunks) headers.push_back({"Transfer-Encoding", "chunked"});
  if (!c->chunks) c->keep_alive = false;  // without chunks the reply ends with the connection
  head(*c, status, content_type, headers);
  mark_dirty(*c);
}

void HttpServer::write(ExchangeId exchange, std::string_view piece) {
  Connection* c = find(exchange);
  if (c == nullptr || piece.empty() || c->no_body) return;
  CAPSTAN_ASSERT(c->began);
  if (c->chunks) fmt::format_to(std::back_inserter(c->output), "{:x}\r\n", piece.size());
  c->output += piece;
  if (c->chunks) c->output += "\r\n";
  mark_dirty(*c);
}

void HttpServer::end(ExchangeId exchange) {
  Connection* c = find(exchange);
  if (c == nullptr) return;
  CAPSTAN_ASSERT(c->began);
  if (c->chunks && !c->no_body) c->output += "0\r\n\r\n";
  c->ended = true;
  mark_dirty(*c);
}

void HttpServer::mark_dirty(Connection& c) {
  if (std::exchange(c.dirty, true)) return;
  dirty_.push_back(c.index);
}

/// Sends all pending output. After a complete reply the next request is parsed and may be answered at once, so this
/// repeats until nothing is pending.
void HttpServer::flush_all() {
  while (!dirty_.empty()) {
    for (const std::uint32_t index : std::exchange(dirty_, {})) {
      Connection* c = connections_[index].get();
      if (c == nullptr || !c->dirty) continue;
      c->dirty = false;
      flush(*c);
    }
  }
}

void HttpServer::flush(Connection& c) {
  const std::size_t before = c.sent;
  while (c.unsent() > 0) {
    const ssize_t sent = send(c.socket.fd(), c.output.data() + c.sent, c.unsent(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) break;
    if (sent < 0) return drop(c);
    c.sent += static_cast<std::size_t>(sent);
  }
  if (c.unsent() > limits_.output_bytes) return drop(c);
  if (c.unsent() > 0) {
    if (c.sent > before || c.deadline.is_never()) c.deadline = now_ + limits_.stalled;
    return update_events(c);
  }
  c.output.clear();
  c.sent = 0;
  if (c.phase == Connection::Phase::waiting) {
    c.deadline = Instant::never();
    if (c.ended) return ended(c);
  }
  update_events(c);
}

/// Handles the end of a reply that was sent completely.
void HttpServer::ended(Connection& c) {
  if (!c.keep_alive) {
    c.phase = Connection::Phase::closing;
    c.next_input = {};
    c.deadline = now_ + kLinger;
    shutdown(c.socket.fd(), SHUT_WR);  // the client must close first: a reset could overtake the reply
    return update_events(c);
  }
  c.phase = Connection::Phase::reading;
  c.deadline = now_ + limits_.idle;
  update_events(c);
  if (!c.next_input.empty()) next_request(c);
}

// --- the life of a connection ---

void HttpServer::update_events(Connection& c) {
  const bool full = c.phase == Connection::Phase::waiting && c.next_input.size() > kPipelinedBytesMax;
  const std::uint32_t events = (full ? 0u : static_cast<std::uint32_t>(EPOLLIN)) | EPOLLRDHUP |
                               (c.unsent() > 0 ? static_cast<std::uint32_t>(EPOLLOUT) : 0u);
  if (events == c.watched) return;
  c.watched = events;
  epoll_event event{.events = events, .data = {.u64 = c.index}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, c.socket.fd(), &event);
}

void HttpServer::drop(Connection& c) {
  const std::uint32_t index = c.index;
  const bool was_waiting = c.phase == Connection::Phase::waiting && !c.ended;
  const ExchangeId exchange{std::uint64_t{c.serial} << 32 | index};
  connections_[index].reset();
  freed_.push_back(index);
  --open_;
  if (!finishing_ && open_ < limits_.connections) pause_accepting(false);
  if (was_waiting) handler_.on_gone(exchange);
}

/// Closes connections whose deadline has passed.
void HttpServer::sweep() {
  next_sweep_ = now_ + kSweepEvery;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (connections_[i] && connections_[i]->deadline <= now_) drop(*connections_[i]);
  }
}

}  // namespace capstan::net
