#include "emulator/addresses.h"

#include <arpa/inet.h>
#include <fmt/format.h>

namespace capstan::emulator {
namespace {

std::uint32_t to_number(const std::string& host) {
  in_addr address{};
  inet_pton(AF_INET, host.c_str(), &address);
  return ntohl(address.s_addr);
}

std::string to_host(std::uint32_t number) {
  return fmt::format("{}.{}.{}.{}", number >> 24, number >> 16 & 255, number >> 8 & 255, number & 255);
}

}  // namespace

Result<std::vector<net::SocketAddress>> parse_addresses(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::size_t colon = text.rfind(':');
  if (dash == text.npos || colon == text.npos || colon < dash) {
    const Result<net::SocketAddress> one = net::parse_socket_address(text);
    if (!one) return std::unexpected(one.error());
    return std::vector{*one};
  }
  const Result<net::SocketAddress> first =
      net::parse_socket_address(std::string(text.substr(0, dash)) + std::string(text.substr(colon)));
  const Result<net::SocketAddress> last = net::parse_socket_address(text.substr(dash + 1));
  if (!first) return std::unexpected(first.error());
  if (!last) return std::unexpected(last.error());
  const std::uint32_t low = to_number(first->host);
  const std::uint32_t high = to_number(last->host);
  const bool v6 = first->host.find(':') != first->host.npos || last->host.find(':') != last->host.npos;
  if (v6 || low > high || high - low >= kMaxAddresses) {
    return std::unexpected(
        Error{.kind = ErrorKind::usage,
              .file = {},
              .message = fmt::format("'{}' is not a range, expected two IPv4 addresses, the lower one "
                                     "first, with at most {} addresses in total",
                                     text, kMaxAddresses)});
  }
  std::vector<net::SocketAddress> addresses;
  for (std::uint32_t i = 0; i <= high - low; ++i) addresses.push_back({to_host(low + i), first->port});
  return addresses;
}

}  // namespace capstan::emulator
