#include "net/http_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "net/curl_transfer.h"

namespace capstan::net {
namespace {

using namespace std::chrono_literals;

/// A server on loopback. The test decides what every connection sends.
class Server {
 public:
  struct Connection {
    int fd = -1;
    std::string received;
    bool ended = false;  // true if the client closed the connection

    void send(std::string_view bytes) const { EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), 0), std::ssize(bytes)); }
    void hang_up() {
      close(fd);
      fd = -1;
    }
  };

  Server() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd_, 64), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Server() {
    for (Connection& connection : connections) {
      if (connection.fd >= 0) close(connection.fd);
    }
    close(fd_);
  }

  /// Accepts waiting connections and reads the available data.
  void run_once() {
    for (int fd = 0; (fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
      connections.push_back({.fd = fd, .received = {}, .ended = false});
    }
    for (Connection& connection : connections) {
      char bytes[65536];
      for (ssize_t n = 1; connection.fd >= 0 && n > 0;) {
        n = recv(connection.fd, bytes, sizeof bytes, 0);
        if (n > 0) connection.received.append(bytes, static_cast<std::size_t>(n));
        if (n == 0) connection.ended = true;
      }
    }
  }

  std::string url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }

  std::deque<Connection> connections;  // connections in the order of acceptance

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

struct Test : testing::Test {
  Instant time;
  Server server;
  HttpClient client{[this] { return time; }};
  std::optional<Exchange> done;
  std::string streamed;

  Handler collect() {
    return {.on_headers = {}, .on_body = {}, .on_done = [this](Exchange e) { done = std::move(e); }};
  }
  Handler stream() {
    Handler handler = collect();
    handler.on_body = [this](std::string_view bytes) { streamed += bytes; };
    return handler;
  }
  Request get(std::string_view path) {
    Request request;
    request.url = server.url(path);
    return request;
  }

  /// Runs client and server until `condition` is true; fails after many turns.
  template <typename Condition>
  void turn_until(Condition condition) {
    for (int i = 0; i < 5'000 && !condition(); ++i) {
      client.run_once(1ms);
      server.run_once();
    }
    ASSERT_TRUE(condition());
  }
  void turn_until_asked(std::size_t connections, std::size_t requests_each = 1) {
    turn_until([&] {
      const auto has_request = [&](const Server::Connection& connection) {
        std::size_t ends = 0;
        for (std::size_t at = 0; (at = connection.received.find("\r\n\r\n", at)) != std::string::npos; ++at) ++ends;
        return ends >= requests_each;
      };
      return server.connections.size() >= connections && std::ranges::all_of(server.connections, has_request);
    });
  }
  void turn_until_done() {
    turn_until([&] { return done.has_value(); });
  }
};

struct HttpClientTest : Test {};

