#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kube/common_views.h"

namespace capstan::kube {

struct ServicePort {
  std::string name;
  std::int64_t port = 0;
  std::string target;  ///< number or name of a container's port; empty: equal to `port`
  friend bool operator==(const ServicePort&, const ServicePort&) = default;
};

struct Service {
  Meta meta;
  StringMap selector;  ///< labels of the selected pods; empty: the Service selects nothing
  std::vector<ServicePort> ports;
  bool headless = false;
  friend bool operator==(const Service&, const Service&) = default;
};

Service read_service(Json object);

/// One address behind a Service.
struct Endpoint {
  std::string address;
  bool ready = true;    ///< an absent condition means ready
  bool serving = true;  ///< answers requests; may be true while terminating
  bool terminating = false;
  std::string pod;  ///< name of the pod in the slice's namespace; empty: not a pod
  std::string node;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct EndpointSlice {
  Meta meta;
  std::string service;  ///< value of the label kubernetes.io/service-name
  std::vector<Endpoint> endpoints;
  std::vector<ServicePort> ports;
  friend bool operator==(const EndpointSlice&, const EndpointSlice&) = default;
};

EndpointSlice read_endpoint_slice(Json object);

}  // namespace capstan::kube
