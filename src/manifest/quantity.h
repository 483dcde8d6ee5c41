#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace capstan::manifest {

/// Parses a Kubernetes quantity ("8", "500m", "1.5Gi", "2e3") into thousandths, rounded up as Kubernetes does. A value
/// that does not fit into 64 bits becomes the nearest one that does. Returns nothing if the text is not a quantity.
/// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
std::optional<std::int64_t> read_quantity_milli(std::string_view text);

}  // namespace capstan::manifest
