#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kube/common_views.h"

namespace capstan::kube {

struct ServicePort {
  std::string name;
  std::int64_t port = 0;
  std::string target;  ///< a number or the name of a container's port; empty: the same as `port`
  friend bool operator==(const ServicePort&, const ServicePort&) = default;
};

struct Service {
  Meta meta;
  StringMap selector;  ///< empty: it selects nothing by itself
  std::vector<ServicePort> ports;
  bool headless = false;
  friend bool operator==(const Service&, const Service&) = default;
};

Service read_service(Json object);

/// One address behind a Service.
struct Endpoint {
  std::string address;
  bool ready = true;    ///< absent means ready
  bool serving = true;  ///< still answers, although it may be terminating
  bool terminating = false;
  std::string pod;  ///< its name, in the slice's namespace; empty where it is no pod
  std::string node;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct EndpointSlice {
  Meta meta;
  std::string service;  ///< the label kubernetes.io/service-name
  std::vector<Endpoint> endpoints;
  std::vector<ServicePort> ports;
  friend bool operator==(const EndpointSlice&, const EndpointSlice&) = default;
};

EndpointSlice read_endpoint_slice(Json object);

}  // namespace capstan::kube
