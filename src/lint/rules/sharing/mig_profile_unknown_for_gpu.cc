#include <fmt/format.h>

#include <algorithm>

#include "lint/mig.h"
#include "lint/mig_configs.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace mig_profile_unknown_for_gpu {
namespace {

void check_entry(const Subject& s, const MigEntry& found) {
  const Value& entry = found.entry;
  const bool filtered = static_cast<bool>(entry["device-filter"]);
  const std::vector<const MigProduct*> products = filtered ? products_for(entry) : std::vector<const MigProduct*>();
  for (const Value& device : entry["mig-devices"].children()) {
    const auto has = [&](const MigProduct& product) { return product.max_of(gpu_instance_of(device.key)).has_value(); };
    if (!filtered) {
      if (std::ranges::any_of(mig_products(), has)) continue;
      s.report_key(device, fmt::format("no known GPU has a profile {}", device.key));
    } else if (!products.empty() &&
               std::ranges::none_of(products, [&](const MigProduct* product) { return has(*product); })) {
      s.report_key(device, fmt::format("{} has no profile {}", products.front()->product, device.key));
    }
  }
}

void check(const Subject& s) {
  for_each_mig_entry(s, [&](const MigEntry& found) { check_entry(s, found); });
}

}  // namespace
}  // namespace mig_profile_unknown_for_gpu

extern const Rule rule_mig_profile_unknown_for_gpu;
const Rule rule_mig_profile_unknown_for_gpu = {
    .id = "mig-profile-unknown-for-gpu",
    .severity = Severity::error,
    .kinds = "ConfigMap",
    .title = "the GPU has no such MIG profile",
    .why =
        "The size in a profile's name depends on the GPU: 1g.10gb of an H100 is 1g.18gb of an H200. mig-manager "
        "refuses a name that the GPU does not have, and the node keeps its geometry.",
    .fix = "use a profile of this GPU",
    .source = "NVIDIA MIG user guide",
    .bad = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: mig}
data:
  config.yaml: |
    version: v1
    mig-configs:
      all:
        - devices: all
          device-filter: "0x233510DE"
          mig-enabled: true
          mig-devices: {"1g.10gb": 7}
)",
    .good = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: mig}
data:
  config.yaml: |
    version: v1
    mig-configs:
      all:
        - devices: all
          device-filter: "0x233510DE"
          mig-enabled: true
          mig-devices: {"1g.18gb": 7}
)",
    .check = mig_profile_unknown_for_gpu::check,
};

}  // namespace capstan::lint