TEST_F(HttpClientTest, SendsARequestAndReceivesTheResponse) {
  Request request = get("/apis?limit=5");
  request.method = "PATCH";
  request.headers = {{"Content-Type", "application/merge-patch+json"}, {"X-Empty", ""}};
  request.body = "{}";
  client.start(std::move(request), collect());
  EXPECT_EQ(client.in_flight(), 1u);
  turn_until_asked(1);
  const std::string& received = server.connections[0].received;
  EXPECT_TRUE(received.starts_with("PATCH /apis?limit=5 HTTP/1.1\r\n")) << received;
  EXPECT_TRUE(received.contains("\r\nUser-Agent: capstan/")) << received;
  EXPECT_TRUE(received.contains("\r\nContent-Type: application/merge-patch+json\r\n")) << received;
  EXPECT_TRUE(received.contains("\r\nX-Empty:\r\n")) << received;
  EXPECT_FALSE(received.contains("Expect:")) << received;
  EXPECT_TRUE(received.ends_with("\r\n\r\n{}")) << received;

  server.connections[0].send(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 409 Conflict\r\nA: b\r\nContent-Length: 4\r\n\r\nbody");
  turn_until_done();
  EXPECT_TRUE(done->ok());
  EXPECT_TRUE(done->sent);
  EXPECT_EQ(done->response.status, 409);
  EXPECT_EQ(done->response.headers, (std::vector<Header>{{"A", "b"}, {"Content-Length", "4"}}));
  EXPECT_EQ(done->response.body, "body");
  EXPECT_EQ(client.in_flight(), 0u);
}

TEST_F(HttpClientTest, ReportsTheStatusAndThenStreamsPieces) {
  int status = 0;
  Handler handler = stream();
  handler.on_headers = [&](const Response& response) { status = response.status; };
  client.start(get("/watch"), std::move(handler));
  turn_until_asked(1);
  server.connections[0].send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  turn_until([&] { return status == 200; });
  server.connections[0].send("3\r\none\r\n");
  turn_until([&] { return streamed == "one"; });
  EXPECT_FALSE(done);
  server.connections[0].send("3\r\ntwo\r\n0\r\n\r\n");
  turn_until_done();
  EXPECT_EQ(streamed, "onetwo");
  EXPECT_TRUE(done->response.body.empty());
}

TEST_F(HttpClientTest, ReusesConnectionsAndBoundsThemPerHost) {
  HttpClient::Options options;
  options.connections_per_host_max = 2;
  HttpClient bounded([this] { return time; }, options);
  int finished = 0;
  const auto count = [&](Exchange e) { finished += e.ok() ? 1 : 0; };
  for (int i = 0; i < 6; ++i) bounded.start(get("/"), {.on_headers = {}, .on_body = {}, .on_done = count});
  for (int i = 0; i < 5'000 && finished < 6; ++i) {
    bounded.run_once(1ms);
    server.run_once();
    for (Server::Connection& connection : server.connections) {
      if (!connection.received.ends_with("\r\n\r\n")) continue;
      connection.received.clear();
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  }
  EXPECT_EQ(finished, 6);
  EXPECT_EQ(server.connections.size(), 2u);
}

TEST_F(HttpClientTest, CancelInACallbackEndsTheCallbacks) {
  RequestId id = 0;
  int pieces = 0;
  Handler handler = collect();
  handler.on_body = [&](std::string_view) {
    ++pieces;
    client.cancel(id);
    client.cancel(id + 1000);
  };
  id = client.start(get("/"), std::move(handler));
  turn_until_asked(1);
  server.connections[0].send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome");
  turn_until([&] { return server.connections[0].ended; });
  EXPECT_EQ(pieces, 1);
  EXPECT_FALSE(done);
  EXPECT_EQ(client.in_flight(), 0u);
}

TEST_F(HttpClientTest, AHandlerMayStartARequest) {
  Handler first;
  first.on_done = [&](Exchange) { client.start(get("/second"), collect()); };
  client.start(get("/first"), std::move(first));
  turn_until_asked(1);
  server.connections[0].send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  turn_until([&] { return server.connections[0].received.contains("GET /second "); });
  server.connections[0].send("HTTP/1.1 204 No Content\r\n\r\n");
  turn_until_done();
  EXPECT_EQ(done->response.status, 204);
  EXPECT_EQ(server.connections.size(), 1u);
}

TEST_F(HttpClientTest, TimeLimitsUseTheGivenClock) {
  Request request = get("/");
  request.limits = {.connect = 5s, .total = 60s, .idle = 10s, .header_bytes = 1000, .body_bytes = 1000};
  client.start(request, stream());
  turn_until_asked(1);
  time = time + 9s;
  server.connections[0].send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx");
  turn_until([&] { return streamed == "x"; });
  time = time + 9s;
  client.run_once(0ms);
  EXPECT_FALSE(done) << "the last byte came nine seconds ago";
  EXPECT_EQ(client.next_deadline(), Instant{19s});
  time = time + 1s;
  client.run_once(0ms);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->failure, Failure::idle_timeout);
  EXPECT_TRUE(done->sent);
  EXPECT_EQ(done->response.status, 200);

  done.reset();
  request.limits.idle = {};
  client.start(request, collect());
  turn_until([&] { return server.connections.size() == 2 && !server.connections[1].received.empty(); });
  time = time + 60s;
  client.run_once(0ms);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->failure, Failure::total_timeout);
  EXPECT_TRUE(done->message.ends_with("within 60 s")) << done->message;
}

