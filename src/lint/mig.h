#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/facts.h"
#include "manifest/document.h"

namespace capstan::lint {

/// The number of instances of each profile on one GPU.
struct MigGeometry {
  struct Part {
    std::string_view profile;
    std::int64_t count = 0;
  };
  std::vector<Part> parts;
};

/// Returns true if the profiles fit on the GPU. The function searches for a placement, because each profile may start
/// only at certain memory slots: for two instances of 2g and four of 1g there is enough memory, but no slot for the
/// fourth 1g.
bool fits(const MigProduct& product, const MigGeometry& geometry);

/// Removes instances, smallest profiles first, until the geometry fits. Returns the rest in words: "2 of 2g.20gb and 3
/// of 1g.10gb".
std::string nearest_geometry(const MigProduct& product, const MigGeometry& geometry);

/// Returns the products that an entry of mig-configs applies to: the products in its device-filter, or without a filter
/// all products with these profiles.
std::vector<const MigProduct*> products_for(const manifest::Value& entry);

/// Returns the GPU instance that a compute instance is a part of: "3g.71gb" for "1c.3g.71gb". Returns any other profile
/// unchanged.
std::string_view gpu_instance_of(std::string_view profile);

/// Returns the profiles of an entry of mig-configs and their counts. Returns an empty geometry if the entry has compute
/// instances, because several of them share one GPU instance.
MigGeometry geometry_of(const manifest::Value& entry);

}  // namespace capstan::lint
