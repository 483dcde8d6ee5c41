#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace capstan::manifest {

/// A Kubernetes quantity ("8", "500m", "1.5Gi", "2e3") in thousandths, rounded up as Kubernetes does; what does not fit
/// 64 bits becomes the nearest that does. Nothing where the text is no quantity.
/// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
std::optional<std::int64_t> read_quantity_milli(std::string_view text);

}  // namespace capstan::manifest
