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

/// Reads what `text` writes; hosts come out in their shortest form. Error (usage): what is wrong, without a place.
Result<SocketAddress> parse_socket_address(std::string_view text);

}  // namespace capstan::net
