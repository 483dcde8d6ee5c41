#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/spec/spec.h"

namespace capstan::plan {

/// Returns the regions of a cloud that Capstan knows; none for a cluster on premises. The list is of 2026, and clouds
/// add regions, so an unknown region is no error.
std::span<const std::string_view> known_regions(Cloud cloud);

/// Returns a warning if a region of a cloud is not known: "us-west-9 is not one of the regions of aws that Capstan
/// knows (did you mean us-west-1?)". Empty if the region is known.
std::string unknown_region_words(Cloud cloud, const std::string& region);

}  // namespace capstan::plan
