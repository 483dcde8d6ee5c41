#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "net/http.h"

namespace capstan::signals {

/// A network whose answers come from the test.
class FakeTransport : public net::Transport {
 public:
  struct StartedRequest {
    net::Request request;
    net::Handler handler;
  };

  net::RequestId start(net::Request request, net::Handler handler) override {
    started[++last] = {std::move(request), std::move(handler)};
    return last;
  }
  void cancel(net::RequestId id) override {
    started.erase(id);
    ++cancelled;
  }

  void answer(net::RequestId id, int status, std::string body, std::string type = "text/plain; version=0.0.4") {
    net::Exchange exchange;
    exchange.response = {status, {{"Content-Type", std::move(type)}}, std::move(body)};
    finish(id, std::move(exchange));
  }
  void fail(net::RequestId id, net::Failure failure, std::string message) {
    net::Exchange exchange;
    exchange.failure = failure;
    exchange.message = std::move(message);
    finish(id, std::move(exchange));
  }

  std::map<net::RequestId, StartedRequest> started;  ///< requests in flight
  net::RequestId last = 0;
  int cancelled = 0;

 private:
  void finish(net::RequestId id, net::Exchange exchange) {
    auto entry = started.extract(id);
    ASSERT_FALSE(entry.empty());
    entry.mapped().handler.on_done(std::move(exchange));
  }
};

}  // namespace capstan::signals
