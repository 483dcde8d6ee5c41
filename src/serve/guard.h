#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_request.h"
#include "net/socket_address.h"

// The checks that keep other web pages away from a server on this machine.
namespace capstan::serve {

/// The names under which browsers may reach the server.
struct Access {
  std::vector<std::string> hosts;      ///< names and addresses without a port; IPv6 addresses in brackets
  std::string host_option = "--host";  ///< option that adds a further name, for people

  /// Returns the loopback names, the address that the server listens on, and further names that the user states.
  static Access for_server(const net::SocketAddress& listens_on, const std::vector<std::string>& further);
};

struct Refusal {
  int status = 403;
  std::string why;
};

/// Returns why a request is refused, or nothing.
/// - The Host header must name the server. Otherwise a page of another site could read answers after its own name has
///   been pointed to this machine (DNS rebinding).
/// - If a web page sends the request, its Origin and its Sec-Fetch-Site must show that this server's own page sends it.
///   From another site, a browser may only follow a link to the page itself.
/// - A request that starts work has the method POST and a body of the type application/json, which no form can send.
std::optional<Refusal> refusal(const net::HttpRequest& request, const Access& access);

}  // namespace capstan::serve
