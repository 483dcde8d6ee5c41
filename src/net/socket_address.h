#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace capstan::net {

/// A numeric address and a port: nothing is looked up.
struct SocketAddress {
  std::string host;  ///< "127.0.0.1", "::1"
  std::uint16_t port = 0;

  std::string text() const;  ///< "127.0.0.1:8000", "[::1]:8000"

  friend auto operator<=>(const SocketAddress&, const SocketAddress&) = default;
};

/// A host and a port as they stand in a URL: "10.0.0.1:80", "[fd00::1]:80".
std::string host_and_port(std::string_view host, std::string_view port);

/// Reads what `text` writes; hosts come out in their shortest form. Error (usage): what is wrong, without a place.
Result<SocketAddress> parse_socket_address(std::string_view text);

}  // namespace capstan::net
