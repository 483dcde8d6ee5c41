#include "net/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

namespace capstan::net {
namespace {

/// Returns the shortest form of an IP address, or nothing if it is invalid.
std::optional<std::string> shortest_form(int family, const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_pton(family, host.c_str(), bytes.data()) != 1) return std::nullopt;
  return inet_ntop(family, bytes.data(), text.data(), text.size());
}

}  // namespace

std::string host_and_port(std::string_view host, std::string_view port) {
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string SocketAddress::text() const { return host_and_port(host, fmt::to_string(port)); }

Result<SocketAddress> parse_socket_address(std::string_view text) {
  const auto malformed = [&] {
    return std::unexpected(Error{
        .kind = ErrorKind::usage,
        .file = {},
        .message =
            fmt::format("'{}' is not an address, expected an IP address and a port such as 127.0.0.1:8000", text)});
  };
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0) return malformed();
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size()) return malformed();
  std::string host(text.substr(0, colon));
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const std::optional<std::string> short_host = shortest_form(bracketed ? AF_INET6 : AF_INET, host);
  if (!short_host) return malformed();
  return SocketAddress{*short_host, port};
}

}  // namespace capstan::net
