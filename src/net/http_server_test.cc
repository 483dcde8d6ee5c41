#include "net/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace capstan::net {
namespace {

using namespace std::chrono_literals;

/// A client that sends and receives plain bytes.
class Client {
 public:
  explicit Client(const SocketAddress& to) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(to.port), .sin_addr = {}, .sin_zero = {}};
    inet_pton(AF_INET, to.host.c_str(), &address.sin_addr);
    connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);  // the connection is made in the background
  }
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes) {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
  }
  std::string receive() {
    std::string all;
    std::array<char, 65536> buffer;
    for (;;) {
      const ssize_t size = recv(fd_, buffer.data(), buffer.size(), 0);
      if (size == 0) closed_ = true;
      if (size < 0 && (errno == ECONNRESET || errno == ECONNREFUSED)) closed_ = true;
      if (size <= 0) return all;
      all.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }
  bool closed() { return receive(), closed_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
  bool closed_ = false;
};

/// Answers every request with "path?query body", or keeps the exchange open for the test.
class Fixture : public testing::Test, public HttpHandler {
 public:
  void on_request(ExchangeId exchange, ListenerId listener, const HttpRequest& request) override {
    exchanges.push_back(exchange);
    listeners.push_back(listener);
    if (request.path == "/hold") return;
    if (request.path == "/stream") return server->begin(exchange, 200, "text/event-stream");
    const std::string body = request.path + "?" + request.query + " " + request.body;
    server->reply(exchange, {.content_type = "text/plain", .body = body});
  }
  void on_gone(ExchangeId exchange) override { gone.push_back(exchange); }

 protected:
  void start(const HttpServerLimits& limits = {}) {
    server = std::make_unique<HttpServer>([this] { return now; }, limits, *this);
    const Result<ListenerId> listener = server->listen({"127.0.0.1", 0});
    ASSERT_TRUE(listener.has_value()) << listener.error().text();
    at = server->address(*listener);
    listener_id = *listener;
  }
  /// Runs the server until nothing happens. Loopback delivers bytes before send() returns, so nothing is in flight
  /// then.
  void run() {
    while (server->run_once({})) {
    }
    server->run_once({});
  }
  /// Sends bytes and returns what the server sends back.
  std::string ask(Client& client, std::string_view bytes) {
    client.send(bytes);
    run();
    return client.receive();
  }

  std::unique_ptr<HttpServer> server;
  SocketAddress at;
  ListenerId listener_id;
  Instant now{};
  std::vector<ExchangeId> exchanges;
  std::vector<ListenerId> listeners;
  std::vector<ExchangeId> gone;
};
using HttpServerTest = Fixture;

constexpr std::string_view kGet = "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr std::string_view kHold = "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr std::string_view kStream = "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr std::string_view kReply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n/a?b ";

TEST_F(HttpServerTest, AnswersSeveralRequestsOnOneConnection) {
  start();
  Client client(at);
  EXPECT_EQ(ask(client, kGet), kReply);
  EXPECT_EQ(ask(client, kGet), kReply);
  EXPECT_EQ(ask(client, "HEAD /a?b HTTP/1.1\r\nHost: x\r\n\r\n"), kReply.substr(0, kReply.size() - 5));
  EXPECT_EQ(ask(client, "PUT /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\n/a?b hi");
  EXPECT_FALSE(client.closed());
  EXPECT_EQ(ask(client, "GET /a?b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\n/a?b ");
  EXPECT_TRUE(client.closed());
  client.close();
  run();
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_TRUE(gone.empty());
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  start();
  Client client(at);
  const std::string three = std::string(kGet) + std::string(kHold) + std::string(kGet);
  EXPECT_EQ(ask(client, three), kReply);
  ASSERT_EQ(exchanges.size(), 2u);
  server->reply(exchanges[1], {.status = 503, .content_type = "text/plain", .body = "no"});
  run();
  EXPECT_EQ(client.receive(),
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno" +
                std::string(kReply));
}

TEST_F(HttpServerTest, StreamsInChunks) {
  start();
  Client client(at);
  EXPECT_EQ(ask(client, kStream),
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
            "Transfer-Encoding: chunked\r\n\r\n");
  server->write(exchanges[0], "data: 1\n\n");
  run();
  EXPECT_EQ(client.receive(), "9\r\ndata: 1\n\n\r\n");
  server->write(exchanges[0], "a");
  server->write(exchanges[0], "0123456789abcdef");
  server->end(exchanges[0]);
  server->write(exchanges[0], "late");
  run();
  EXPECT_EQ(client.receive(), "1\r\na\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n");
  EXPECT_EQ(ask(client, kGet), kReply);
}

TEST_F(HttpServerTest, StreamsToAnOldClientUntilTheConnectionEnds) {
  start();
  Client client(at);
  EXPECT_EQ(
      ask(client, "GET /stream HTTP/1.0\r\n\r\n"),
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n");
  server->write(exchanges[0], "abc");
  server->end(exchanges[0]);
  run();
  EXPECT_EQ(client.receive(), "abc");
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpServerTest, NoticesThatAClientLeft) {
  start();
  for (const std::string_view request : {kHold, kStream}) {
    Client client(at);
    ask(client, request);
    client.close();
    run();
    ASSERT_EQ(gone.size(), exchanges.size());
    EXPECT_EQ(gone.back(), exchanges.back());
    server->write(exchanges.back(), "late");  // has no effect
    server->end(exchanges.back());
    server->reply(exchanges.back(), {});
  }
  EXPECT_EQ(server->connections(), 0u);
}

TEST_F(HttpServerTest, NoticesThatAClientLeftAfterMoreData) {
  start();
  Client client(at);
  ask(client, std::string(kHold) + std::string(100'000, 'x'));
  EXPECT_TRUE(gone.empty());
  client.close();
  run();
  EXPECT_EQ(gone, exchanges);
}

TEST_F(HttpServerTest, RefusesAnInvalidRequestAndCloses) {
  start();
  Client client(at);
  EXPECT_EQ(ask(client, "GET / HTTP/1.1\r\n\r\n"),
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 25\r\n"
            "Connection: close\r\n\r\nexpected one Host header\n");
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(exchanges.empty());
}

TEST_F(HttpServerTest, SendsContinueToAClientThatWaits) {
  start();
  Client client(at);
  EXPECT_EQ(ask(client, "PUT /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(ask(client, "hi").ends_with("/a?b hi"));
}

TEST_F(HttpServerTest, ClosesIdleAndSlowConnections) {
  HttpServerLimits limits;
  limits.idle = 10s;
  limits.request_time = 5s;
  struct Row {
    std::string_view sends;
    Duration alive;
    Duration dead;
  };
  for (const Row& row : {Row{"", 9s, 12s}, Row{"GET / HT", 4s, 7s}, Row{kGet, 9s, 12s}, Row{kHold, 1000s, 1000s}}) {
    now = {};
    start(limits);
    Client client(at);
    ask(client, row.sends);
    now = Instant{row.alive};
    run();
    EXPECT_FALSE(client.closed()) << row.sends;
    now = Instant{row.dead};
    run();
    run();
    EXPECT_EQ(client.closed(), row.dead != row.alive) << row.sends;
  }
}

TEST_F(HttpServerTest, DisconnectsAClientThatReadsNothing) {
  HttpServerLimits limits;
  limits.output_bytes = 1'000'000;
  start(limits);
  Client client(at);
  ask(client, kStream);
  const std::string piece(100'000, 'x');
  for (int i = 0; i < 200 && gone.empty(); ++i) {
    server->write(exchanges[0], piece);
    run();
  }
  EXPECT_EQ(gone, exchanges);

  Client slow(at);
  ask(slow, kStream);
  for (int i = 0; i < 20 && server->connections() > 0; ++i) server->write(exchanges[1], piece.substr(0, 40'000));
  run();
  ASSERT_EQ(gone.size(), 1u);
  const std::string first = slow.receive();  // the client reads again and gets the rest
  run();
  EXPECT_GE(first.size() + slow.receive().size(), 800'000u);
  EXPECT_EQ(gone.size(), 1u);
}

TEST_F(HttpServerTest, BoundsTheNumberOfConnections) {
  HttpServerLimits limits;
  limits.connections = 2;
  start(limits);
  Client first(at);
  Client second(at);
  EXPECT_EQ(ask(first, kGet), kReply);
  EXPECT_EQ(ask(second, kGet), kReply);
  Client third(at);
  EXPECT_EQ(ask(third, kGet), "");
  EXPECT_EQ(server->connections(), 2u);
  first.close();
  run();
  EXPECT_EQ(third.receive(), kReply);
}

TEST_F(HttpServerTest, OpensAndClosesAddresses) {
  start();
  const Result<ListenerId> other = server->listen({"127.0.0.2", at.port});
  ASSERT_TRUE(other.has_value()) << other.error().text();
  Client client(server->address(*other));
  EXPECT_EQ(ask(client, kGet), kReply);
  EXPECT_EQ(listeners, std::vector{*other});
  Client waiting(server->address(*other));
  ask(waiting, kHold);

  server->close(*other, HttpServer::Connections::cut);
  EXPECT_EQ(gone.size(), 1u);
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(waiting.closed());
  Client refused({"127.0.0.2", at.port});
  EXPECT_TRUE(refused.closed());
  Client still(at);
  EXPECT_EQ(ask(still, kGet), kReply);

  const Result<ListenerId> again = server->listen({"127.0.0.2", at.port});
  EXPECT_TRUE(again.has_value());
}

TEST_F(HttpServerTest, RefusesConnectionsUntilAnAddressIsOpened) {
  start();
  const Result<ListenerId> bound = server->bind({"127.0.0.3", 0});
  ASSERT_TRUE(bound.has_value());
  Client early(server->address(*bound));
  EXPECT_TRUE(early.closed());
  ASSERT_TRUE(server->open(*bound).has_value());
  Client client(server->address(*bound));
  EXPECT_EQ(ask(client, kGet), kReply);
}

TEST_F(HttpServerTest, ReportsAnAddressInUse) {
  start();
  const Result<ListenerId> twice = server->listen(at);
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().text(), at.text() +
                                      ": cannot listen on this address: Address already in use, expected a free "
                                      "address of this machine");
}

TEST_F(HttpServerTest, FinishesOpenReplies) {
  start();
  Client idle(at);
  ask(idle, kGet);
  Client busy(at);
  ask(busy, kStream);
  server->finish();
  run();
  EXPECT_TRUE(idle.closed());
  server->write(exchanges[1], "last");
  server->end(exchanges[1]);
  run();
  EXPECT_TRUE(busy.receive().ends_with("4\r\nlast\r\n0\r\n\r\n"));
  EXPECT_TRUE(busy.closed());
  busy.close();
  run();
  EXPECT_EQ(server->connections(), 0u);
}

}  // namespace
}  // namespace capstan::net
