#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace capstan::net {

/// An IP address and a port. Names are not resolved.
struct SocketAddress {
  std::string host;  ///< "127.0.0.1", "::1"
  std::uint16_t port = 0;

  std::string text() const;  ///< "127.0.0.1:8000", "[::1]:8000"

  friend auto operator<=>(const SocketAddress&, const SocketAddress&) = default;
};

/// Returns host and port as in a URL: "10.0.0.1:80" or "[fd00::1]:80".
std::string host_and_port(std::string_view host, std::string_view port);

/// Parses an address in the form that `SocketAddress::text()` returns. A host in a longer form gets its shortest form.
/// An error has the kind `usage` and no place.
Result<SocketAddress> parse_socket_address(std::string_view text);

}  // namespace capstan::net
