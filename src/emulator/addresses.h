#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/socket_address.h"

namespace capstan::emulator {

inline constexpr std::size_t kMaxAddresses = 65'536;

/// Parses an address such as "127.0.0.1:8000", or a range of IPv4 addresses with one port such as
/// "127.16.0.1-127.16.0.200:8000", both ends included. An error has the kind `usage`, and no file or line.
Result<std::vector<net::SocketAddress>> parse_addresses(std::string_view text);

}  // namespace capstan::emulator
