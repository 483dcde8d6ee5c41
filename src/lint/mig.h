#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/facts.h"
#include "manifest/document.h"

namespace capstan::lint {

/// How many of each profile one GPU is divided into.
struct MigGeometry {
  struct Part {
    std::string_view profile;
    std::int64_t count = 0;
  };
  std::vector<Part> parts;
};

/// Is a product's memory axis long enough, in the places where each profile may stand? Searched, not summed up: two
/// 2g and four 1g have memory enough, and no place for the fourth 1g.
bool fits(const MigProduct& product, const MigGeometry& geometry);

/// The profiles in which fewer would fit: the largest geometry below this one, "2 of 2g.20gb and 3 of 1g.10gb".
std::string nearest_geometry(const MigProduct& product, const MigGeometry& geometry);

/// The products that an entry of mig-configs is for: by its device-filter, else all that know every profile of it.
std::vector<const MigProduct*> products_for(const manifest::Value& entry);

/// The GPU instance that a compute instance is a part of: "3g.71gb" of "1c.3g.71gb"; any other profile as it is.
std::string_view gpu_instance_of(std::string_view profile);

/// The profiles of an entry of mig-configs; none where some are compute instances, which share what they are parts of.
MigGeometry geometry_of(const manifest::Value& entry);

}  // namespace capstan::lint
