#include "kube/network_views.h"

namespace capstan::kube {
namespace {

std::vector<ServicePort> read_ports(Json list) {
  std::vector<ServicePort> ports;
  list.for_each([&](Json item) {
    ports.push_back({item["name"].string(), item["port"].integer(), item["targetPort"].scalar()});
  });
  return ports;
}

}  // namespace

Service read_service(Json object) {
  const Json spec = object["spec"];
  return {.meta = read_meta(object),
          .selector = read_string_map(spec["selector"]),
          .ports = read_ports(spec["ports"]),
          .headless = spec["clusterIP"].text() == "None"};
}

EndpointSlice read_endpoint_slice(Json object) {
  EndpointSlice slice;
  slice.meta = read_meta(object);
  slice.service = slice.meta.labels.get("kubernetes.io/service-name");
  slice.ports = read_ports(object["ports"]);
  object["endpoints"].for_each([&](Json item) {
    const Json conditions = item["conditions"];
    const Json target = item["targetRef"];
    const bool ready = conditions["ready"].boolean(true);
    Endpoint endpoint{.address = {},
                      .ready = ready,
                      .serving = conditions["serving"].boolean(ready),
                      .terminating = conditions["terminating"].boolean(),
                      .pod = target["kind"].text() == "Pod" ? target["name"].string() : std::string(),
                      .node = item["nodeName"].string()};
    // The addresses of an endpoint are interchangeable, so the first one is enough: https://issue.k8s.io/106267
    item["addresses"].for_each([&](Json address) {
      if (endpoint.address.empty()) endpoint.address = address.text();
    });
    slice.endpoints.push_back(std::move(endpoint));
  });
  return slice;
}

}  // namespace capstan::kube
