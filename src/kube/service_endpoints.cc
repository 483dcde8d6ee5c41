#include "kube/service_endpoints.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "net/socket_address.h"

namespace capstan::kube {
namespace {

Error wrong_port(const ServiceName& service, const EndpointSlice& slice) {
  std::string offered;
  for (const ServicePort& port : slice.ports) {
    offered +=
        fmt::format("{}{}", offered.empty() ? "" : ", ",
                    port.name.empty() ? fmt::to_string(port.port) : fmt::format("{} ({})", port.name, port.port));
  }
  const std::string what = service.port.empty() ? "no port is named" : fmt::format("it has no port '{}'", service.port);
  return {ErrorKind::input, fmt::format("service {}/{}", service.ns, service.name), 0, 0,
          offered.empty() ? what + "; the Service has no ports" : fmt::format("{}, expected one of {}", what, offered)};
}

/// Returns the wanted port of a slice, or null. A name may have different numbers in the slices of one Service.
const ServicePort* find_port(const EndpointSlice& slice, const std::string& wanted) {
  if (wanted.empty()) return slice.ports.size() == 1 ? &slice.ports.front() : nullptr;
  for (const ServicePort& port : slice.ports) {
    if (port.name == wanted || fmt::to_string(port.port) == wanted) return &port;
  }
  return nullptr;
}

}  // namespace

Result<ServiceName> parse_service_name(const std::string& text) {
  ServiceName service;
  std::string rest = text;
  if (const std::size_t colon = rest.rfind(':'); colon != std::string::npos) {
    service.port = rest.substr(colon + 1);
    rest.erase(colon);
    if (service.port.empty()) rest.clear();
  }
  if (const std::size_t slash = rest.find('/'); slash != std::string::npos) {
    service.ns = rest.substr(0, slash);
    rest.erase(0, slash + 1);
    if (service.ns.empty()) rest.clear();
  }
  if (rest.empty() || rest.find_first_of("/: ") != std::string::npos) {
    return std::unexpected(
        Error{ErrorKind::usage,
              {},
              0,
              0,
              fmt::format("'{}' is not the name of a Service, expected [NAMESPACE/]NAME[:PORT]", text)});
  }
  service.name = rest;
  return service;
}

Result<std::vector<std::string>> ready_urls(const StoreSnapshot<EndpointSlice>& slices, const ServiceName& service) {
  std::set<std::string> urls;
  std::optional<Error> error;
  slices.for_each([&](RowId, const EndpointSlice& slice) {
    if (slice.meta.ns != service.ns || slice.service != service.name || slice.endpoints.empty()) return;
    const ServicePort* port = find_port(slice, service.port);
    if (port == nullptr) {
      if (!error) error = wrong_port(service, slice);
      return;
    }
    for (const Endpoint& endpoint : slice.endpoints) {
      if (!endpoint.ready || endpoint.address.empty()) continue;
      urls.insert("http://" + net::host_and_port(endpoint.address, fmt::to_string(port->port)));
    }
  });
  if (error) return std::unexpected(*error);
  return std::vector<std::string>(urls.begin(), urls.end());
}

ServiceEndpoints::ServiceEndpoints(Client& client, ServiceName service, RandomStream random, net::Clock clock)
    : service_(std::move(service)),
      slices_(read_endpoint_slice),
      watcher_(client, document_, {resources::kEndpointSlices, service_.ns}, slices_, {}, std::move(random),
               std::move(clock)) {}

std::string ServiceEndpoints::sync_problem() const {
  const Reflector& reflector = watcher_.reflector();
  return reflector.failures() > 0 ? reflector.last_error().text() : "the API server has not answered yet";
}

Result<std::optional<std::vector<std::string>>> ServiceEndpoints::take_change() {
  const StoreSnapshot<EndpointSlice>& now = slices_.snapshot();
  if (!now.synced || now.version == seen_version_) return std::optional<std::vector<std::string>>();
  seen_version_ = now.version;
  Result<std::vector<std::string>> urls = ready_urls(now, service_);
  if (!urls) return std::unexpected(urls.error());
  if (*urls == urls_) return std::optional<std::vector<std::string>>();
  urls_ = *urls;
  return std::optional(std::move(*urls));
}

}  // namespace capstan::kube
