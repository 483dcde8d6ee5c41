#include "serve/guard.h"

#include <algorithm>

#include "base/ascii.h"
#include "net/http.h"

namespace capstan::serve {
namespace {

/// Returns a host with its port removed: "localhost" for "localhost:7878", "[::1]" for "[::1]:7878". Empty if it is no
/// host.
std::string_view without_port(std::string_view host) {
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == host.npos) return {};
  const std::size_t colon = host.find(':', bracket);
  if (colon == host.npos) return host;
  const bool is_port = host.find_first_not_of("0123456789", colon + 1) == host.npos;
  return is_port ? host.substr(0, colon) : std::string_view();
}

bool known(std::string_view host, const Access& access) {
  const std::string_view name = without_port(host);
  return std::ranges::any_of(access.hosts, [&](const std::string& allowed) { return equal_any_case(allowed, name); });
}

std::string_view value_of(const net::HttpRequest& request, std::string_view name) {
  const std::string* value = net::find_header(request.headers, name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

std::size_t count_of(const net::HttpRequest& request, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count_if(
      request.headers, [&](const net::Header& header) { return equal_any_case(header.name, name); }));
}

/// Returns true if a person opens the page itself in a tab.
bool opens_the_page(const net::HttpRequest& request) {
  return request.method != "POST" && request.path == "/" && value_of(request, "Sec-Fetch-Mode") == "navigate" &&
         value_of(request, "Sec-Fetch-Dest") == "document";
}

bool comes_from_own_page(const net::HttpRequest& request, std::string_view host) {
  const std::string_view site = value_of(request, "Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none" && !opens_the_page(request)) return false;
  if (count_of(request, "Origin") == 0) return true;
  const std::string_view origin = value_of(request, "Origin");
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme) && equal_any_case(origin.substr(scheme.size()), host)) return true;
  }
  return false;
}

}  // namespace

Access Access::for_server(const net::SocketAddress& listens_on, const std::vector<std::string>& further) {
  Access access{.hosts = {"localhost", "127.0.0.1", "[::1]"}};
  const bool is_v6 = listens_on.host.find(':') != std::string::npos;
  access.hosts.push_back(is_v6 ? "[" + listens_on.host + "]" : listens_on.host);
  access.hosts.insert(access.hosts.end(), further.begin(), further.end());
  return access;
}

std::optional<Refusal> refusal(const net::HttpRequest& request, const Access& access) {
  const std::string_view host = value_of(request, "Host");
  if (count_of(request, "Host") != 1 || !known(host, access)) {
    return Refusal{403,
                   "the Host header does not name this server; " + access.host_option + " NAME allows a further name"};
  }
  if (count_of(request, "Origin") > 1 || !comes_from_own_page(request, host)) {
    return Refusal{403, "the request comes from a page of another site"};
  }
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
  if (request.method != "POST") return Refusal{405, "the method is not GET, HEAD or POST"};
  const std::string_view type = value_of(request, "Content-Type");
  if (!equal_any_case(type.substr(0, type.find(';')), "application/json")) {
    return Refusal{415, "the body is not of the type application/json"};
  }
  return std::nullopt;
}

}  // namespace capstan::serve
