#include <fmt/format.h>

#include <algorithm>

#include "lint/mig.h"
#include "lint/mig_configs.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace mig_geometry_invalid {
namespace {

void check_entry(const Subject& s, const MigEntry& found) {
  const auto& [config, entry] = found;
  const MigGeometry geometry = geometry_of(entry);
  const std::vector<const MigProduct*> products = products_for(entry);
  if (geometry.parts.empty() || products.empty()) return;
  if (std::ranges::any_of(products, [&](const MigProduct* product) { return fits(*product, geometry); })) return;
  // Another rule reports profiles that no product has.
  const auto has_all_profiles = [&](const MigProduct* product) {
    return std::ranges::all_of(geometry.parts,
                               [&](const auto& part) { return product->max_of(part.profile).has_value(); });
  };
  const auto product = std::ranges::find_if(products, has_all_profiles);
  if (product == products.end()) return;
  const Value& last = entry["mig-devices"].children().back();
  s.report(last, fmt::format("{} cannot be divided as in {}; the nearest geometry that fits is {}", (*product)->product,
                             config.key, nearest_geometry(**product, geometry)));
}

void check(const Subject& s) {
  for_each_mig_entry(s, [&](const MigEntry& found) { check_entry(s, found); });
}

}  // namespace
}  // namespace mig_geometry_invalid

extern const Rule rule_mig_geometry_invalid;
const Rule rule_mig_geometry_invalid = {
    .id = "mig-geometry-invalid",
    .severity = Severity::error,
    .kinds = "ConfigMap",
    .title = "a GPU cannot be divided in this way",
    .why =
        "Profiles have fixed places in the GPU's memory. A profile without a place is refused, and the node keeps its "
        "old geometry with mig.config.state failed.",
    .fix = "use the nearest geometry that fits; the message names it",
    .source = "nvidia-smi mig -lgipp; NVIDIA MIG user guide",
    .bad = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: mig}
data:
  config.yaml: |
    version: v1
    mig-configs:
      mixed:
        - devices: all
          mig-enabled: true
          mig-devices:
            "2g.20gb": 2
            "1g.10gb": 4
)",
    .good = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: mig}
data:
  config.yaml: |
    version: v1
    mig-configs:
      mixed:
        - devices: all
          mig-enabled: true
          mig-devices:
            "2g.20gb": 2
            "1g.10gb": 3
)",
    .check = mig_geometry_invalid::check,
};

}  // namespace capstan::lint