TEST_F(HttpClientTest, BoundsTheWaitForAConnection) {
  HttpClient::Options options;
  options.connections_per_host_max = 1;
  HttpClient bounded([this] { return time; }, options);
  bounded.start(get("/holds-the-connection"), {});
  Request waits = get("/waits");
  waits.limits.idle = 1s;  // this limit is shorter, but counts only after the connection is ready
  bounded.start(std::move(waits), collect());
  bounded.run_once(0ms);
  time = time + 4s;
  bounded.run_once(0ms);
  EXPECT_FALSE(done);
  time = time + 1s;
  bounded.run_once(0ms);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->failure, Failure::connect_timeout);
  EXPECT_FALSE(done->sent);
}

TEST_F(HttpClientTest, ReportsARefusedConnection) {
  Request request;
  {
    const Server gone;
    request.url = gone.url("/");
  }
  client.start(std::move(request), collect());
  turn_until_done();
  EXPECT_EQ(done->failure, Failure::connect);
  EXPECT_FALSE(done->sent);
  EXPECT_TRUE(done->message.starts_with("http://127.0.0.1:")) << done->message;
}

struct Answer {
  const char* teaches;
  std::string_view bytes;
  Failure failure;
  int status;
};

constexpr Answer kBrokenAnswers[] = {
    {"an empty answer", "", Failure::lost, 0},
    {"ends within the header", "HTTP/1.1 200 OK\r\nContent-", Failure::lost, 200},
    {"ends within the body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!", Failure::lost, 200},
    {"ends within a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nx", Failure::lost, 200},
    {"an invalid chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", Failure::lost, 200},
    {"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n", Failure::protocol, 0},
    {"a body above the limit", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n01234567890123456789", Failure::too_large,
     200},
    {"a header above the limit", "HTTP/1.1 200 OK\r\nLong: 01234567890123456789012345678901234567890123456789\r\n\r\n",
     Failure::too_large, 200},
    {"no length: the body is complete when the connection ends", "HTTP/1.1 200 OK\r\n\r\nall of it", Failure::none,
     200},
};

TEST_F(HttpClientTest, ClassifiesBrokenAnswers) {
  for (const Answer& row : kBrokenAnswers) {
    SCOPED_TRACE(row.teaches);
    done.reset();
    server.connections.clear();
    Request request = get("/");
    request.limits.body_bytes = 15;
    request.limits.header_bytes = 60;
    client.start(std::move(request), collect());
    turn_until_asked(1);
    server.connections[0].send(row.bytes);
    server.connections[0].hang_up();
    turn_until_done();
    EXPECT_EQ(done->failure, row.failure) << name_of(done->failure) << " " << done->message;
    EXPECT_EQ(done->response.status, row.status);
    EXPECT_TRUE(done->sent);
    EXPECT_EQ(done->message.empty(), done->ok());
  }
}

TEST_F(HttpClientTest, RefusesInvalidRequestsAndTooMany) {
  const auto refused = [&](Request request) {
    done.reset();
    client.start(std::move(request), collect());
    client.run_once(0ms);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->failure, Failure::refused);
    EXPECT_FALSE(done->sent);
  };
  for (const std::string url :
       {"", "127.0.0.1", "file:///etc/hosts", "http://a b/", "http://a/\r\nHost: b", "http://[::"}) {
    SCOPED_TRACE(url);
    Request request;
    request.url = url;
    refused(std::move(request));
  }
  for (const Header& header :
       std::vector<Header>{{"", "x"}, {"a b", "x"}, {"a", "b\r\nc: d"}, {"a\n", "b"}, {"a:", "b"}}) {
    SCOPED_TRACE(header.name);
    Request request = get("/");
    request.headers = {header};
    refused(std::move(request));
  }
  HttpClient::Options options;
  options.requests_max = 1;
  HttpClient bounded([this] { return time; }, options);
  bounded.start(get("/"), {});
  done.reset();
  bounded.start(get("/"), collect());
  bounded.run_once(0ms);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->failure, Failure::refused);
}

TEST_F(HttpClientTest, PollFdWakesAnotherLoop) {
  client.start(get("/"), collect());
  turn_until_asked(1);
  client.run_once(0ms);
  pollfd wait{.fd = client.poll_fd(), .events = POLLIN, .revents = 0};
  server.connections[0].send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(poll(&wait, 1, 5'000), 1);
  turn_until_done();
  EXPECT_EQ(client.next_deadline(), Instant::never());
}

}  // namespace
}  // namespace capstan::net
