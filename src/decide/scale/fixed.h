#pragma once

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::decide::scale {

/// A constant number of replicas, whatever the load; clamped to the service's bounds.
struct Fixed {
  ReplicaCount replicas = 1;
  Duration period = std::chrono::seconds(15);
  friend bool operator==(const Fixed&, const Fixed&) = default;
};

}  // namespace capstan::decide::scale
