#pragma once

// A client of the fake server, with all its parts, in simulated time.

#include <memory>
#include <string>

#include "fake_server.h"
#include "kube/client.h"

namespace capstan::kube::fake {

inline Config config_with_token(std::string token) {
  Config config;
  config.server = "https://fake";
  config.token = std::move(token);
  return config;
}

inline Result<std::string> no_file(const std::string& path) {
  Error error;
  error.file = path;
  error.message = "cannot be read";
  return std::unexpected(error);
}

struct Bench {
  explicit Bench(std::uint64_t seed, Config config = config_with_token("token"), ReadFile read_file = no_file)
      : server(seed),
        credentials(std::move(config), std::move(read_file), nullptr, [] { return WallTime{1}; }),
        client(server, credentials, server.clock(), RandomStream(seed, "client"), Client::Options()) {}

  FakeServer server;
  Credentials credentials;
  Client client;
  JsonDocument document;
};

}  // namespace capstan::kube::fake
